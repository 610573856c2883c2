"""The words that a report uses, for somebody who meets them for the first time."""

from __future__ import annotations

from cloister.privacy.guarantees import Guarantee, Local, Syntactic
from cloister.privacy.release import Release
from cloister.report.document import Fact
from cloister.report.handout_blocks import Chapter

__all__ = ["describe_words"]

EVERYWHERE = {
    "certificate": "The file that says what was released, how, and with which guarantee. It lists the hashes of its files.",
    "holder": "Whoever has the original table. The holder may see exact results; nobody else may.",
    "ledger": "The holder's book of what was released of each table. It refuses what would pass a table's total.",
    "signature": "A number that only the owner of a secret key can make, and that anybody can check with the public key.",
}
PRIVATE = {
    "ledgered": "The certificate says that a ledger keeps the release; unledgered: that none does. See how to check it.",
    "budget": "How much a release may reveal, as an epsilon (and a delta).",
    "delta (δ)": "A small probability with which a release may say more than epsilon allows. 0: it never does.",
    "differential privacy": "What is released is nearly as likely with or without any one row (or person) of the table.",
    "epsilon (ε)": "How much more likely an outcome may become by one row: at most e^ε times. Smaller is safer.",
    "neighbours": "Two tables that differ by one row (or person): one more or less (add-remove), or one changed (replace-one).",
    "noise": "Random numbers that are added to a result so that no single row shows. They are drawn anew, and kept by nobody.",
}
LOCAL = {
    "delta (δ)": "A small probability with which more may be said than epsilon allows. It is 0 here: that never happens.",
    "epsilon (ε)": "How much more likely a message may be with one answer than another: at most e^ε times. Smaller is safer.",
    "local model": "Answers are changed at random before they leave whoever gives them: the collector need not be trusted.",
}
SYNTACTIC = {
    "ledgered": "The certificate says that a ledger keeps the release; unledgered: that none does. See how to check it.",
    "l-diversity": "Each group has at least l different values of a sensitive column, or as much variety as l equally frequent.",
    "local recoding": "Equal values may be published as labels of different width, as each group needs it: labels may overlap.",
    "syntactic": "A property of the table that was published, such as k-anonymity; not of how it was made. It has no epsilon.",
    "t-closeness": "In each group the values of a sensitive column are distributed as in the whole table, up to a distance of t.",
    "generalise": "To replace a value by a coarser one that others share, such as an age by a range of ages.",
    "k-anonymity": "Every row of the table looks like at least k - 1 others in the columns that somebody may know.",
    "quasi-identifiers": "Columns that others may know of a person, and that together can single the person out.",
    "suppress": "To leave a row out, or to blank its quasi-identifiers.",
}


def describe_words(release: Release) -> Chapter:
    """The glossary of what this release has."""
    guarantee = release.guarantee
    own: dict[str, str] = {}
    if isinstance(guarantee, Syntactic):
        own = SYNTACTIC
    elif isinstance(guarantee, Local):
        own = LOCAL
    elif isinstance(guarantee, Guarantee):
        own = PRIVATE
    words = {**EVERYWHERE, **own}
    return Chapter("Glossary", tuple(Fact(word, words[word]) for word in sorted(words, key=str.casefold)))
