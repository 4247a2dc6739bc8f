from __future__ import annotations

from typing import Any

import pytest

from parcahyd.cli.not_on_record import no_document, no_exchange, not_in_crawl
from parcahyd.core.states import Reason, State
from tests.storage.conftest import desk, postgres_desk, sqlite_desk
from tests.storage.desk import Desk

__all__ = ["desk", "postgres_desk", "sqlite_desk"]

URL = "http://a.example/"


def _begun(desk: Desk) -> Any:
    desk.begin()
    desk.seed(URL)
    return desk.visit()


def test_a_url_that_was_never_seen() -> None:
    for error in (not_in_crawl(f"{URL}?a b"), no_document(f"{URL}?a b", None), no_exchange(f"{URL}?a b", None, [])):
        assert str(error) == f"{URL}?a b is not in this crawl (parcahyd explain '{URL}?a b' says whether it could be)"


def test_a_page_that_asks_not_to_be_kept(desk: Desk) -> None:
    desk.crawl(_begun(desk), reason="noindex")
    details = desk.reports.url_details(URL)
    assert "its page asks for that (noindex)" in str(no_document(URL, details))
    assert "its page asks not to be kept (noindex)" in str(no_exchange(URL, details, []))


@pytest.mark.parametrize(
    ("state", "reason", "words"),
    [
        (
            State.GONE,
            Reason.MISSING,
            "is on record: it is gone: missing (answers with an error are kept by runs with KeepErrors",
        ),
        (State.REFUSED, Reason.ROBOTS, f"nothing was exchanged with {URL}: it is refused (parcahyd explain {URL} says why)"),
    ],
)
def test_a_url_without_a_document(desk: Desk, state: State, reason: Reason, words: str) -> None:
    pair = _begun(desk)
    desk.store.store_bad([desk.bad(pair, "/", state, reason)], desk.now)
    details = desk.reports.url_details(URL)
    assert words in str(no_exchange(URL, details, []))
    assert f"no document is stored for {URL}: it is {state.word}" in str(no_document(URL, details))


def test_a_time_before_anything_was_stored(desk: Desk) -> None:
    desk.crawl(_begun(desk))
    found = desk.reports.history(URL)
    assert found is not None
    details = desk.reports.url_details(URL)
    assert 'the oldest is of 1970-01-12 13:46:40Z (use --at "1970-01-12 13:46:40Z")' in str(
        no_exchange(URL, details, found[1], 5.0)
    )
    assert "the oldest stored version is of 1970-01-12 13:46:40Z" in str(no_document(URL, details, 5.0))
