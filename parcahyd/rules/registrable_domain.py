"""Whose a host is: its registrable domain, one label more than a public suffix.

The list is the bundled one with its private section: `alice.github.io` and `bob.github.io` have two owners.
"""

from __future__ import annotations

from functools import lru_cache

from publicsuffixlist import PublicSuffixList

from parcahyd.rules.address_policy import literal_address

__all__ = ["is_public_suffix", "registrable_domain"]


@lru_cache(maxsize=8192)
def registrable_domain(host: str) -> str:
    """The registrable domain of the host of a canonical URL; one that has none (an address, a suffix) stands for itself."""
    if "." not in host or literal_address(host) is not None:
        return host
    return _suffixes().privatesuffix(host) or host


@lru_cache(maxsize=8192)
def is_public_suffix(name: str) -> bool:
    """Whether under this name, in lower case, anybody may have a domain. A single label always counts as one."""
    if "." not in name:
        return True
    return literal_address(name) is None and _suffixes().privatesuffix(name) is None


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    """Reading the list takes some 50 ms and several megabytes, and most processes never ask for it."""
    return PublicSuffixList()
