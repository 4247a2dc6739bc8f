"""What belongs to the crawl.

"site" is the seeds' own scheme, host and port; "domain" their registrable domains, on any port, by http or https alike;
"any" is everything. A registrable domain is one label more than a public suffix, by the bundled list with its private section:
`alice.github.io` and `bob.github.io` are two. A host that has none (an address, a single label, a suffix) stands for itself.
"""

from __future__ import annotations

from parcahyd.rules.registrable_domain import registrable_domain

__all__ = ["Scope"]

_KINDS = ("site", "domain", "any")


class Scope:
    """Remembers the seeds' sites or domains, as text, and says of a site whether it is one of them."""

    __slots__ = ("_kind", "_members")

    def __init__(self, kind: str) -> None:
        if kind not in _KINDS:
            raise ValueError(f"{kind!r} is none of {_KINDS}")
        self._kind = kind
        self._members: set[str] = set()

    def add_seed(self, scheme: str, host: str, port: int) -> None:
        """Takes a seed's site into the scope; so is the target of a seed's redirect."""
        if self._kind != "any":
            self._members.add(self._member(scheme, host, port))

    def admits(self, scheme: str, host: str, port: int) -> bool:
        """Whether URLs of this site (host as in a canonical URL) belong to the crawl."""
        return self._kind == "any" or self._member(scheme, host, port) in self._members

    def _member(self, scheme: str, host: str, port: int) -> str:
        if self._kind == "site":
            return f"{scheme}://{host}:{port}"
        family = "web" if scheme in ("http", "https") else scheme
        return f"{family} {registrable_domain(host)}"
