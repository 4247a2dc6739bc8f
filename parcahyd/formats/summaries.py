"""How the parts of a summary are put into shape, for every summarizer alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from parcahyd.core.documents import MAX_HEADINGS, MAX_KEYWORDS, MAX_LINKS, MAX_TEXT, MAX_TITLE, MAX_WORD, Summary
from parcahyd.formats.words import frequent_words, language_of
from parcahyd.rules.brief import language_tag, one_line
from parcahyd.rules.canonical_url import Joiner, canonical

__all__ = ["bounded", "first_line", "joined", "summary", "tidy"]

_LONGEST_LINK = 4000
_SPACES = re.compile(r"[^\S\n]++")
_LINES = re.compile(r" ?+\n\s*+")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def summary(
    text: str,
    title: str = "",
    language: str = "",
    *,
    keywords: str = "",
    links: Iterable[str] = (),
    headings: Iterable[str] = (),
) -> Summary:
    """A summary of what was found; language and keywords are looked for in the text where the document names none.

    `keywords` are as the document gives them, separated by commas or semicolons.
    """
    text = tidy(text)
    given = (one_line(word, MAX_WORD) for word in re.split("[,;]", keywords[:10_000]))
    return Summary(
        one_line(title[: 10 * MAX_TITLE], MAX_TITLE),
        language_tag(language[:100]) or language_of(text),
        text,
        tuple(islice(dict.fromkeys(word for word in given if word), MAX_KEYWORDS)) or frequent_words(text),
        tuple(islice(dict.fromkeys(links), MAX_LINKS)),
        tuple(islice((line for heading in headings if (line := one_line(heading[: 10 * MAX_TITLE], MAX_TITLE))), MAX_HEADINGS)),
    )


def first_line(text: str) -> str:
    """What serves as the title of a document that names none."""
    return next((line for line in text[:10_000].splitlines() if line.strip()), "")


def tidy(text: str) -> str:
    """The text with its lines but without other white space and control characters, cut to MAX_TEXT characters."""
    text = _UNPRINTABLE.sub(" ", text[: 4 * MAX_TEXT])
    return _LINES.sub("\n", _SPACES.sub(" ", text)).strip()[:MAX_TEXT].rstrip()


def joined(hrefs: Iterable[str], base: str) -> Iterable[str]:
    """The canonical absolute URLs of references, without those that lead nowhere. `base` is canonical."""
    base = canonical(base) or ""
    if not base:
        return
    joiner = Joiner(base)
    for href in islice(hrefs, MAX_LINKS):
        if href and len(href) <= _LONGEST_LINK:
            url = joiner.join(href)
            if url is not None and len(url) <= _LONGEST_LINK:
                yield url


def bounded(given: Summary) -> Summary:
    """A summary whose author may have forgotten the bounds, or the types."""
    return Summary(
        one_line(_text(given.title)[: 10 * MAX_TITLE], MAX_TITLE),
        language_tag(_text(given.language)[:100]),
        tidy(_text(given.text)),
        tuple(one_line(_text(word)[: 10 * MAX_WORD], MAX_WORD) for word in islice(given.keywords, MAX_KEYWORDS)),
        tuple(url for link in islice(given.links, MAX_LINKS) if (url := canonical(_text(link)[:_LONGEST_LINK])) is not None),
        tuple(one_line(_text(heading)[: 10 * MAX_TITLE], MAX_TITLE) for heading in islice(given.headings, MAX_HEADINGS)),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
