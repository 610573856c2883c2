"""``python -m cloister`` is the command line."""

from cloister.cli import main

main()
