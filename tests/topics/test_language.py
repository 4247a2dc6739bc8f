"""Whether words are in a language."""

from __future__ import annotations

import pytest

from parcahyd.topics.language import LANGUAGES, RIVALS, evidence, is_in_language

ENGLISH = "the kettle on the stove of our house was not for sale when we had been there to see it with them"
GERMAN = "der kessel auf dem herd war nicht zu verkaufen als wir dort waren und in the house of the rising sun ist es"
RUSSIAN = "чайник на плите не был продан когда мы там были и это was the end of the story with a kettle"
JAPANESE = "薬缶は売り物ではありません debian kernel やかんはストーブの上にあります the package はじめに"
NAMES = " ".join(f"smith{chr(97 + number % 26)}" for number in range(60))


def says(language: str, text: str) -> bool:
    words = text.encode().split()
    found = [sum(column) for column in zip(*map(evidence, words), strict=True)]
    return is_in_language(language, found, len(words))


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        *(("en", ENGLISH, True), ("en", GERMAN, False), ("en", RUSSIAN, False), ("en", JAPANESE, False), ("en", NAMES, False)),
        *(("de", GERMAN, True), ("de", ENGLISH, False), ("ru", RUSSIAN, True), ("ru", ENGLISH, False)),
    ],
)
def test_common_words_and_scripts_decide(language: str, text: str, expected: bool) -> None:
    assert says(language, text) is expected


def test_a_word_may_speak_for_several_languages() -> None:
    assert len(evidence(b"in")) == RIVALS
    assert {LANGUAGES[place] for place, there in enumerate(evidence(b"in")[:-1]) if there} == {"de", "en", "it", "nl"}
