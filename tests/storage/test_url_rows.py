"""Different URLs whose keys are equal never take each other's place."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import pytest

from parcahyd.core.life_cycle import Reason, State
from parcahyd.core.records import ExternRecord
from parcahyd.storage.tables import sites, urls
from tests.storage.desk import REVISIT, Desk

A = "http://a.example"
TOP = 2**63 - 1


def few_keys(path: str) -> int:
    """Keys of which many are equal, up to the very last one."""
    return TOP - len(path) % 2


@pytest.fixture
def crowded(empty_database: str) -> Iterator[Desk]:
    desk = Desk(empty_database, few_keys)
    yield desk
    assert [finding for finding in desk.findings() if finding.kind != "key"] == []
    desk.close()


def test_each_url_has_a_place_of_its_own(crowded: Desk) -> None:
    crowded.begin()
    crowded.seed(f"{A}/", f"{A}/seed")
    pair = crowded.visit()
    paths = tuple(f"/{number}" for number in range(10))
    crowded.write(crowded.page(pair, internal=paths))
    crowded.write(crowded.page(pair, "/seed", b"s", internal=(*paths, "/more")))
    crowded.store.store_extern([ExternRecord(pair.visit, 1, (f"{A}/9", f"{A}/new"))], crowded.now)
    crowded.over(pair)
    found = {row["path"]: row["key"] for row in crowded.rows(urls)}
    assert set(found) == {"/", "/seed", *paths, "/more", "/new"}
    assert len(set(found.values())) == len(found)
    assert min(found.values()) == -(2**63)  # after the highest key comes the lowest
    (site,) = crowded.rows(sites)
    assert site["urls"] == len(found)
    pair = crowded.visit()
    assert {(due.path, due.key) for due in pair.urls} == {(path, found[path]) for path in (*paths, "/more", "/new")}
    assert array("q", pair.known).tolist() == sorted(found.values())


def test_outcomes_go_to_the_right_url(crowded: Desk) -> None:
    crowded.begin()
    crowded.seed(f"{A}/")
    pair = crowded.visit()
    crowded.write(crowded.page(pair, internal=("/a", "/b", "/c", "/d")))
    # As a worker sends them that found the links itself: with the key that the path should have.
    crowded.write(crowded.page(pair, "/b", b"b", etag='"b"'), crowded.page(pair, "/d", b"d"), crowded.page(pair, "/e", b"e"))
    crowded.store.store_bad(
        [crowded.bad(pair, "/c", State.GONE, Reason.MISSING), crowded.bad(pair, "/f", reason=Reason.TLS)], crowded.now
    )
    crowded.over(pair)
    expected = {"": "stored", "a": "known", "b": "stored", "c": "gone missing", "d": "stored", "e": "stored", "f": "failed tls"}
    assert crowded.states() == {f"{A}/{path}": state for path, state in expected.items()}

    crowded.now += 2 * REVISIT
    crowded.begin()
    pair = crowded.visit()
    assert {due.path: due.etag for due in pair.urls}["/b"] == '"b"'
    crowded.write(crowded.unchanged(pair, "/b"), crowded.page(pair, "/d", b"changed"), crowded.redirect(pair, "/a", f"{A}/g"))
    rows = {row["path"]: row for row in crowded.rows(urls)}
    assert {path: (row["checks"], row["changes"]) for path, row in rows.items() if row["checks"] > 1} == {
        "/b": (2, 0),
        "/d": (2, 1),
    }
    assert rows["/g"]["state"] == State.KNOWN


def test_new_urls_of_one_batch_make_room_for_each_other(crowded: Desk) -> None:
    crowded.begin()
    crowded.seed(f"{A}/")
    pair = crowded.visit()
    crowded.write(*(crowded.page(pair, f"/{letter}", letter.encode(), internal=(f"/{letter}{letter}",)) for letter in "abcdef"))
    assert len({row["key"] for row in crowded.rows(urls)}) == 13
    crowded.seed(f"{A}/aa", f"{A}/zz")
    assert len(crowded.rows(urls)) == 14
    assert crowded.row("/aa")["seed"]
