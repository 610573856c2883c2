"""What a service is told when it starts: its store, its address and its limits."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from cloister.errors import UsageError

__all__ = ["ServiceSettings", "proxy_networks"]


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """Plain data, so that it can be handed to worker processes.

    Attributes
    ----------
    store : the place of the inbox
    host, port : where it listens; port 0: any that is free
    workers : processes
    rate : requests and reports of batches a minute that an address may send, in bursts of as many; 0: any number; the collector's
        pages and routes have as many of their own
    body_bytes, batch_reports : the largest request, and how many reports it may hold
    body_seconds, header_seconds : how long a client may take to send a request's body and its head
    trusted_proxies : addresses and networks whose X-Forwarded-For and X-Forwarded-Proto are believed
    access_log : whether each request is a line on standard error: method, kind of page, status and time, and nothing else
    """

    store: str
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    rate: int = 600
    body_bytes: int = 2**20
    batch_reports: int = 1_000
    body_seconds: float = 15.0
    header_seconds: float = 15.0
    trusted_proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    access_log: bool = False


def proxy_networks(proxies: Iterable[str]) -> list[str]:
    """The networks of trusted proxies, with those that IPv4 has within IPv6: a socket for both names its peers so.

    >>> proxy_networks(["10.0.0.0/8", "::1"])
    ['10.0.0.0/8', '::ffff:10.0.0.0/104', '::1/128']
    """
    networks = []
    for proxy in proxies:
        try:
            network = ipaddress.ip_network(proxy)
        except ValueError:
            raise UsageError(
                f'--trusted-proxy takes an address or a network such as 192.0.2.1 or 10.0.0.0/8, and "{proxy}" is neither.'
            ) from None
        networks.append(str(network))
        if network.version == 4:
            networks.append(f"::ffff:{network.network_address}/{96 + network.prefixlen}")
    return networks
