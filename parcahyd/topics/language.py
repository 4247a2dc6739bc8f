"""Whether words are in the language that a model was trained for, by the share of that language's common words (X13).

The paper asks for a share of common English words. Here the common words of other languages and words in other scripts count
against it, too: pages in other languages have English words on them.

Tested in tests/topics/test_language.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from parcahyd.rules.languages.common_words import COMMON_WORDS

__all__ = ["LANGUAGES", "RIVALS", "evidence", "is_in_language"]

LANGUAGES = tuple(sorted(COMMON_WORDS))
"""The languages that a model can be for."""
RIVALS = len(LANGUAGES) + 1
"""What is told apart: these languages, and other scripts than Latin."""

_LEAST_SHARE = 4
"""Percent of the words that are common ones of their language, at least: prose has some 30, lists of names 5."""
_COUNTED = 300
"""A text has so many different words before it has no further common ones to show."""
_OTHER_SCRIPT = 0xCE
"""In UTF-8, letters from Greek onwards begin with this byte or a greater one."""
_BYTES_OF_WORD = 12
"""Of a word in a script that has no spaces between words."""
_NOT_LATIN = frozenset(("ru", "uk"))

_NOTHING = (0,) * RIVALS


def _evidence_of_common_words() -> dict[bytes, tuple[int, ...]]:
    common = {word for words in COMMON_WORDS.values() for word in words}
    return {word.encode(): (*(int(word in COMMON_WORDS[language]) for language in LANGUAGES), 0) for word in common}


_COMMON = _evidence_of_common_words()


def evidence(word: bytes) -> tuple[int, ...]:
    """Which of the RIVALS a word speaks for, and how much."""
    found = _COMMON.get(word, _NOTHING)
    if word.isascii() or max(word) < _OTHER_SCRIPT:
        return found
    return (*found[:-1], 1 + len(word) // _BYTES_OF_WORD)


def is_in_language(language: str, found: Sequence[int], words: int) -> bool:
    """Whether a text is in a language, by the evidence of all its words together, and how many they are."""
    own = found[LANGUAGES.index(language)]
    rivals = found[:-1] if language in _NOT_LATIN else found
    return own * 100 >= _LEAST_SHARE * min(words, _COUNTED) and own >= max(rivals)
