"""A summarizer for Markdown: the first heading is the title, links are the inline ones, and marks are left out of the text.

Copy this file and give the copy and its summarizer names of their own. Nothing has to be set: all summarizers are in use, with
`Summaries = "full"` in WorkConf.toml.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from parcahyd.plugins import (
    MAX_HEADINGS,
    MAX_LINKS,
    MAX_TEXT,
    MAX_TITLE,
    Joiner,
    Summary,
    WorkConf,
    decode,
    hookimpl,
    one_line,
)

__all__ = ["MarkdownSummarizer", "parcahyd_summarizers"]

# Each of these gives nothing back once it has matched, so the time is linear whatever the document holds.
_HEADING = re.compile(r"^#{1,6}+[ \t]++([^\n]++)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^\s()<>]{1,2000}+)")
_MARKS = re.compile(r"[*_`#>]++|\]\([^\s()]*+\)|!?+\[")


class MarkdownSummarizer:
    """Reads `text/markdown`; other text stays with the built-in summarizer."""

    media_types = frozenset({"text/markdown", "text/x-markdown"})

    def __init__(self, _conf: WorkConf) -> None:
        """Nothing is configured."""

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
        source = decode(body[: 4 * MAX_TEXT], charset)
        headings = [
            one_line(_MARKS.sub("", found[1][: 2 * MAX_TITLE]), MAX_TITLE)
            for found in islice(_HEADING.finditer(source), MAX_HEADINGS)
        ]
        join = Joiner(url).join
        links = (join(found[1]) for found in islice(_LINK.finditer(source), MAX_LINKS))
        return Summary(
            title=headings[0] if headings else "",
            text=_MARKS.sub("", source)[:MAX_TEXT].strip(),
            links=tuple(dict.fromkeys(link for link in links if link is not None)),
            headings=tuple(headings[1:]),
        )


@hookimpl
def parcahyd_summarizers() -> dict[str, Callable[[WorkConf], MarkdownSummarizer]]:
    return {"markdown": MarkdownSummarizer}
