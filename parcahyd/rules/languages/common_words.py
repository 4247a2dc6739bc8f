"""The commonest words of some languages: a tenth to a third of every text, so a few of them identify its language.

Tested in tests/rules/languages/test_common_words.py.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["COMMON_WORDS"]


def _read() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    words: set[str] = set()
    for line in Path(__file__).with_name("common_words.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            tag, colon, rest = line.partition(": ")
            words = found.setdefault(tag, set()) if colon else words
            words.update((rest if colon else line).split())
    return {tag: frozenset(words) for tag, words in found.items()}


COMMON_WORDS = _read()
"""By language tag, from `common_words.txt`."""
