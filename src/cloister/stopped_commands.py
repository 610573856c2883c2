"""What a command says that is stopped in the middle: what it has charged so far, and that nothing half-written is left.

An error knows of a charge only if it came through the vault. A signal may come at any other time, so what the running command
does to a ledger is remembered here. Outside commands nothing is.
"""

from __future__ import annotations

from typing import Any

from cloister.errors import Charge

__all__ = [
    "ChargeNote",
    "begin_command",
    "charge_dicts",
    "charges_made",
    "describe_charges",
    "describe_stop",
    "remember_charge",
    "remember_result",
    "remember_use",
]

_charges: list[Charge] | None = None  # of the running command; None: no command runs
_uses: list[str] = []
_results: list[str] = []


class ChargeNote(str):
    """A note of an error that says itself what was charged, and how to get the result: nobody need say it again.

    It is known by its type. A note may hold names of files, which may be called anything.
    """

    __slots__ = ()


def begin_command() -> None:
    """Forget what the command before this one did."""
    global _charges
    _charges = []
    _uses.clear()
    _results.clear()


def remember_charge(charge: Charge) -> None:
    """Note what the running command has charged."""
    if _charges is not None:
        _charges.append(charge)


def charge_dicts() -> list[dict[str, Any]]:
    """What the running command has charged, for a program."""
    return [{"amount": charge.amount, "table": charge.table, "entry": charge.entry} for charge in _charges or ()]


def _charge_sentences() -> list[str]:
    return [str(charge) for charge in _charges or ()]


def remember_use(table: str, entry: int) -> None:
    """Note that the running command has written a holder's use into a ledger."""
    if _charges is not None:
        _uses.append(f'Entry {entry} of table "{table}" stays in the ledger: its rows may have been read.')


def remember_result(sentence: str) -> None:
    """Note what the running command has written."""
    if _charges is not None:
        _results.append(sentence)


def charges_made(error: BaseException) -> str:
    """What the running command has charged, as far as the notes of an error do not say it; empty: nothing more to say."""
    return "" if _is_told(error) else " ".join(_charge_sentences())


def describe_charges(error: BaseException) -> str:
    """The same for an error that knows nothing of charges: where there is none, it says that."""
    return charges_made(error) if _charges else "Nothing was charged to a ledger."


def _is_told(error: BaseException) -> bool:
    """Whether the notes of an error say what was charged."""
    sentences = _charge_sentences()
    return any(isinstance(note, ChargeNote) or note in sentences for note in getattr(error, "__notes__", ()))


def describe_stop(error: BaseException) -> str:
    """The sentence for a command that was stopped, and a line for each thing that was done before."""
    charges = _charge_sentences()
    others = [note for note in dict.fromkeys([*_results, *getattr(error, "__notes__", ())]) if note not in charges]
    is_told = any(isinstance(note, ChargeNote) for note in others)
    done = "" if is_told else " ".join(charges) or "Nothing was charged"
    if not done:
        sentence = "Stopped. Nothing half-written is left."
    elif not charges:
        sentence = f"Stopped. {done}, and nothing half-written is left."
    elif others:  # what was written
        sentence = f"Stopped. {done} Nothing half-written is left."
    else:
        sentence = f"Stopped. {done} No result of it was made, and nothing half-written is left."
    return "\n".join([" ".join([sentence, *_uses]), *others])
