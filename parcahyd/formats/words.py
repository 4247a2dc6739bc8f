"""What the words of a text tell: its language, and which of them it is about.

The commonest words of a language are a tenth to a third of every text in it, so a handful of them tells the language; they
are also those that no text is about. Scripts that only one language uses tell it without words.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from parcahyd.core.documents import MAX_KEYWORDS

__all__ = ["frequent_words", "language_of"]

_READ = 50_000
_ENOUGH = 4
_CLEARLY = 1.4


def _common_words() -> dict[str, frozenset[str]]:
    """By language, from `common_words.txt`."""
    found: dict[str, set[str]] = {}
    words: set[str] = set()
    for line in Path(__file__).with_name("common_words.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            tag, colon, rest = line.partition(": ")
            words = found.setdefault(tag, set()) if colon else words
            words.update((rest if colon else line).split())
    return {tag: frozenset(words) for tag, words in found.items()}


_STOP = _common_words()
_STOP_ALL = frozenset().union(*_STOP.values())
_LANGUAGES: dict[str, tuple[str, ...]] = {
    word: tuple(language for language, words in _STOP.items() if word in words) for word in _STOP_ALL
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
