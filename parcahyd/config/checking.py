"""Checks each value where it is given, in a file or after `--set`; a wrong one is refused in one line.

The [[Host]] tables of WorkConf.toml are checked here too (`HostTables`). Tested in tests/config/test_loading.py,
tests/config/test_overrides.py and tests/config/test_host_tables.py.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pcre2

from parcahyd.config.explaining import SECRETS, Conf, Declared, declared, declared_of_host, plain, shown
from parcahyd.config.schema import HostRule
from parcahyd.core.errors import ConfigurationError

__all__ = ["HostTables", "Place", "checked", "nearest", "rules_in_line", "seed_refusal"]

_LARGEST = 2**63 - 1
"""Databases and C libraries count in 64 bits."""

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_ABSOLUTE_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\\s]+(?:[/?#].*)?")
_PROXY = re.compile(r"(?:https?|socks5)://(?:[^\s/@]++@)?(?:\[[0-9A-Fa-f:.]++\]|[^\s/@:\[\]]++)(?::([0-9]{1,5}))?/?")
_PATTERN = re.compile(r"(?:\[[0-9A-Fa-f:.*]++\]|[A-Za-z0-9_.*?-]++)(?::([0-9]{1,5}))?")
_VARIABLE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*+")
_PARAMETER = re.compile(r"[^*&=;?#/ ]+\*?")
_DOMAIN = re.compile(r"=?[^\s/:?#@=*]+|=?\[[0-9A-Fa-f:.]+\]")
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/(?:[\w!#$&^.+-]+|\*)|\*/\*|\*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]++")

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


class Refusal(msgspec.Struct, frozen=True):
    message: str
    remedy: str


def seed_refusal(seed: str) -> str:
    """Why a seed is not an absolute URL with scheme and host, remedy included; empty when it is one."""
    try:
        parts = urlsplit(seed)
        fits = _ABSOLUTE_URL.fullmatch(seed) is not None and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if fits:
        return ""
    return f"{shown(seed)} is not an absolute URL, which starts like https://example.com/"


def nearest(word: str, candidates: Collection[str]) -> str:
    """The candidate that was probably meant, whatever its case; empty where none is near."""
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
    refusal = _control_characters(texts) or _CHECKS.get(setting.key, _no_refusal)(fitting)
    if refusal:
        raise ConfigurationError(f"{place.text}: {setting.key}: {refusal.message}", refusal.remedy)
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


def _control_characters(texts: Sequence[str]) -> Refusal | None:
    if any(not text.isprintable() and _CONTROLS.search(text) for text in texts):
        return Refusal("has a control character in it", "remove line breaks, tabs and the like")
    return None


def _no_refusal(_: Any) -> Refusal | None:
    return None


def _seeds(seeds: Sequence[str]) -> Refusal | None:
    return next((Refusal(wrong, "") for wrong in map(seed_refusal, seeds) if wrong), None)


def _networks(networks: Sequence[str]) -> Refusal | None:
    for network in networks:
        try:
            ipaddress.ip_network(network, strict=False)
        except ValueError:
            return Refusal(f"{shown(network)} is not a network", 'such as "127.0.0.0/8", "192.168.7.5" or "fd00::/8"')
    return None


def _nameservers(servers: Sequence[str]) -> Refusal | None:
    for server in servers:
        if not _is_nameserver(server):
            return Refusal(
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


def _patterns(patterns: Sequence[str]) -> Refusal | None:
    for pattern in patterns:
        if not pattern:
            return Refusal('"" is no pattern', 'such as "https://example.org/docs/*"')
        if pattern.startswith("re:"):
            try:
                pcre2.compile(pattern[3:])
            except pcre2.PatternError as error:
                return Refusal(f"{shown(pattern)} is not a regular expression", str(error))
    return None


def _parameters(names: Sequence[str]) -> Refusal | None:
    for name in names:
        if not _PARAMETER.fullmatch(name):
            return Refusal(f"{shown(name)} is not the name of a parameter", 'such as "sid", or "utm_*" for all that begin so')
    return None


def _domains(domains: Sequence[str]) -> Refusal | None:
    for domain in domains:
        if not _DOMAIN.fullmatch(domain):
            return Refusal(f"{shown(domain)} is not the name of a host", 'such as "example.org", or "=www.example.org"')
    return None


def _media_types(types: Sequence[str]) -> Refusal | None:
    for one in types:
        if not _MEDIA_TYPE.fullmatch(one):
            return Refusal(f"{shown(one)} is not a media type", 'such as "text/html" or "image/*"')
    return None


def _pattern(pattern: str) -> Refusal | None:
    found = _PATTERN.fullmatch(pattern)
    if found and (found[1] is None or 0 < int(found[1]) < 65536):
        return None
    return Refusal(
        f"{shown(pattern)} is not a pattern of hosts", 'such as "example.org", "*.example.org" or "xn--bcher-kva.example:8080"'
    )


def _headers(headers: Mapping[str, str] | None) -> Refusal | None:
    for name, value in (headers or {}).items():
        if not _HEADER_NAME.fullmatch(name):
            return Refusal(f"{shown(name)} is not a header's name", 'such as "Accept-Language"')
        if name.lower() in _OWN_HEADERS:
            return Refusal(f"{plain(name)} is written by the crawl itself", "leave it out")
        if name.lower() == "user-agent":
            return Refusal(f"{plain(name)} has a key of its own", "write UserAgent")
        if not (value.isascii() and value.isprintable()):
            return Refusal(f"the value of {plain(name)} is not printable ASCII", "encode it as its server wants it")
    return None


def _credentials(credentials: str | None) -> Refusal | None:
    if credentials is None or ":" in credentials[1:]:
        if credentials is None or not credentials.startswith("env:") or _VARIABLE.fullmatch(credentials):
            return None
        return Refusal("names no environment variable", 'such as "env:EXAMPLE_LOGIN"')
    return Refusal("not of the form USER:PASSWORD", 'write "USER:PASSWORD", or "env:NAME" to read it from the environment')


def _proxy(proxy: str | None) -> Refusal | None:
    if not proxy or _VARIABLE.fullmatch(proxy):
        return None
    found = _PROXY.fullmatch(proxy)
    if found and (found[1] is None or 0 < int(found[1]) < 65536):
        return None
    if proxy.lower().startswith(("socks5h:", "socks4a:")):
        return Refusal(
            "such a proxy resolves names itself, past the address policy", "write socks5://, which is asked for addresses"
        )
    return Refusal("is not a proxy", 'such as "http://192.0.2.1:3128", "socks5://HOST:1080" or "env:NAME"')


_CHECKS: dict[str, Callable[[Any], Refusal | None]] = {
    "AllowAddresses": _networks,
    "StripParameters": _parameters,
    "MediaTypes": _media_types,
    "Include": _patterns,
    "Exclude": _patterns,
    "Domains": _domains,
    "Credentials": _credentials,
    "Headers": _headers,
    "Nameservers": _nameservers,
    "Pattern": _pattern,
    "Proxy": _proxy,
    "Seeds": _seeds,
}
"""Checks that a type cannot express, by key."""


# --- tables of hosts ---------------------------------------------------------------------------------------------------


class HostTables:
    """Takes headings and keys in the order of the file, and returns the rules; `values` is the file as tomllib read it."""

    def __init__(self, which: Conf, values: Mapping[str, Any]) -> None:
        self._which = which
        self._values = values
        self._rules: list[dict[str, Any]] = []
        self._places: list[Place] = []
        self._inside_headers = False

    @property
    def place(self) -> Place:
        """Of the first table."""
        return self._places[0]

    def heading(self, text: str, place: Place) -> None:
        meaning = _meaning(text)
        if meaning == {"Host": [{}]} and self._which == "Work":
            self._inside_headers = False
            self._rules.append({})
            self._places.append(place)
        elif meaning == {"Host": {"Headers": {}}} and self._rules:
            self.key("Headers", place)
            self._inside_headers = True
        else:
            raise _unknown_table(self._which, text, meaning, place)

    def key(self, key: str, place: Place) -> None:
        if not self._inside_headers:
            self._rules[-1][key] = _checked_in_table(key, self._values["Host"][len(self._rules) - 1][key], place)

    def rules(self) -> tuple[HostRule, ...]:
        return tuple(map(_rule, self._rules, self._places))


def rules_in_line(value: object, place: Place) -> tuple[HostRule, ...]:
    """The rules of `Host = [{ Pattern = ... }]`, all on one place."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ConfigurationError(f"{place.text}: Host: expected tables", "write each as a table [[Host]]")
    return tuple(_rule({key: _checked_in_table(key, one[key], place) for key in one}, place) for one in value)


def _rule(values: dict[str, Any], place: Place) -> HostRule:
    if "Pattern" not in values:
        raise ConfigurationError(f"{place.text}: [[Host]]: has no Pattern", 'write Pattern = "example.org"')
    rule = HostRule(**values)
    if rule.IgnoreRobots and not _names_hosts(rule.Pattern):
        raise ConfigurationError(
            f'{place.text}: [[Host]]: IgnoreRobots: "{plain(rule.Pattern)}" fits hosts of other people',
            'name hosts of your own, as "example.org" or "*.example.org"',
        )
    return rule


def _names_hosts(pattern: str) -> bool:
    """Whether a pattern names one host, or the hosts below one domain."""
    name = pattern.removeprefix("*.")
    return not {"*", "?"} & set(name) and (name == pattern or "." in name)


def _checked_in_table(key: str, value: object, place: Place) -> object:
    setting = declared_of_host().get(key)
    if setting is None:
        raise _unknown_key_in_table(key, place)
    return checked("Work", setting, value, place)


def _unknown_key_in_table(key: str, place: Place) -> ConfigurationError:
    near = nearest(key, declared_of_host())
    if key in declared("Work"):
        remedy = "a key of the whole file stands above the first [[Host]]"
        remedy += f"; did you mean {near}?" if near else ""
    else:
        remedy = f"did you mean {near}?" if near else f"[[Host]] has {', '.join(declared_of_host())}"
    return ConfigurationError(f"{place.text}: {plain(key)}: unknown key in [[Host]]", remedy)


def _unknown_table(which: Conf, text: str, meaning: Mapping[str, Any], place: Place) -> ConfigurationError:
    if "Host" not in meaning:
        remedy = "all keys stand at the top level, without headings"
    elif which == "Map":
        remedy = "[[Host]] belongs in WorkConf.toml"
    else:
        remedy = "a rule starts with [[Host]], in two pairs of brackets"
    return ConfigurationError(f"{place.text}: {plain(text)}: unknown table", remedy)


def _meaning(heading: str) -> dict[str, Any]:
    try:
        return tomllib.loads(heading)
    except (ValueError, RecursionError):
        return {}
