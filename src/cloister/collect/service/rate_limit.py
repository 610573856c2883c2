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
IPV6_NETWORK = 64  # bits: one household or host may have all addresses of such a network


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

    def seconds_to_wait(self, address: str, now: float | None = None, cost: float = 1.0) -> float:
        """Take a request off the address's bucket, which may be left in debt; above 0: it is empty for so long."""
        if not self.rate:
            return 0.0
        moment = time.monotonic() if now is None else now
        name = hashlib.blake2b(network_of(address).encode(), key=self._key, digest_size=16).digest()
        left, before = self._buckets.pop(name, (float(self.rate), moment))
        left = min(float(self.rate), left + (moment - before) * self.rate / MINUTE)
        allowed = left >= 1
        self._buckets[name] = (left - cost if allowed else left, moment)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) * MINUTE / self.rate


def network_of(address: str) -> str:
    """What is counted as one address.

    >>> network_of("2001:db8::1") == network_of("2001:db8::2"), network_of("192.0.2.1")
    (True, '192.0.2.1')
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 6 and parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, IPV6_NETWORK), strict=False)) if parsed.version == 6 else address
