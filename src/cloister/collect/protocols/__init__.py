"""How an answer becomes a report: one protocol a file, the client's half beside the collector's."""

from __future__ import annotations

from fractions import Fraction
from math import exp

from cloister.collect.protocols.base import AnswerProtocol
from cloister.collect.protocols.channel import Channel, channel_for
from cloister.collect.protocols.randomized_response import RandomizedResponse
from cloister.collect.protocols.unary_encoding import MOST_BITS, UnaryEncoding
from cloister.parameters import unknown_choice

__all__ = [
    "AUTO",
    "MOST_BITS",
    "PROTOCOLS",
    "AnswerProtocol",
    "Channel",
    "RandomizedResponse",
    "UnaryEncoding",
    "channel_for",
    "protocol_of",
]

AUTO = "auto"
PROTOCOLS: dict[str, type[RandomizedResponse] | type[UnaryEncoding]] = {
    protocol.name: protocol for protocol in (RandomizedResponse, UnaryEncoding)
}
"""Every protocol by its name."""

RARE = 0.0  # the share at which variances are compared: most values of a large domain are rare


def protocol_of(values: tuple[str, ...], epsilon: Fraction, name: str = AUTO) -> AnswerProtocol:
    """The protocol of a question; "auto" takes the one of the smaller variance for a rare value.

    That is randomized response while the domain has fewer than 3 e**epsilon + 2 values (Wang et al. 2017, section 4).

    >>> [protocol_of(tuple(map(str, range(size))), Fraction(1)).name for size in (10, 11)]
    ['randomized-response', 'unary']
    """
    if name != AUTO and name not in PROTOCOLS:
        raise unknown_choice("protocol", name, [AUTO, *PROTOCOLS])
    if name != AUTO:
        return PROTOCOLS[name].of(values, epsilon)
    able = [each for each in PROTOCOLS.values() if each is RandomizedResponse or len(values) <= MOST_BITS]
    offered: list[AnswerProtocol] = [protocol.of(values, epsilon) for protocol in able]
    return min(offered, key=lambda protocol: protocol.share_variance(RARE))


def why_protocol(values: tuple[str, ...], epsilon: Fraction, name: str) -> str:
    """One sentence on why "auto" took this protocol."""
    bound = 3 * exp(min(float(epsilon), 40.0)) + 2
    if name == RandomizedResponse.name:
        return (
            f"{len(values)} values are fewer than 3 e^epsilon + 2 = {bound:,.4g}: one value a report has the smaller error"
        )
    return f"{len(values)} values are {bound:,.4g} or more (3 e^epsilon + 2): one bit a value has the smaller error"
