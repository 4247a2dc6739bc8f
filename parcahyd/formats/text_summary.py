"""The summary of plain text: its first line is the title."""

from __future__ import annotations

from parcahyd.core.documents import MAX_TEXT, Summary
from parcahyd.formats.summaries import first_line, summary
from parcahyd.rules.decoding import decode

__all__ = ["TextSummarizer"]


class TextSummarizer:
    """Everything of the type `text` that nobody knows better. It has no links: what is shown as text is meant as text."""

    media_types = frozenset(("text/*",))

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
        text = decode(body[: 4 * MAX_TEXT], charset)
        return summary(text, first_line(text) if media_type == "text/plain" else "")
