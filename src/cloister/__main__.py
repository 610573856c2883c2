"""``cloister`` and ``python -m cloister``: the command line.

Loading it takes a fifth of a second, in which Ctrl-C should not show a traceback: signals are handled before, and while the
few modules that do so are loaded it is caught.
"""

import json
import sys

try:
    from cloister.interrupts import handle_interrupts, ignore_interrupts
    from cloister.stopped_commands import charge_dicts, describe_stop
except KeyboardInterrupt:
    sys.stderr.write("Stopped. Nothing was charged, and nothing half-written is left.\n")
    sys.exit(130)


def main() -> None:
    """Run a command."""
    try:
        handle_interrupts()
        from cloister.cli import main as run_command

        run_command()
    except KeyboardInterrupt as error:
        ignore_interrupts()
        code, sentence = getattr(error, "exit_code", 130), describe_stop(error)
        printing = sys.modules.get("cloister.cli.verbosity")
        if "--json" in sys.argv and (printing is None or printing.note_answer()):  # no command told it
            facts = {"type": "Interrupted", "message": sentence, "exit_code": code}
            print(json.dumps({"error": {**facts, "charged": next(reversed(charge_dicts()), None), "notes": []}}, indent=2))
        sys.stderr.write(f"{sentence}\n")
        sys.exit(code)
    finally:
        ignore_interrupts()


if __name__ == "__main__":
    main()
