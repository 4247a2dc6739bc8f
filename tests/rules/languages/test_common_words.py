"""The commonest words of some languages."""

from __future__ import annotations

from parcahyd.rules.languages.common_words import COMMON_WORDS


def test_each_language_has_words_in_lower_case_that_a_text_can_have() -> None:
    assert {"en", "de", "fr", "ru"} <= COMMON_WORDS.keys()
    for language, words in COMMON_WORDS.items():
        assert len(words) > 40, language
        assert all(word == word.lower() and word.replace("'", "").isalpha() for word in words), language
