"""``cloister`` and ``python -m cloister``: the command line.

Loading it takes a fifth of a second, in which Ctrl-C should not show a traceback: signals are handled before.
"""

import sys

from cloister.interrupts import handle_interrupts, ignore_interrupts


def main() -> None:
    """Run a command."""
    handle_interrupts()
    try:
        from cloister.cli import main as run_command

        run_command()
    except KeyboardInterrupt as error:
        sys.stderr.write("Stopped.\n")
        sys.exit(getattr(error, "exit_code", 130))
    finally:
        ignore_interrupts()


if __name__ == "__main__":
    main()
