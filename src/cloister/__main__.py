"""``cloister`` and ``python -m cloister``: the command line.

Loading it takes a fifth of a second, in which Ctrl-C should not show a traceback: signals are handled before, and while the
few modules that do so are loaded it is caught.
"""

import sys

try:
    from cloister.interrupts import handle_interrupts, ignore_interrupts
    from cloister.stopped_commands import describe_stop
except KeyboardInterrupt:
    sys.stderr.write("Stopped. Nothing was charged, and nothing half-written is left.\n")
    sys.exit(130)


def main() -> None:
    """Run a command."""
    handle_interrupts()
    try:
        from cloister.cli import main as run_command

        run_command()
    except KeyboardInterrupt as error:
        ignore_interrupts()
        sys.stderr.write(f"{describe_stop(error)}\n")
        sys.exit(getattr(error, "exit_code", 130))
    finally:
        ignore_interrupts()


if __name__ == "__main__":
    main()
