"""How many requests an address may make: a bucket each, known by a hash under a key of this process, in memory alone."""

from __future__ import annotations

import hashlib
import ipaddress
import time
from collections import OrderedDict

from cloister.privacy import noise

__all__ = ["RateLimit"]

MOST_ADDRESSES = 100_000  # that are remembered; the one that was quiet longest is forgotten first
MINUTE = 60.0
MOST_DEBT = 60.0  # minutes' worth of requests: at a small rate one batch would lock its address out for a day
IPV6_NETWORK = 64  # bits: one household or host may have all addresses of such a network
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are the address of an IPv4 host


class RateLimit:
    """A bucket of `rate` requests for each address, filled again within a minute.

    Privacy
    -------
    An address is kept as a hash under a random key that is never written down: neither the memory of the process nor anything on
    the disk tells which addresses asked, once the process has ended.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._key, _ = noise.secret()
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()  # what was left, and when

    def seconds_to_wait(self, address: str, now: float | None = None) -> float:
        """Take a request off the address's bucket; above 0: it is empty for so long, and nothing was taken."""
        if not self.rate:
            return 0.0
        name, left, moment = self._look(address, now)
        is_allowed = left >= 1
        self._keep(name, left - 1 if is_allowed else left, moment)
        return 0.0 if is_allowed else (1 - left) * MINUTE / self.rate

    def charge(self, address: str, cost: float, paid: float = 0.0, now: float | None = None) -> float:
        """Take what a request costs beyond one, which may leave a debt.

        Above 0: other requests have left a debt, so that the address waits for so long, and nothing was taken. `paid` is what
        this request was charged before: its own debt does not stop it.
        """
        if not self.rate:
            return 0.0
        name, left, moment = self._look(address, now)
        is_allowed = left + paid >= 0
        self._keep(name, max(left - cost, -MOST_DEBT * self.rate) if is_allowed else left, moment)
        return 0.0 if is_allowed else (1 - left) * MINUTE / self.rate

    def _look(self, address: str, now: float | None) -> tuple[bytes, float, float]:
        """The name of an address's bucket, what is in it, and the moment."""
        moment = time.monotonic() if now is None else now
        name = hashlib.blake2b(network_of(address).encode(), key=self._key, digest_size=16).digest()
        left, before = self._buckets.pop(name, (float(self.rate), moment))
        return name, min(float(self.rate), left + (moment - before) * self.rate / MINUTE), moment

    def _keep(self, name: bytes, left: float, moment: float) -> None:
        """Remember what is in a bucket, and forget the one that was quiet longest."""
        self._buckets[name] = (left, moment)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)


def network_of(address: str) -> str:
    """What is counted as one address.

    >>> network_of("2001:db8::1") == network_of("2001:db8::2"), network_of("192.0.2.1")
    (True, '192.0.2.1')
    >>> network_of("64:ff9b::192.0.2.1"), network_of("::ffff:192.0.2.1")
    ('192.0.2.1', '192.0.2.1')
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    if parsed in NAT64:
        return str(ipaddress.IPv4Address(parsed.packed[-4:]))
    return str(ipaddress.ip_network((parsed, IPV6_NETWORK), strict=False))
