"""All summarizers as one: finds who reads a document's format, and answers for what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from parcahyd.core.documents import Summarizer, Summary
from parcahyd.formats.choosing import Choice
from parcahyd.formats.misconduct import Misconduct
from parcahyd.formats.summaries import bounded

__all__ = ["Summarizers"]


class Summarizers:
    """Asks those that read a format, in turn, until one has a summary. Never raises."""

    def __init__(self, plugins: Iterable[tuple[str, Summarizer]], report: Callable[[str], None]) -> None:
        self._choice = Choice(plugins)
        self._misconduct = Misconduct("summarizer", report)

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
                self._misconduct.raised(name, error)
                continue
            self._misconduct.told(name, f"returned {type(summary).__name__}, not a Summary")
        return None
