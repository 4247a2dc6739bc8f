"""A resolver that sends whole families of host names to fixed addresses: crawl a staging copy under its real names.

Copy this file, edit TABLE and give the copy a name of its own, then set `DnsResolverClass = "wildcard-table"` in MapConf.toml.
Addresses that are not public have to be in `AllowAddresses` too.
"""

from __future__ import annotations

from collections.abc import Callable

from parcahyd.plugins import MapConf, Reason, Resolution, ResolutionFailure, hookimpl

__all__ = ["TABLE", "WildcardTable", "parcahyd_resolvers"]

TABLE: dict[str, tuple[str, ...]] = {
    "staging.test": ("127.0.0.1", "::1"),
    "*.staging.test": ("127.0.0.1",),
    "*.eu.staging.test": ("127.0.0.2",),
}


class WildcardTable:
    """Looks a host up by its full name, then by `*.` and its ever shorter endings: the closest entry counts."""

    def __init__(self, conf: MapConf) -> None:
        self._ttl = conf.MinTtl

    def resolve(self, host: str) -> Resolution:
        if host in TABLE:
            return Resolution(TABLE[host], self._ttl)
        ending = host
        while "." in ending:
            _, _, ending = ending.partition(".")
            if f"*.{ending}" in TABLE:
                return Resolution(TABLE[f"*.{ending}"], self._ttl)
        raise ResolutionFailure(Reason.DNS_NO_NAME, f"{host} is not in the table of {__file__}")

    def close(self) -> None:
        """Nothing is held open."""


@hookimpl
def parcahyd_resolvers() -> dict[str, Callable[[MapConf], WildcardTable]]:
    return {"wildcard-table": WildcardTable}
