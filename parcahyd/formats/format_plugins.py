"""The Recognizer, the Summarizers and the Expanders: choose the plugin that reads a document, and handle its errors."""

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
    """Reports errors of plugins of one kind, each kind of error of a plugin once."""

    def __init__(self, kind: str, report: Callable[[str], None]) -> None:
        self._kind = kind
        self._report = report
        self._reported: set[tuple[str, str]] = set()

    def raised(self, name: str, error: Exception) -> None:
        first = next(iter(str(error).splitlines()), "")[:200]
        self._report_once(name, type(error).__name__, f"raised {type(error).__name__}" + (f": {first}" if first else ""))

    def returned_wrong(self, name: str, what: str) -> None:
        self._report_once(name, "", what)

    def _report_once(self, name: str, kind: str, what: str) -> None:
        if (name, kind) not in self._reported:
            self._reported.add((name, kind))
            self._report(f'{self._kind} "{name}" {what}')


# --- Which plugins are called for a media type: those that name it, third-party ones before built-in ones ---------------


class _WithTypes(Protocol):
    media_types: frozenset[str]


_Plugin = TypeVar("_Plugin", bound=_WithTypes)


class Choice(Generic[_Plugin]):
    """Plugins by the media types that they name, in the order in which they were given."""

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


# --- The Recognizer: the rule that reads header and content, then the plugins -------------------------------------------


Recognise = Callable[[str, bytes], tuple[str, str]]
"""Content-Type and body to media type and charset."""

_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,100}+/[a-z0-9!#$&^_.+-]{1,100}+").fullmatch


def recognizer_of(plugins: Mapping[str, Recognizer], report: Callable[[str], None]) -> Recognise:
    """The function that recognises formats. Without plugins it is the rule itself, so plugins cost nothing then.

    Plugins are called in the order of their names, for everything that the rule does not recognise as HTML; the first answer
    counts. Their errors are passed to `report`, once for each plugin and kind of error.
    """
    if not plugins:
        return recognise
    ordered = sorted(plugins.items())
    errors = PluginErrors("recognizer", report)

    def recognise_with_plugins(content_type: str, body: bytes) -> tuple[str, str]:
        media_type, charset = recognise(content_type, body)
        if is_html(media_type):
            return media_type, charset
        for name, plugin in ordered:
            try:
                answer = plugin.recognize(content_type, body, media_type)
            except Exception as error:
                errors.raised(name, error)
                continue
            if answer is None:
                continue
            if isinstance(answer, str) and _MEDIA_TYPE(answer):
                return answer, charset
            errors.returned_wrong(name, f"gave {answer!r:.50}, not a media type")
        return media_type, charset

    return recognise_with_plugins


# --- All summarizers as one ---------------------------------------------------------------------------------------------


class Summarizers:
    """Calls the summarizers of a format in turn until one returns a summary. Never raises."""

    def __init__(self, plugins: Iterable[tuple[str, Summarizer]], report: Callable[[str], None]) -> None:
        self._choice = Choice(plugins)
        self._plugin_errors = PluginErrors("summarizer", report)

    def can_read(self, media_type: str) -> bool:
        """Whether any summarizer reads this type."""
        return bool(self._choice.for_type(media_type))

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:
        """The summary, within its bounds; None where there is none. May block: call it from a thread, one at a time."""
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
            self._plugin_errors.returned_wrong(name, f"returned {type(summary).__name__}, not a Summary")
        return None


# --- All expanders as one -----------------------------------------------------------------------------------------------


class Expanders:
    """Calls the first expander that names the format, within bounds. Never raises; where a plugin raises, the archive ends."""

    def __init__(self, plugins: Iterable[tuple[str, Expander]], conf: WorkConf, report: Callable[[str], None]) -> None:
        self._choice = Choice(plugins)
        self._conf = conf
        self._plugin_errors = PluginErrors("expander", report)

    def can_expand(self, media_type: str) -> bool:
        """Whether any expander reads this type."""
        return bool(self._choice.for_type(media_type))

    def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]:
        """The members, each name once, each within MaxBytes, all within ExpandMembers and ExpandBytes."""
        for name, expander in self._choice.for_type(media_type)[:1]:
            seen: set[str] = set()
            left = self._conf.ExpandBytes
            members = self._members(name, expander, body, media_type, url)
            for number, member in enumerate(members):
                # One more than the bound is allowed: an expander's last member may say that the bound was reached.
                if number > self._conf.ExpandMembers:
                    return
                left -= len(member.body)
                if left < 0:
                    yield Member("", skipped=Skipped.BYTES)
                    return
                yield self._checked(member, seen)

    def _members(self, name: str, expander: Expander, body: bytes, media_type: str, url: str) -> Iterator[Member]:
        try:
            for member in expander.expand(body, media_type, url):
                if not isinstance(member, Member):
                    self._plugin_errors.returned_wrong(name, f"gave {type(member).__name__}, not a Member")
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
