"""Makes summaries of what the summarizers found: clean text, bounds, language, keywords.

Tested in tests/formats/test_format_plugins.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from parcahyd.core.documents import MAX_HEADINGS, MAX_KEYWORDS, MAX_LINKS, MAX_TEXT, MAX_TITLE, MAX_WORD, Summary
from parcahyd.rules.html.encodings import decode
from parcahyd.rules.html.title_and_language import language_tag, one_line
from parcahyd.rules.languages.common_words import COMMON_WORDS
from parcahyd.rules.urls.canonical_url import Joiner, canonical

__all__ = [
    "TextSummarizer",
    "bounded",
    "first_line",
    "frequent_words",
    "joined",
    "language_of",
    "summary",
    "tidy",
]

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
    """A summary of what was found; language and keywords are derived from the text where the document names none.

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
    """The first line that is not empty: the title of a document that names none."""
    return next((line for line in text[:10_000].splitlines() if line.strip()), "")


def tidy(text: str) -> str:
    """The text with its lines but without other white space and control characters, cut to MAX_TEXT characters."""
    text = _UNPRINTABLE.sub(" ", text[: 4 * MAX_TEXT])
    return _LINES.sub("\n", _SPACES.sub(" ", text)).strip()[:MAX_TEXT].rstrip()


def joined(hrefs: Iterable[str], base: str) -> Iterable[str]:
    """The canonical absolute URLs of references, without invalid ones."""
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
    """A plugin's summary with wrong types removed and cut to the bounds."""
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


# --- Language and keywords of a text ------------------------------------------------------------------------------------
# The commonest words of a language are a tenth to a third of every text in it, so a few of them identify the language. They are
# never keywords. Scripts that only one language uses identify it without words.


_READ = 50_000
_ENOUGH = 4
_CLEARLY = 1.4


_STOP_ALL = frozenset().union(*COMMON_WORDS.values())
_LANGUAGES: dict[str, tuple[str, ...]] = {
    word: tuple(language for language, words in COMMON_WORDS.items() if word in words) for word in _STOP_ALL
}
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("hy", re.compile("[\u0530-\u058f]")),
    ("ka", re.compile("[\u10a0-\u10ff]")),
)
_WORDS = re.compile(r"[^\W\d_]++")
_CONTENT_WORDS = re.compile(r"[^\W\d_]{4,30}+(?!\w)")


def language_of(text: str) -> str:
    """The language that a text is most probably in, or nothing where that is not clear."""
    text = text[:_READ]
    if not text.isascii():
        for language, script in _SCRIPTS:
            if len(script.findall(text)) * 5 > len(text):
                return language
    counts = Counter(_WORDS.findall(text.lower()))
    scores: Counter[str] = Counter()
    for word in counts.keys() & _LANGUAGES.keys():
        for language in _LANGUAGES[word]:
            scores[language] += counts[word]
    best = scores.most_common(2)
    if not best or best[0][1] < _ENOUGH or best[0][1] * 20 < counts.total():
        return ""
    return best[0][0] if len(best) == 1 or best[0][1] >= best[1][1] * _CLEARLY else ""


def frequent_words(text: str) -> tuple[str, ...]:
    """The words that a text has most often and that say something, in lower case; equally frequent ones as they come."""
    counts = Counter(_CONTENT_WORDS.findall(text[:_READ].lower()))
    wanted = (word for word, count in counts.most_common(MAX_KEYWORDS * 10) if count > 1 and word not in _STOP_ALL)
    return tuple(word for word, _ in zip(wanted, range(MAX_KEYWORDS), strict=False))


# --- The summary of plain text: its first line is the title -------------------------------------------------------------


class TextSummarizer:
    """Every type `text/*` that no other summarizer reads. It has no links: URLs in plain text are not links."""

    media_types = frozenset(("text/*",))

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
        text = decode(body[: 4 * MAX_TEXT], charset)
        return summary(text, first_line(text) if media_type == "text/plain" else "")
