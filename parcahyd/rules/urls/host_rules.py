"""What counts for a host: the general settings, with the first [[Host]] rule that fits laid over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from parcahyd.config.schema import HostRule, WorkConf
from parcahyd.core.errors import ConfigurationError
from parcahyd.core.ports import GENERAL, RequestOptions

__all__ = ["HostRules", "HostSettings", "host_delays", "local_settings", "robots_warning", "without_secrets"]

_FROM_ENVIRONMENT = "env:"
_PROXIES = ("http://", "https://", "socks5://")

# A crawl sees millions of hosts, each for the length of a visit.
_MOST_KNOWN = 10_000


class HostSettings(msgspec.Struct, frozen=True):
    """The settings of one host, defaults applied. Hosts under one rule, and all under none, share one object."""

    delay: float
    connections: int
    max_rate: int
    """Bytes a second; 0: no limit."""
    user_agent: str
    """The one that robots.txt is read for."""
    headers: tuple[tuple[str, str], ...]
    """Of every request: User-Agent, Accept, and what the rule adds or replaces."""
    options: RequestOptions
    """GENERAL itself where nothing differs from it."""
    ignores_robots: bool = False
    """What robots.txt forbids is fetched all the same; its Crawl-delay and its sitemaps count."""


_HARMLESS = frozenset(("user-agent", "accept"))


def without_secrets(settings: HostSettings) -> HostSettings:
    """The same without cookies, credentials, and headers that a rule adds: for requests that must not carry a login."""
    options = msgspec.structs.replace(settings.options, credentials="", authentication="basic", cookies=False)
    headers = tuple([header for header in settings.headers if header[0].lower() in _HARMLESS])
    return msgspec.structs.replace(settings, headers=headers, options=GENERAL if options == GENERAL else options)


def local_settings(settings: HostSettings) -> HostSettings:
    """The same for documents of this machine: there is nobody who needs a pause, a proxy or a password."""
    return msgspec.structs.replace(settings, delay=0.0, options=GENERAL)


class HostRules:
    """Answers for every host with its settings. `environ` holds what `env:NAME` stands for, and is read once, here.

    ConfigurationError where a variable is missing; its value is in no message.
    """

    def __init__(self, work: WorkConf, environ: Mapping[str, str]) -> None:
        self._general = _settings(HostRule(Pattern="*"), work, environ, "")
        self._rules = [
            (_matcher(rule.Pattern), _settings(rule, work, environ, f'[[Host]] "{rule.Pattern}": ')) for rule in work.Host
        ]
        self._known: dict[tuple[str, int], HostSettings] = {}

    def of(self, host: str, port: int) -> HostSettings:
        """The settings of a host, as canonical URLs have it, on a port."""
        if not self._rules:
            return self._general
        known = self._known.get((host, port))
        return self._find(host, port) if known is None else known

    def _find(self, host: str, port: int) -> HostSettings:
        found = next((settings for fits, settings in self._rules if fits(host, port)), self._general)
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[host, port] = found
        return found


def host_delays(work: WorkConf) -> Callable[[str, int, float], float]:
    """The delay of a host on a port, given the one that its robots.txt asks for. Reads no environment variable."""
    rules = [(_matcher(rule.Pattern), work.HostDelay if rule.Delay is None else rule.Delay) for rule in work.Host]

    def delay_of(host: str, port: int, crawl_delay: float) -> float:
        configured = next((delay for fits, delay in rules if fits(host, port)), work.HostDelay)
        return max(configured, min(crawl_delay, work.MaxCrawlDelay))

    return delay_of


def robots_warning(work: WorkConf) -> str:
    """A sentence that names the hosts whose robots.txt the settings ignore; empty where there are none."""
    names = [rule.Pattern for rule in work.Host if rule.IgnoreRobots]
    return f"what robots.txt forbids is fetched from {', '.join(names)} (IgnoreRobots)" if names else ""


def _settings(rule: HostRule, work: WorkConf, environ: Mapping[str, str], where: str) -> HostSettings:
    def secret(key: str, text: str) -> str:
        return _from_environment(text, environ, f"{where}{key}")

    user_agent = rule.UserAgent or work.UserAgent
    headers = {"user-agent": ("User-Agent", user_agent), "accept": ("Accept", "*/*")}
    for name, value in (rule.Headers or {}).items():
        headers[name.lower()] = (name, secret("Headers", value))
    options = RequestOptions(
        proxy=_proxy(secret("Proxy", work.Proxy if rule.Proxy is None else rule.Proxy), f"{where}Proxy"),
        credentials=secret("Credentials", rule.Credentials or ""),
        authentication=(rule.Authentication or "basic") if rule.Credentials else "basic",
        verify_tls=rule.VerifyTls is not False,
        cookies=work.Cookies if rule.Cookies is None else rule.Cookies,
        http2=work.Http2 if rule.Http2 is None else rule.Http2,
    )
    return HostSettings(
        delay=work.HostDelay if rule.Delay is None else rule.Delay,
        connections=rule.Connections or work.HostConnections,
        max_rate=work.MaxHostRate if rule.MaxRate is None else rule.MaxRate,
        user_agent=user_agent,
        headers=tuple(headers.values()),
        options=GENERAL if options == GENERAL else options,
        ignores_robots=bool(rule.IgnoreRobots),
    )


def _from_environment(text: str, environ: Mapping[str, str], where: str) -> str:
    if not text.startswith(_FROM_ENVIRONMENT):
        return text
    name = text.removeprefix(_FROM_ENVIRONMENT)
    if name not in environ:
        raise ConfigurationError(f'{where}: the environment variable "{name}" is not set', f"export {name}")
    return environ[name]


def _proxy(proxy: str, where: str) -> str:
    # What a variable holds was not seen when the files were read. A proxy that resolves names would go past the address policy.
    if proxy and not proxy.startswith(_PROXIES):
        raise ConfigurationError(f"{where}: is not a proxy", f"it starts with {', '.join(_PROXIES)}")
    return proxy


def _matcher(pattern: str) -> Callable[[str, int], bool]:
    """Whether a host and port fit: `*` is any characters, `?` one. Linear in the host for each star."""
    name, port = _split(pattern.lower())
    first, *others = name.split("*")

    def fits(host: str, on: int) -> bool:
        if port and port != on:
            return False
        host = host.lower()
        if not others:
            return len(host) == len(first) and _agrees(first, host, 0)
        *middle, last = others
        if len(host) < len(first) + len(last) or not _agrees(first, host, 0):
            return False
        at, end = len(first), len(host) - len(last)
        for piece in middle:
            at = next((start + len(piece) for start in range(at, end - len(piece) + 1) if _agrees(piece, host, start)), -1)
            if at < 0:
                return False
        return _agrees(last, host, end)

    return fits


def _agrees(piece: str, host: str, start: int) -> bool:
    """Whether a piece without stars stands in the host at this place."""
    if "?" not in piece:
        return host.startswith(piece, start)
    part = host[start : start + len(piece)]
    return len(part) == len(piece) and all(one in ("?", other) for one, other in zip(piece, part, strict=True))


def _split(pattern: str) -> tuple[str, int]:
    name, colon, port = pattern.rpartition(":")
    return (name, int(port)) if colon and port.isdecimal() and not pattern.endswith("]") else (pattern, 0)
