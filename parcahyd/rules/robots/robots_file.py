"""robots.txt by RFC 9309: which rules are ours, and what they say about a URL.

`rule_matcher` finds the rule that decides about a path. Here the lines are sorted into groups, and only the rules that are ours
are kept. So a file costs what its bytes cost, however many agents and rules it names:

- a group is ours if its agent is our product token, all of it, in any case; several such groups are one (section 2.2.1);
- if there is none, the groups for `*` are ours; a rule before the first agent does not count;
- no other record parts a group (section 2.2.4), so agents around a Sitemap or Crawl-delay line belong together.

The usual slips of authors are understood as the big engines do: a missing colon, a misspelt Disallow.
"""

from __future__ import annotations

import re

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import RobotsFact, RobotsStatus
from parcahyd.rules.politeness.backoff import LONGEST_WAIT, spread
from parcahyd.rules.robots.rule_matcher import Rule, RuleMatcher

__all__ = [
    "ALLOW_ALL",
    "MAX_ROBOTS",
    "MAX_WILDCARDS",
    "SCHEMES_WITH_ROBOTS",
    "Robots",
    "is_robots_path",
    "product_token",
    "redirect_again_at",
    "stale_robots",
]

MAX_ROBOTS = 500 * 1024
"""Bytes of a robots.txt that are read; the RFC asks for at least as many (section 2.5)."""
MAX_WILDCARDS = 5_000
"""Asterisks in our rules; each costs time for each URL. The most in a real file is 2,244. With more, nothing is allowed."""

SCHEMES_WITH_ROBOTS = frozenset(("http", "https", "ftp"))
"""Sites of other schemes are not asked for a robots.txt: no standard says at which path they could have one."""

_BYTE_ORDER_MARK = re.compile(rb"\xef\xbb\xbf|\xef\xbb(?!\xbf)|\xef(?!\xbb)")
_NO_TEXT = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f-\xff]")
_RECORD = re.compile(
    r"(?im)^[\t ]*+(?:(user-?agent|user[\t ]agent)|(dis+al+[oa]w|diasllow)|(allow)|(crawl[\t -]delay)|(sitemaps?|site-map))"
    r"(?:[\t ]*+:|(?=[\t ]))[\t ]*+([^#\n]*+)"
)
_AGENT, _DISALLOW, _ALLOW, _DELAY, _SITEMAP, _VALUE = range(1, 7)
_TOKEN = re.compile("[A-Za-z_-]+")
_COMPATIBLE = re.compile(r"Mozilla/[0-9.]+ \(compatible; *([A-Za-z_-]+)")
_LONGEST_DELAY = 10.0**9


def product_token(user_agent: str) -> str:
    """The name by which robots.txt knows a user agent: letters, `_` and `-` up to anything else (RFC 9309, section 2.2.1).

    One that poses as a browser, `Mozilla/5.0 (compatible; NAME/1.0)`, is known by its NAME.
    """
    if user_agent.startswith("Mozilla/") and (found := _COMPATIBLE.match(user_agent)):
        return found[1]
    token = _TOKEN.match(user_agent)
    return token[0] if token else ""


def is_robots_path(path: str) -> bool:
    """Whether a path with its query names a file that is called robots.txt.

    The robots.txt of one site may redirect to another site only to such a path. Otherwise any site could send us to any URL
    of any other site, whose own robots.txt nobody would have asked.
    """
    return path.endswith("/robots.txt") and "?" not in path


class Robots:
    """The rules of a site's robots.txt for one user agent."""

    __slots__ = ("_matcher", "crawl_delay", "rules", "sitemaps")

    def __init__(self, rules: tuple[Rule, ...], crawl_delay: float | None, sitemaps: tuple[str, ...]) -> None:
        if sum([rule.path.count("*") for rule in rules]) > MAX_WILDCARDS:
            rules = (Rule(False, "/", "more wildcards than are read"),)
        self.crawl_delay = crawl_delay
        """Seconds between two requests, where our group asks for it."""
        self.sitemaps = sitemaps
        """As they stand in the file; they count for every agent."""
        self.rules = rules
        """Those that count for us."""
        self._matcher = RuleMatcher(rules)

    @classmethod
    def parse(cls, text: bytes, user_agent: str) -> Robots:
        """Reads a robots.txt, whatever it holds: what is not understood is skipped, what is too long is cut at a line's end."""
        return _Reader(product_token(user_agent).lower()).read(_decoded(text))

    def without_rules(self) -> Robots:
        """The same file for one who does not obey it: only its delay and its sitemaps count."""
        return Robots((), self.crawl_delay, self.sitemaps)

    def allows(self, url: str) -> bool:
        """Whether the absolute, canonical URL may be requested; /robots.txt itself always may."""
        rule = self._matcher.deciding(_path_of(url))
        return rule is None or rule.allow or _path_of(url) == "/robots.txt"

    def line_for(self, url: str) -> str:
        """The rule that decides about the URL, for people: `Disallow: /private (line 3)`; empty where none does."""
        rule = self._matcher.deciding(_path_of(url))
        return "" if rule is None or rule.allow != self.allows(url) else f"{rule.record} ({rule.place})"


def _path_of(url: str) -> str:
    """The path and the query of an absolute URL."""
    start = url.find("/", url.find("://") + 3)
    return url[start:] if start >= 0 else "/"


def _decoded(text: bytes) -> str:
    """ASCII lines ended by LF. Other bytes become escapes: a path means its bytes whatever its encoding, and only CR and LF
    end a line, although Python knows more characters that do."""
    if len(text) > MAX_ROBOTS:
        cut = max(text.rfind(b"\n", 0, MAX_ROBOTS + 1), text.rfind(b"\r", 0, MAX_ROBOTS + 1))
        text = text[: max(cut, 0)]
    text = _BYTE_ORDER_MARK.sub(b"", text, count=1) if text[:1] == b"\xef" else text
    text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return _NO_TEXT.sub(lambda byte: b"%%%02X" % byte[0][0], text).decode("ascii")


class _Group:
    """The rules of all groups of one agent."""

    __slots__ = ("delay", "exists", "rules")

    def __init__(self) -> None:
        self.exists = False
        self.delay: float | None = None
        self.rules: dict[tuple[bool, str], Rule] = {}


class _Reader:
    """Sorts the lines of one file into those for us, those for all agents, and the rest."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._ours = _Group()
        self._everybodys = _Group()
        self._sitemaps: dict[str, None] = {}

    def read(self, text: str) -> Robots:
        current: set[_Group] = set()
        agents_end = True
        line = counted = 0
        for record in _RECORD.finditer(text):
            line += text.count("\n", counted, record.start())
            counted = record.start()
            kind = next(group for group in range(1, _VALUE) if record[group])
            value = record[_VALUE].strip()
            if kind == _AGENT:
                current = (set() if agents_end else current) | self._named(value)
                agents_end = False
            elif kind == _SITEMAP:
                self._sitemaps[value] = None
            elif kind == _DELAY:
                for group in current:
                    group.delay = _seconds(value) if group.delay is None else group.delay
            else:
                agents_end = True
                for group in current:
                    group.rules.setdefault((kind == _ALLOW, value), Rule(kind == _ALLOW, value, f"line {line + 1}"))
        group = self._ours if self._ours.exists else self._everybodys
        self._sitemaps.pop("", None)
        return Robots(tuple(group.rules.values()), group.delay, tuple(self._sitemaps))

    def _named(self, agent: str) -> set[_Group]:
        if agent == "*" or agent[:2] in ("* ", "*\t"):
            group = self._everybodys
        elif self._token and (token := _TOKEN.match(agent)) and token[0].lower() == self._token:
            group = self._ours
        else:
            return set()
        group.exists = True
        return {group}


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _LONGEST_DELAY else None


ALLOW_ALL = Robots((), None, ())
"""Where there is no robots.txt."""


# --- A robots.txt that cannot be read: what that means, and when it is tried again where it lies on another site --------


def stale_robots(fact: RobotsFact, before: RobotsFact | None, work: WorkConf) -> RobotsFact:
    """What a robots.txt that cannot be read means: nothing is allowed, but not for ever (RFC 9309, section 2.3.1.4).

    After RobotsPatience the last copy counts for a while, or, if there never was one, everything is allowed.
    """
    since = (before.failing_since if before is not None else 0.0) or fact.fetched_at
    if fact.fetched_at - since < work.RobotsPatience:
        return msgspec.structs.replace(fact, failing_since=since)
    text = before.text if before is not None else b""
    delay = before.delay if before is not None else 0.0
    detail = f"not read for {(fact.fetched_at - since) / 86400:.0f} days: {fact.detail}"
    return RobotsFact(RobotsStatus.STALE, text, fact.fetched_at, fact.fetched_at + work.RobotsTtl, detail, since, delay)


def redirect_again_at(fact: RobotsFact, asker: int, work: WorkConf) -> float:
    """When a site asks again whose robots.txt lies on another site and could not be read there.

    It waits as long again as that has gone on, so the wait doubles: at least RetryDelay, at most a day.
    """
    waited = fact.fetched_at - fact.failing_since
    return fact.fetched_at + spread(min(max(waited, work.RetryDelay), LONGEST_WAIT), asker)
