"""Paper 000: differential identifiability clustering (Shang et al. 2021)."""
