"""The Recognizer, the Summarizers and the Expanders: which plugin reads a document, and what follows from its errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from parcahyd.core.documents import Expander, Member, Recognizer, Skipped, Summarizer, Summary
from parcahyd.formats.summaries import bounded
from parcahyd.rules.media_types.media_type import is_html, recognise
from parcahyd.rules.urls.canonical_url import clean_name

if TYPE_CHECKING:
    from parcahyd.config.schema import WorkConf

__all__ = [
    "Choice",
    "Expanders",
    "PluginErrors",
    "Recognise",
    "Summarizers",
    "recognizer_of",
]


class PluginErrors:
    """Complaints about plugins of one kind."""

    def __init__(self, kind: str, report: Callable[[str], None]) -> None:
        self._kind = kind
        self._report = report
        self._said: set[tuple[str, str]] = set()

    def raised(self, name: str, error: Exception) -> None:
        first = next(iter(str(error).splitlines()), "")[:200]
        self._tell(name, type(error).__name__, f"raised {type(error).__name__}" + (f": {first}" if first else ""))

    def told(self, name: str, what: str) -> None:
        self._tell(name, "", what)

    def _tell(self, name: str, kind: str, what: str) -> None:
        if (name, kind) not in self._said:
            self._said.add((name, kind))
            self._report(f'{self._kind} "{name}" {what}')


# --- Who is asked about a media type: the plugins that name it, strangers before the built-in ones ----------------------


class _WithTypes(Protocol):
    media_types: frozenset[str]


_Plugin = TypeVar("_Plugin", bound=_WithTypes)


class Choice(Generic[_Plugin]):
    """Plugins by what they say they read. The order in which they are given is the order in which they are asked."""

    def __init__(self, plugins: Iterable[tuple[str, _Plugin]]) -> None:
        self._by_type: dict[str, list[tuple[str, _Plugin]]] = {}
        for name, plugin in plugins:
            for media_type in plugin.media_types:
                self._by_type.setdefault(media_type, []).append((name, plugin))

    def for_type(self, media_type: str) -> list[tuple[str, _Plugin]]:
        """With their names: those for exactly this type, then for its suffix, then for everything of its kind."""
        kind, _, rest = media_type.partition("/")
        _, plus, suffix = rest.rpartition("+")
        found = self._by_type.get(media_type, [])
        if plus:
            found = found + self._by_type.get(f"+{suffix}", [])
        return found + self._by_type.get(f"{kind}/*", [])


# --- The Recognizer: the rule that looks at header and content, then whoever of the plugins knows better ----------------


Recognise = Callable[[str, bytes], tuple[str, str]]
"""Content-Type and body to media type and charset."""

_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,100}+/[a-z0-9!#$&^_.+-]{1,100}+").fullmatch


def recognizer_of(plugins: Mapping[str, Recognizer], report: Callable[[str], None]) -> Recognise:
    """The function that tells formats. Without plugins it is the rule itself, so nothing is added to a page's way.

    Plugins are asked in the order of their names, about everything that the rule does not take for HTML; the first answer
    counts. What they do wrong is told to `report`, once for each plugin and kind of mistake.
    """
    if not plugins:
        return recognise
    asked = sorted(plugins.items())
    misconduct = PluginErrors("recognizer", report)

    def recognise_with_plugins(content_type: str, body: bytes) -> tuple[str, str]:
        media_type, charset = recognise(content_type, body)
        if is_html(media_type):
            return media_type, charset
        for name, plugin in asked:
            try:
                answer = plugin.recognize(content_type, body, media_type)
            except Exception as error:
                misconduct.raised(name, error)
                continue
            if answer is None:
                continue
            if isinstance(answer, str) and _MEDIA_TYPE(answer):
                return answer, charset
            misconduct.told(name, f"gave {answer!r:.50}, not a media type")
        return media_type, charset

    return recognise_with_plugins


# --- All summarizers as one: finds who reads a document's format, and answers for what they do --------------------------


class Summarizers:
    """Asks those that read a format, in turn, until one has a summary. Never raises."""

    def __init__(self, plugins: Iterable[tuple[str, Summarizer]], report: Callable[[str], None]) -> None:
        self._choice = Choice(plugins)
        self._plugin_errors = PluginErrors("summarizer", report)

    def can_read(self, media_type: str) -> bool:
        """Whether it is worth asking."""
        return bool(self._choice.for_type(media_type))

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:
        """The summary, within its bounds; None where nobody has one. May block: call it from a thread, one at a time."""
        for name, summarizer in self._choice.for_type(media_type):
            try:
                summary = summarizer.summarize(body, media_type, charset, url)
                if summary is None:
                    continue
                if isinstance(summary, Summary):
                    return bounded(summary)
            except Exception as error:
                self._plugin_errors.raised(name, error)
                continue
            self._plugin_errors.told(name, f"returned {type(summary).__name__}, not a Summary")
        return None


# --- All expanders as one: finds who takes an archive apart, and holds them to the bounds -------------------------------


class Expanders:
    """Asks the first that names the format. Never raises; a plugin that does ends the archive there."""

    def __init__(self, plugins: Iterable[tuple[str, Expander]], conf: WorkConf, report: Callable[[str], None]) -> None:
        self._choice = Choice(plugins)
        self._conf = conf
        self._plugin_errors = PluginErrors("expander", report)

    def can_expand(self, media_type: str) -> bool:
        """Whether documents of this type are taken apart."""
        return bool(self._choice.for_type(media_type))

    def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]:
        """The members, each name once, each within MaxBytes, all within ExpandMembers and ExpandBytes."""
        for name, expander in self._choice.for_type(media_type)[:1]:
            seen: set[str] = set()
            left = self._conf.ExpandBytes
            members = self._asked(name, expander, body, media_type, url)
            for number, member in enumerate(members):
                # One more than the bound: an expander that keeps to it says so with its last word.
                if number > self._conf.ExpandMembers:
                    return
                left -= len(member.body)
                if left < 0:
                    yield Member("", skipped=Skipped.BYTES)
                    return
                yield self._checked(member, seen)

    def _asked(self, name: str, expander: Expander, body: bytes, media_type: str, url: str) -> Iterator[Member]:
        try:
            for member in expander.expand(body, media_type, url):
                if not isinstance(member, Member):
                    self._plugin_errors.told(name, f"gave {type(member).__name__}, not a Member")
                    return
                yield member
        except Exception as error:
            self._plugin_errors.raised(name, error)

    def _checked(self, member: Member, seen: set[str]) -> Member:
        name = clean_name(member.name)
        skipped = member.skipped
        if not skipped and len(member.body) > self._conf.MaxBytes:
            skipped = Skipped.SIZE
        if not skipped and (not name or name in seen):
            skipped = Skipped.DUPLICATE if name else Skipped.NAME
        seen.add(name)
        return (
            member
            if name == member.name and skipped == member.skipped
            else Member(name, b"" if skipped else member.body, skipped)
        )
