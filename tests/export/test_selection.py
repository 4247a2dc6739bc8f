from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from parcahyd.core.errors import UserError
from parcahyd.core.states import State
from parcahyd.export.selection import Selection
from parcahyd.storage.reports.reader import Reader
from tests.storage.desk import Desk

A = "http://a.example"


def _selection(desk: Desk, **choice: Any) -> Selection:
    desk.begin()
    desk.seed(f"{A}/")
    with closing(Reader(desk.url)) as reader:
        return Selection(reader, **choice)


def _admits(selection: Selection, site: int = 1, at: float = 100.0, media_type: str = "text/html", path: str = "/") -> bool:
    return selection.admits(site, at, State.STORED, media_type, f"{A}{path}")


def test_without_a_choice_everything_is_chosen(desk: Desk) -> None:
    assert _admits(_selection(desk))


@pytest.mark.parametrize(
    ("choice", "refused"),
    [
        ({"site": "a.example"}, {"site": 2}),
        ({"since": 100.0}, {"at": 99.9}),
        ({"until": 100.0}, {"at": 100.1}),
        ({"types": ("image/*", "TEXT/html")}, {"media_type": "text/plain"}),
        ({"types": ("text/*",)}, {"media_type": ""}),
        ({"match": "*example/"}, {"path": "/x"}),
    ],
)
def test_each_choice_refuses_what_it_says(desk: Desk, choice: dict[str, Any], refused: dict[str, Any]) -> None:
    selection = _selection(desk, **choice)
    assert _admits(selection)
    assert not _admits(selection, **refused)


def test_a_state_is_that_of_the_url(desk: Desk) -> None:
    assert not _admits(_selection(desk, state="gone"))


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"site": "b.example"}, "b.example is not in this crawl"),
        ({"types": ("html",)}, '"html" is not a media type'),
        ({"match": "re:("}, "cannot be read"),
    ],
)
def test_what_cannot_be_chosen(desk: Desk, choice: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        _selection(desk, **choice)


def test_equal_choices_have_equal_words(desk: Desk) -> None:
    one = _selection(desk, types=("a/b", "c/d"))
    with closing(Reader(desk.url)) as reader:
        assert one.words == Selection(reader, types=("c/d", "a/b")).words
        assert one.words != Selection(reader, types=("c/d",)).words
