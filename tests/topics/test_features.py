"""What a model looks at."""

from __future__ import annotations

from zlib import crc32

from parcahyd.topics.features import feature_numbers, url_words


def test_a_word_is_itself_and_its_pieces() -> None:
    assert feature_numbers(b"sport", False) == [crc32(b"sport")]
    assert feature_numbers(b"sport", True) == [crc32(word) for word in (b"sport", b"%<spo", b"%spor", b"%port", b"%ort>")]
    assert len(feature_numbers(b"a" * 31, True)) == 1
    assert len(feature_numbers(b"/sport", True)) == 1


def test_a_url_says_its_words_depth_end_and_owner() -> None:
    assert set(url_words("/~Smith/CS101/index.html")) == {
        *(b"/smith", b"/cs", b"/index", b"/html", b"/depth 2", b"/end index.html", b"/~", b"/~ 2")
    }
    assert set(url_words("/")) == {b"/depth 0", b"/end "}
    assert set(url_words("/a#member/of/archive")) == set(url_words("/a"))
    assert len(url_words("/" + "x/" * 5000)) < 10
