"""What every client must compute: probabilities, answers from given random words, and terms of collections.

``python -m tests.collect.protocols.client_vectors`` writes them to vectors.json. Integers of 64 bits are texts there:
JavaScript would round numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from cloister.collect import Collection
from cloister.collect.protocols import AnswerProtocol, UnaryEncoding, protocol_of
from cloister.collect.protocols.channel import UNIT, lie_units
from cloister.collect.questions import Question
from cloister.privacy import noise

__all__ = ["VECTORS", "make_vectors", "perturbed", "written"]

VECTORS = Path(__file__).with_name("vectors.json")
EPSILONS = ("1/1000", "1/10", "1/3", "1/2", "6931/10000", "1", "3/2", "20", "100")
OTHERS = (1, 2, 9, 4095, 1_048_575)
HALF = UNIT // 2
ODD = {  # names and values that JSON, JavaScript objects and HTML read in their own way
    "__proto__": ["constructor", "toString"],
    "1": ["1", "01", "10"],
    "0": ["", "no"],
    "Größe 😀": ["größer", "kleiner ≤ 3", "\ufeffmark", "e\u0301", "é"],
    'says "yes" \\ /': ['"', "\\", "\\u0041", "</script>", "'"],
}


def make_vectors() -> dict[str, list[dict[str, Any]]]:
    """All vectors, from Python's client."""
    return {
        "lie_units": [
            {"epsilon": epsilon, "others": others, "units": str(lie_units(Fraction(epsilon), others))}
            for epsilon, others in product(EPSILONS, OTHERS)
        ],
        "answers": list(answer_vectors()),
        "terms": [terms_vector(collection) for collection in collections()],
    }


def answer_vectors() -> Iterator[dict[str, Any]]:
    """Given words, and what is sent: at the ends of the intervals that a word may fall into."""
    for epsilon, size in (("1/2", 2), ("1", 3), ("1/1000", 5), ("6931/10000", 9), ("100", 4)):
        lie = lie_units(Fraction(epsilon), size - 1)
        ends = {0, 1, UNIT - 1, HALF} | {edge for k in range(1, size) for edge in (k * lie - 1, k * lie)}
        for code in sorted({0, 1, size - 1}):
            yield from (vector(epsilon, size, "randomized-response", code, [word]) for word in sorted(ends))
    for epsilon, size in (("1/2", 2), ("1", 8), ("1/1000", 9), ("3/2", 17), ("100", 4)):
        lie = min(lie_units(Fraction(epsilon), 1), HALF)
        edges = [0, lie - 1, lie, HALF - 1, HALF, UNIT - 1]
        for code in sorted({0, 1, size - 1}):
            for start in range(len(edges)):
                words = [edges[(start + place) % len(edges)] for place in range(size)]
                yield vector(epsilon, size, "unary", code, words)


def vector(epsilon: str, size: int, protocol: str, code: int, words: list[int]) -> dict[str, Any]:
    """One answer from its words."""
    values = tuple(map(str, range(size)))
    sent = perturbed(protocol_of(values, Fraction(epsilon), protocol), code, words)
    return {"epsilon": epsilon, "size": size, "protocol": protocol, "code": code, "words": [*map(str, words)], "sent": sent}


def perturbed(protocol: AnswerProtocol, code: int, words: list[int]) -> str:
    """What Python's client sends where chance hands out these words."""

    def hand_out(count: int) -> np.ndarray:
        assert count == (protocol.size if isinstance(protocol, UnaryEncoding) else 1)
        return np.array(words, dtype=np.uint64)

    with patch.object(noise, "words", hand_out):
        (sent,) = protocol.perturb(np.array([code], dtype=np.int64))
    return sent


def collections() -> Iterator[Collection]:
    """Collections with names that are easily read otherwise, and epsilons in many forms."""
    yield Collection("plain", {"smokes": ["no", "yes"]}, epsilon=1)
    yield Collection("a.b_c-1", ODD, epsilon="2/3", title="not part of the terms")
    yield Collection("forms", {f"q{place}": ["a", "b"] for place in range(3)} | {"last": ["", "c"]}, epsilon="0.250")
    yield Collection("thirds", {"q": {"domain": ["a", "b"], "epsilon": "20/60"}, "r": {"domain": ["x"], "other": True}}, 100)
    yield Collection("bits", {"q": {"domain": [*map(str, range(40))], "protocol": "unary"}}, epsilon="0.6931")


def terms_vector(collection: Collection) -> dict[str, Any]:
    """A collection as the service gives it to clients, and its terms."""
    questions = [{**asked(question), "epsilon": str(question.epsilon)} for question in collection.questions]
    return {"id": collection.id, "questions": questions, "terms": collection.terms}


def asked(question: Question) -> dict[str, Any]:
    """What of a question stands in the terms."""
    return {"name": question.name, "values": list(question.values), "protocol": question.protocol}


def written(vectors: dict[str, list[dict[str, Any]]]) -> str:
    """Vectors as JSON, one a line."""
    parts = [f'"{kind}": [\n' + ",\n".join(map(json.dumps, cases)) + "\n]" for kind, cases in vectors.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    VECTORS.write_text(written(make_vectors()), encoding="utf-8")
