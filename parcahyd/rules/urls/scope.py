"""What belongs to the crawl.

"site" is the seeds' own scheme, host and port; "domain" their registrable domains, on any port, by http or https alike;
"any" is everything. A registrable domain is one label more than a public suffix, by the bundled list with its private section:
`alice.github.io` and `bob.github.io` are two. A host that has none (an address, a single label, a suffix) stands for itself.
Domains adds hosts of the web: `example.org` with everything below it, `=www.example.org` alone. Within all that, the patterns
of Include and Exclude choose URLs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from publicsuffixlist import PublicSuffixList

from parcahyd.rules.urls.address_policy import literal_address
from parcahyd.rules.urls.canonical_url import canonical, split
from parcahyd.rules.urls.url_patterns import UrlPatterns

__all__ = [
    "Scope",
    "is_public_suffix",
    "registrable_domain",
]

_KINDS = ("site", "domain", "any")
_WEB = frozenset(("http", "https"))


class Scope:
    """Remembers the seeds' sites or domains, as text, and says of a site whether it is one of them."""

    __slots__ = ("_below", "_hosts", "_kind", "_members", "patterns")

    def __init__(
        self,
        kind: str,
        domains: Sequence[str] = (),
        include: tuple[str, ...] = (),
        exclude: tuple[str, ...] = (),
    ) -> None:
        if kind not in _KINDS:
            raise ValueError(f"{kind!r} is none of {_KINDS}")
        self._kind = kind
        self._members: set[str] = set()
        self._hosts = {_host(domain.removeprefix("=")): domain for domain in domains}
        self._below = tuple(f".{_host(domain)}" for domain in domains if not domain.startswith("="))
        self.patterns = UrlPatterns.of(include, exclude)
        """None where every URL of a site that belongs to the crawl belongs to it."""

    def add_seed(self, scheme: str, host: str, port: int) -> None:
        """Takes a seed's site into the scope; so is the target of a seed's redirect."""
        if self._kind != "any":
            self._members.add(self._member(scheme, host, port))

    def admits(self, scheme: str, host: str, port: int) -> bool:
        """Whether URLs of this site (host as in a canonical URL) belong to the crawl, as far as patterns allow."""
        if self._kind == "any" or self._member(scheme, host, port) in self._members:
            return True
        return scheme in _WEB and (host in self._hosts or host.endswith(self._below))

    def verdict(self, url: str) -> tuple[bool, str]:
        """Whether a canonical URL belongs to the crawl, and the sentence that names the rule that decided."""
        scheme, host, port, _ = split(url)
        if not self.admits(scheme, host, port):
            return False, f'its site is outside (Scope = "{self._kind}")'
        inside, rule = self._rule(scheme, host, port), ""
        if self.patterns is not None:
            admitted, rule = self.patterns.verdict(url)
            if not admitted:
                return False, rule
        return True, f"{inside}; {rule}" if rule else inside

    def _rule(self, scheme: str, host: str, port: int) -> str:
        if self._kind == "any":
            return 'everything is inside (Scope = "any")'
        if self._member(scheme, host, port) in self._members:
            whose = "a seed's own" if self._kind == "site" else "of a seed's registrable domain"
            return f'its site is {whose} (Scope = "{self._kind}")'
        domain = self._hosts.get(host) or next(below[1:] for below in self._below if host.endswith(below))
        return f'Domains has "{domain}"'

    def _member(self, scheme: str, host: str, port: int) -> str:
        if self._kind == "site":
            return f"{scheme}://{host}:{port}"
        family = "web" if scheme in _WEB else scheme
        return f"{family} {registrable_domain(host)}"


def _host(written: str) -> str:
    """A host as canonical URLs have it; as it was written where it is none, which then fits no URL."""
    url = canonical(f"http://{written}/")
    return split(url)[1] if url is not None else written


# --- Whose a host is: its registrable domain, one label more than a public suffix ---------------------------------------
# The list is the bundled one with its private section: `alice.github.io` and `bob.github.io` have two owners.


@lru_cache(maxsize=8192)
def registrable_domain(host: str) -> str:
    """The registrable domain of the host of a canonical URL; one that has none (an address, a suffix) stands for itself."""
    if "." not in host or literal_address(host) is not None:
        return host
    return _suffixes().privatesuffix(host) or host


@lru_cache(maxsize=8192)
def is_public_suffix(name: str) -> bool:
    """Whether domains under this name, in lower case, have different owners. A single label is always a public suffix."""
    if "." not in name:
        return True
    return literal_address(name) is None and _suffixes().privatesuffix(name) is None


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    """Reading the list takes some 50 ms and several megabytes, and most processes never ask for it."""
    return PublicSuffixList()
