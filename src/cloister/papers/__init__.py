"""The five papers, reproduced: what they print, what their algorithms as printed give and leak, and what the sound form gives.

What is printed is never private: it sees rows through the holder's door (`holder_rows`), its results are stamped `Claimed`
(`printed_result`), no ledger takes it for a release, and no command but ``cloister reproduce`` reaches it. One folder a paper:
its printed forms, its items (what is run and compared), and the attacks on what it claims. `numbered_papers` lists them.
"""
