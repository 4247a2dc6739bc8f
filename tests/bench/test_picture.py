"""The picture of README.md: the words of a real crawl, as the display of today shows them."""

from __future__ import annotations

from bench.picture import PICTURE, STATES, picture, words


def test_the_picture_is_what_the_display_shows_today() -> None:
    recorded = STATES.read_text(encoding="utf-8").splitlines()
    kept = PICTURE.read_text(encoding="utf-8")
    assert words(kept) == words(picture(recorded)), "`make picture` draws it again"
    assert words(kept)[2:6] == recorded[0].split()[:4], "the command comes first"
    assert {"crawling", "left", "Done"} <= set(words(kept))


def test_the_picture_loads_nothing_from_elsewhere() -> None:
    kept = PICTURE.read_text(encoding="utf-8")
    assert "url(http" not in kept
    assert "@import" not in kept
