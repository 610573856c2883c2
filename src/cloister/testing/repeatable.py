"""Repeatable noise, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cloister.privacy import noise

__all__ = ["seeded_noise"]


@contextmanager
def seeded_noise(seed: int) -> Iterator[None]:
    """Make noise and secret samples repeatable inside the block. Every release made there is NOT PRIVATE."""
    with noise.seeded(seed):
        yield
