"""Whether a value is what its setting wants, and the line that says so where it is not."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from parcahyd.config.explaining import Conf, Declared, plain, shown
from parcahyd.core.errors import ConfigurationError

__all__ = ["SECRETS", "Place", "checked", "nearest", "seed_problem"]

SECRETS = ("DbUrl", "DbPassword", "Proxy", "Credentials", "Headers", "Host")
"""Settings whose values no message repeats."""
_LARGEST = 2**63 - 1
"""Databases and C libraries count in 64 bits."""

_CONTROLS = r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]"
_ABSOLUTE_URL = r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\\s]+(?:[/?#].*)?"
_PROXY = r"(?:https?|socks5)://(?:[^\s/@]++@)?(?:\[[0-9A-Fa-f:.]++\]|[^\s/@:\[\]]++)(?::([0-9]{1,5}))?/?"
_PATTERN = r"(?:\[[0-9A-Fa-f:.*]++\]|[A-Za-z0-9_.*?-]++)(?::([0-9]{1,5}))?"
_VARIABLE = r"env:[A-Za-z_][A-Za-z0-9_]*+"
_PARAMETER = r"[^*&=;?#/ ]+\*?"
_DOMAIN = r"=?[^\s/:?#@=*]+|=?\[[0-9A-Fa-f:.]+\]"
_MEDIA_TYPE = r"[\w!#$&^.+-]+/(?:[\w!#$&^.+-]+|\*)|\*/\*|\*"
_HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"

_OWN_HEADERS = frozenset(
    {
        *("accept-encoding", "connection", "content-length", "host", "te", "transfer-encoding"),
        *("if-modified-since", "if-none-match", "range"),
    }
)
"""Headers that the crawl or the downloader writes itself."""


class Place(msgspec.Struct, frozen=True):
    """Where a value was given."""

    text: str
    """As a message begins: "WorkConf.toml, line 12" or "--set Work.HostDelay=slow"."""
    source: str
    """As `Configuration.sources` has it."""

    @property
    def on_command_line(self) -> bool:
        return self.source == "--set"


class Problem(msgspec.Struct, frozen=True):
    message: str
    remedy: str


def seed_problem(seed: str) -> str:
    """What keeps a seed from being an absolute URL with scheme and host, remedy included; empty when nothing does."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(seed)
        fits = re.fullmatch(_ABSOLUTE_URL, seed) is not None and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if fits:
        return ""
    return f"{shown(seed)} is not an absolute URL, which starts like https://example.com/"


def nearest(word: str, candidates: Collection[str]) -> str:
    """The candidate that was probably meant, whatever its case; empty where none is near."""
    import difflib

    # The first of two that differ in nothing but their file wins: a key's own file is asked first.
    by_lower = {candidate.lower(): candidate for candidate in reversed(list(candidates))}
    found = difflib.get_close_matches(word.lower(), by_lower, n=1)
    return by_lower[found[0]] if found else ""


def checked(which: Conf, setting: Declared, value: object, place: Place) -> object:
    """The value in the schema's type, or the line that says what was expected instead."""
    try:
        fitting = msgspec.convert(value, setting.annotation)
    except (msgspec.ValidationError, UnicodeEncodeError):  # the latter: bytes of a command line that are no text
        raise _wrong_value(which, setting, value, place) from None
    if isinstance(fitting, int | float) and not fitting <= _LARGEST:
        raise ConfigurationError(f"{place.text}: {setting.key}: {shown(value)} is too large", f"at most {_LARGEST}")
    texts = [fitting] if isinstance(fitting, str) else fitting if isinstance(fitting, tuple) else ()
    problem = _control_characters(texts) or _CHECKS.get(setting.key, _no_problem)(fitting)
    if problem:
        raise ConfigurationError(f"{place.text}: {setting.key}: {problem.message}", problem.remedy)
    return fitting


def _wrong_value(which: Conf, setting: Declared, value: object, place: Place) -> ConfigurationError:
    remedy = ""
    if setting.choices and isinstance(value, str) and (near := nearest(value, setting.choices)):
        remedy = f'did you mean "{near}"?'
    elif isinstance(setting.default, tuple):
        here = f'--set \'{which}.{setting.key}=["A", "B"]\'' if place.on_command_line else f'{setting.key} = ["A", "B"]'
        remedy = f"write {here}"
    elif setting.is_text and not isinstance(value, str):
        remedy = "text stands in quotes"
    got = "something else" if setting.key in SECRETS else shown(value)
    return ConfigurationError(f"{place.text}: {setting.key}: expected {setting.kind}, got {got}", remedy)


def _control_characters(texts: Sequence[str]) -> Problem | None:
    if any(not text.isprintable() and re.search(_CONTROLS, text) for text in texts):
        return Problem("has a control character in it", "remove line breaks, tabs and the like")
    return None


def _no_problem(_: Any) -> Problem | None:
    return None


def _seeds(seeds: Sequence[str]) -> Problem | None:
    return next((Problem(wrong, "") for wrong in map(seed_problem, seeds) if wrong), None)


def _networks(networks: Sequence[str]) -> Problem | None:
    for network in networks:
        try:
            ipaddress.ip_network(network, strict=False)
        except ValueError:
            return Problem(f"{shown(network)} is not a network", 'such as "127.0.0.0/8", "192.168.7.5" or "fd00::/8"')
    return None


def _nameservers(servers: Sequence[str]) -> Problem | None:
    for server in servers:
        if not _is_nameserver(server):
            return Problem(
                f"{shown(server)} is not the address of a name server",
                'such as "192.0.2.1", "192.0.2.1:53" or "[2001:db8::1]:53"',
            )
    return None


def _is_nameserver(server: str) -> bool:
    address, port = server, "53"
    if server.startswith("["):
        address, _, port = server[1:].partition("]:")
    elif server.count(":") == 1:
        address, _, port = server.partition(":")
    try:
        version = ipaddress.ip_address(address).version
    except ValueError:
        return False
    if version == 4 and server.startswith("["):
        return False
    return re.fullmatch(r"[0-9]{1,5}", port) is not None and 0 < int(port) < 65536


def _patterns(patterns: Sequence[str]) -> Problem | None:
    for pattern in patterns:
        if not pattern:
            return Problem('"" is no pattern', 'such as "https://example.org/docs/*"')
        if pattern.startswith("re:"):
            import pcre2  # only where there is one

            try:
                pcre2.compile(pattern[3:])
            except pcre2.PatternError as mistake:
                return Problem(f"{shown(pattern)} is not a regular expression", str(mistake))
    return None


def _parameters(names: Sequence[str]) -> Problem | None:
    for name in names:
        if not re.fullmatch(_PARAMETER, name):
            return Problem(f"{shown(name)} is not the name of a parameter", 'such as "sid", or "utm_*" for all that begin so')
    return None


def _domains(domains: Sequence[str]) -> Problem | None:
    for domain in domains:
        if not re.fullmatch(_DOMAIN, domain):
            return Problem(f"{shown(domain)} is not the name of a host", 'such as "example.org", or "=www.example.org"')
    return None


def _media_types(types: Sequence[str]) -> Problem | None:
    for one in types:
        if not re.fullmatch(_MEDIA_TYPE, one):
            return Problem(f"{shown(one)} is not a media type", 'such as "text/html" or "image/*"')
    return None


def _local_instance(local: bool) -> Problem | None:
    if local:
        return None
    return Problem("false is not available yet: the cluster comes as an extra, parcahyd[cluster]", "write LocalInstance = true")


def _pattern(pattern: str) -> Problem | None:
    found = re.fullmatch(_PATTERN, pattern)
    if found and (found[1] is None or 0 < int(found[1]) < 65536):
        return None
    return Problem(
        f"{shown(pattern)} is not a pattern of hosts", 'such as "example.org", "*.example.org" or "xn--bcher-kva.example:8080"'
    )


def _headers(headers: Mapping[str, str] | None) -> Problem | None:
    for name, value in (headers or {}).items():
        if not re.fullmatch(_HEADER_NAME, name):
            return Problem(f"{shown(name)} is not a header's name", 'such as "Accept-Language"')
        if name.lower() in _OWN_HEADERS:
            return Problem(f"{plain(name)} is written by the crawl itself", "leave it out")
        if name.lower() == "user-agent":
            return Problem(f"{plain(name)} has a key of its own", "write UserAgent")
        if not (value.isascii() and value.isprintable()):
            return Problem(f"the value of {plain(name)} is not printable ASCII", "encode it as its server wants it")
    return None


def _credentials(credentials: str | None) -> Problem | None:
    if credentials is None or ":" in credentials[1:]:
        if credentials is None or not credentials.startswith("env:") or re.fullmatch(_VARIABLE, credentials):
            return None
        return Problem("names no environment variable", 'such as "env:EXAMPLE_LOGIN"')
    return Problem("not of the form USER:PASSWORD", 'write "USER:PASSWORD", or "env:NAME" to read it from the environment')


def _proxy(proxy: str | None) -> Problem | None:
    if not proxy or re.fullmatch(_VARIABLE, proxy):
        return None
    found = re.fullmatch(_PROXY, proxy)
    if found and (found[1] is None or 0 < int(found[1]) < 65536):
        return None
    if proxy.lower().startswith(("socks5h:", "socks4a:")):
        return Problem(
            "such a proxy resolves names itself, past the address policy", "write socks5://, which is asked for addresses"
        )
    return Problem("is not a proxy", 'such as "http://192.0.2.1:3128", "socks5://HOST:1080" or "env:NAME"')


_CHECKS: dict[str, Callable[[Any], Problem | None]] = {
    "AllowAddresses": _networks,
    "StripParameters": _parameters,
    "MediaTypes": _media_types,
    "Include": _patterns,
    "Exclude": _patterns,
    "Domains": _domains,
    "Credentials": _credentials,
    "Headers": _headers,
    "LocalInstance": _local_instance,
    "Nameservers": _nameservers,
    "Pattern": _pattern,
    "Proxy": _proxy,
    "Seeds": _seeds,
}
"""What a type cannot say of a value."""
