"""Which URLs have one template, and how often the segments of a path repeat."""

from __future__ import annotations

import pytest

from parcahyd.rules.traps.url_shapes import names_of, numbered, repeats, template


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/about", "/about"),
        ("/item-17.html", "/item-0.html"),
        ("/2031-05-12/notes", "/0/notes"),
        ("/search?q=a&page=2", "/search?q&page"),
        ("/search?", "/search?"),
        ("/b/a/b", "/a/b"),
        ("/a/b/a/b/", "/a/b"),
    ],
)
def test_the_template_of_a_path(path: str, expected: str) -> None:
    assert template(path) == expected


def test_a_number_goes_to_the_end_of_its_word() -> None:
    assert numbered("/3fa9c0de/x_7~b/v.1") == "/0/x_0/v.0"


def test_the_names_of_a_query_keep_their_order() -> None:
    assert names_of("b=1&a&b=2=3") == ["b", "a", "b"]


def test_numbers_do_not_count_as_repeated() -> None:
    assert repeats(["a", "b", "a", "a"]) == 2
    assert repeats(["1", "1", "1", "11.png"]) == 0
