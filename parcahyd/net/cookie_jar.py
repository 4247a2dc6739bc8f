"""The cookies of one process, in memory. Each registrable domain has a small jar of its own.

Filled from the answers of hosts whose settings say `Cookies = true`, read for the next requests to them. libcurl's own cookie
engine belongs to a handle, which serves many hosts, and its list of public suffixes depends on its build.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from datetime import UTC, datetime
from operator import attrgetter

import msgspec

from parcahyd.rules.urls.address_policy import literal_address
from parcahyd.rules.urls.scope import is_public_suffix, registrable_domain

__all__ = ["CookieJar", "SetCookie", "cookie_date", "read_set_cookie"]

_MOST_SITES = 1000
_MOST_COOKIES = 50
_LONGEST_HEADER = 8192
"""The longest header line that servers commonly accept."""

# RFC 6265bis, section 5.6: longer ones are not kept.
_LONGEST_COOKIE = 4096
_LONGEST_ATTRIBUTE = 1024
_MOST_ATTRIBUTES = 32

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]").search
_INTEGER = re.compile(r"-?[0-9]++").fullmatch
_DELIMITERS = re.compile(r"[\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]++")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])").match
_DAY = re.compile(r"([0-9]{1,2})(?![0-9])").match
_YEAR = re.compile(r"([0-9]{2,4})(?![0-9])").match
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class SetCookie(msgspec.Struct, frozen=True):
    """The content of one Set-Cookie header, before the jar decides whether to keep it."""

    name: str
    value: str
    domain: str = ""
    """Lower case, without a leading dot; empty: this host only."""
    path: str = ""
    """Empty: the default path."""
    expires: float | None = None
    """In seconds since 1970; None: with the session."""
    secure: bool = False


class _Cookie:
    __slots__ = ("domain", "expires", "host_only", "name", "number", "path", "secure", "value")

    def __init__(self, given: SetCookie, domain: str, host_only: bool, path: str, number: int) -> None:
        self.name = given.name
        self.value = given.value
        self.domain = domain
        self.host_only = host_only
        self.path = path
        self.secure = given.secure
        self.expires = given.expires
        self.number = number

    @property
    def key(self) -> tuple[str, str, str]:
        return self.name, self.domain, self.path

    def is_over(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now

    def goes_to(self, scheme: str, host: str, path: str) -> bool:
        if self.secure and scheme != "https":
            return False
        if host != self.domain and (self.host_only or not host.endswith(f".{self.domain}")):
            return False
        return path == self.path or (path.startswith(self.path) and (self.path[-1] == "/" or path[len(self.path)] == "/"))


_Site = dict[tuple[str, str, str], _Cookie]


class CookieJar:
    """Keeps at most 50 cookies of each of at most 1,000 registrable domains, and drops the least recently used domain first.

    Threads may share it. `now` is in seconds since 1970.
    """

    def __init__(self, most_sites: int = _MOST_SITES, most_cookies: int = _MOST_COOKIES) -> None:
        self._most_sites = most_sites
        self._most_cookies = most_cookies
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._lock = threading.Lock()
        self._number = 0

    def __len__(self) -> int:
        return sum(map(len, self._sites.values()))

    def header(self, url: str, now: float) -> str:
        """The value of the Cookie header for a request to this canonical URL; empty: none is to be sent."""
        if not self._sites:
            return ""
        scheme, host, path = _parts(url)
        with self._lock:
            site = self._sites.get(registrable_domain(host))
            if site is None:
                return ""
            self._sites.move_to_end(registrable_domain(host))
            sent = [one for one in site.values() if one.goes_to(scheme, host, path) and not one.is_over(now)]
        # Longer paths first, then older cookies (RFC 6265, section 5.4).
        sent.sort(key=lambda cookie: (-len(cookie.path), cookie.number))
        return _within(_LONGEST_HEADER, (f"{cookie.name}={cookie.value}" for cookie in sent))

    def take(self, url: str, headers: Iterable[tuple[str, str]], now: float) -> None:
        """Keep the cookies that the answer from this URL sets, where it may set them."""
        given = [value for name, value in headers if name.lower() == "set-cookie"]
        if not given:
            return
        scheme, host, path = _parts(url)
        with self._lock:
            site = self._sites.setdefault(registrable_domain(host), {})
            self._sites.move_to_end(registrable_domain(host))
            for header in given[: self._most_cookies]:
                read = read_set_cookie(header, now)
                if read is not None:
                    self._keep(site, read, scheme, host, path, now)
            if not site:
                del self._sites[registrable_domain(host)]
            elif len(self._sites) > self._most_sites:
                self._sites.popitem(last=False)

    def _keep(self, site: _Site, given: SetCookie, scheme: str, host: str, path: str, now: float) -> None:
        domain = _domain_for(host, given.domain)
        if domain is None or not _prefix_holds(given, scheme) or (given.secure and scheme != "https"):
            return
        self._number += 1
        # A host that is a public suffix itself may name itself; its cookie is sent to that host only.
        host_only = not given.domain or is_public_suffix(domain)
        cookie = _Cookie(given, domain, host_only, given.path or _folder(path), self._number)
        before = site.get(cookie.key)
        if before is not None:
            if before.secure and scheme != "https":
                return
            cookie.number = before.number
        if cookie.is_over(now):
            site.pop(cookie.key, None)
            return
        site[cookie.key] = cookie
        if len(site) > self._most_cookies:
            self._make_room(site, now)

    def _make_room(self, site: _Site, now: float) -> None:
        for key in [key for key, cookie in site.items() if cookie.is_over(now)]:
            del site[key]
        while len(site) > self._most_cookies:
            del site[min(site.values(), key=attrgetter("number")).key]


def _parts(url: str) -> tuple[str, str, str]:
    """Scheme, host and path."""
    scheme, _, rest = url.partition("://")
    rest = rest.partition("#")[0].partition("?")[0]
    authority, slash, path = rest.partition("/")
    authority = authority.rpartition("@")[2]
    host = authority if authority.endswith("]") else authority.rpartition(":")[0] or authority
    return scheme, host, slash + path if slash else "/"


def _domain_for(host: str, asked: str) -> str | None:
    """The domain of a cookie from this host whose attribute is `asked`; None where it may not set that one."""
    if not asked or asked == host:
        return host
    if not asked.isascii() or literal_address(host) is not None or not host.endswith(f".{asked}") or is_public_suffix(asked):
        return None
    return asked


def _prefix_holds(given: SetCookie, scheme: str) -> bool:
    """Whether the cookie has what the prefix of its name demands (RFC 6265bis, section 4.1.3)."""
    name = given.name.lower()
    if name.startswith("__host-"):
        return given.secure and scheme == "https" and not given.domain and given.path == "/"
    return not name.startswith("__secure-") or (given.secure and scheme == "https")


def _folder(path: str) -> str:
    """The default path of a cookie (RFC 6265, section 5.1.4)."""
    return path[: path.rindex("/")] or "/"


def _within(limit: int, pairs: Iterable[str]) -> str:
    chosen: list[str] = []
    for pair in pairs:
        limit -= len(pair) + 2
        if limit < 0:
            break
        chosen.append(pair)
    return "; ".join(chosen)


def read_set_cookie(header: str, now: float) -> SetCookie | None:
    """One Set-Cookie header, read as RFC 6265, section 5, demands of user agents; None where it is to be ignored."""
    pair, *attributes = header.split(";", _MOST_ATTRIBUTES)
    name, equals, value = pair.partition("=")
    name, value = name.strip(" \t"), value.strip(" \t")
    if not equals or not name or len(name) + len(value) > _LONGEST_COOKIE or _CONTROL(pair) is not None:
        return None
    domain, path, secure = "", "", False
    max_age: float | None = None
    expires: float | None = None
    for attribute in attributes[: _MOST_ATTRIBUTES - 1]:
        if len(attribute) > _LONGEST_ATTRIBUTE:
            continue
        word, _, given = attribute.partition("=")
        given = given.strip(" \t")
        match word.strip(" \t").lower():
            case "domain":
                domain = given.removeprefix(".").lower()
            case "path":
                path = given if given.startswith("/") and _CONTROL(given) is None else ""
            case "secure":
                secure = True
            case "max-age" if _INTEGER(given):
                # Nineteen digits are further away than any date, and int() of a long text would be slow.
                max_age = now + int(given[:19])
            case "expires":
                found = cookie_date(given)
                expires = expires if found is None else found
    return SetCookie(name, value, domain, path, expires if max_age is None else max_age, secure)


def cookie_date(text: str) -> float | None:
    """A date by the algorithm of RFC 6265, section 5.1.1, in seconds since 1970; None where it is none."""
    clock = day = month = year = None
    for token in _DELIMITERS.split(text):
        if clock is None and (found := _CLOCK(token)):
            clock = found
        elif day is None and (found := _DAY(token)):
            day = int(found[1])
        elif month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS.index(token[:3].lower()) + 1
        elif year is None and (found := _YEAR(token)):
            year = int(found[1])
    if clock is None or day is None or month is None or year is None:
        return None
    if year < 100:
        year += 1900 if year >= 70 else 2000
    if year < 1601:
        return None
    try:
        return datetime(year, month, day, int(clock[1]), int(clock[2]), int(clock[3]), tzinfo=UTC).timestamp()
    except ValueError:
        return None
