"""Pages with a clock: what changes on most visits makes no new version, and nothing that was stored is lost."""

from __future__ import annotations

import gzip
import random
import zlib
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.storage import change_learning, pages
from parcahyd.storage.schema import documents, exchanges, fetches, learned, links, volatile
from tests.storage.desk import REVISIT, Desk

A = "http://a.example"
_WORDS = b" ".join(b"%x" % random.Random(number).getrandbits(64) for number in range(200))


def _clock(time: int, text: bytes = b"Kettles of copper", more: bytes = b"") -> bytes:
    body = b"<html><body><h1>%b</h1><p>It is <b>%02d:%02d:%02d</b> now.</p>" % (text, time // 3600, time // 60 % 60, time % 60)
    return body + b"<p>" + _WORDS + b"</p>" + more + b"</body></html>"


class _Visits:
    """A page that is visited again and again."""

    def __init__(self, desk: Desk, **work: Any) -> None:
        self.desk = desk
        self.work = work
        self.stored: list[tuple[float, bytes]] = []
        """The versions that were stored, with their times."""
        desk.begin(**work)
        desk.seed(f"{A}/")

    def bring(self, body: bytes, **more: Any) -> bool:
        """Whether it is stored as a new version."""
        if self.stored:
            self.desk.now += 40 * REVISIT
            self.desk.begin(**self.work)
        pair = self.desk.visit()
        written = self.desk.write(self.desk.page(pair, "/", body, **more))
        self.desk.over(pair)
        if written.stored:
            self.stored.append((self.desk.now, body))
        return bool(written.stored)

    def confirm(self) -> None:
        self.desk.now += 40 * REVISIT
        self.desk.begin(**self.work)
        pair = self.desk.visit()
        self.desk.write(self.desk.unchanged(pair))
        self.desk.over(pair)

    def check(self, keep: int = 3) -> None:
        """Every stored version that is kept is there, byte for byte."""
        for at, body in self.stored[-keep:]:
            document = self.desk.reports.document(f"{A}/", at)
            assert document is not None
            assert document.body == body
        assert len(self.desk.rows(fetches)) == min(keep, len(self.stored))


def test_a_clock_makes_no_versions(desk: Desk) -> None:
    visits = _Visits(desk)
    assert [visits.bring(_clock(1000 + 61 * number)) for number in range(10)] == [True, True] + [False] * 8
    visits.check()
    row = desk.row("/")
    assert (row["checks"], row["changes"], row["changed_at"]) == (10, 1, visits.stored[-1][0])
    assert row["checked_at"] == desk.now
    details = desk.reports.url_details(f"{A}/")
    assert details is not None
    assert details.volatile_places == 1


def test_an_answer_that_differs_in_learned_places_is_not_on_record_as_the_same_bytes(desk: Desk) -> None:
    """Its own bytes are not kept, so an archive could only say that the version came again."""
    visits = _Visits(desk, KeepChecks=9)
    assert [visits.bring(_clock(time)) for time in (1000, 1061, 1122)] == [True, True, False]
    assert desk.rows(exchanges) == []
    assert not visits.bring(visits.stored[-1][1])
    assert [(row["fetch_id"], row["at"]) for row in desk.rows(exchanges)] == [(desk.row("/")["fetch_id"], desk.now)]


def test_a_clock_does_not_raise_the_rate_of_change(desk: Desk) -> None:
    visits = _Visits(desk)
    for number in range(8):
        visits.bring(_clock(1000 + 61 * number))
    with_clock = desk.row("/")
    desk.clear()
    visits = _Visits(desk)
    for number in range(8):
        visits.bring(_clock(1000 + 61 * min(number, 1)))
    without = desk.row("/")
    names = ("due_at", "change_weight", "change_span", "change_restless", "checks", "changes")
    assert {name: with_clock[name] for name in names} == {name: without[name] for name in names}


def test_a_change_beside_the_clock_is_stored(desk: Desk) -> None:
    visits = _Visits(desk)
    for number in range(4):
        visits.bring(_clock(1000 + 61 * number))
    assert visits.bring(_clock(2000, b"Kettles of iron"))
    assert not visits.bring(_clock(3000, b"Kettles of iron"))
    assert visits.bring(_clock(4000, b"Kettles of iron", b"<p>And of tin</p>"))
    visits.check()
    assert desk.row("/")["changes"] == 3
    newest = desk.row("/")["fetch_id"]
    assert [row["fetch_id"] for row in desk.rows(learned)] == [newest]  # what older ones taught is in it


def test_a_place_that_settles_is_part_of_the_page_again(desk: Desk) -> None:
    visits = _Visits(desk)
    for number in range(4):
        visits.bring(_clock(1000 + 61 * number))
    # It stays at what it is now, which is not what is stored: sooner or later that is a version.
    settled = _clock(5000)
    assert any(visits.bring(settled) for _ in range(8))
    assert visits.stored[-1][1] == settled
    visits.check()


def test_confirmations_count_as_visits_without_a_change(desk: Desk) -> None:
    visits = _Visits(desk)
    visits.bring(_clock(1000))
    visits.bring(_clock(1061))
    assert len(desk.rows(learned)) == 1
    for _ in range(8):
        visits.confirm()
    assert desk.rows(learned) == []  # It does not change on most visits.
    assert visits.bring(_clock(1122))
    visits.check()


def test_the_same_bytes_count_as_a_visit_without_a_change(desk: Desk) -> None:
    visits = _Visits(desk)
    visits.bring(_clock(1000))
    visits.bring(_clock(1061))
    for _ in range(3):
        assert not visits.bring(_clock(1061))
    assert visits.bring(_clock(1122))  # one change in five visits, until now
    visits.check()


def test_a_page_that_was_long_the_same_has_changed(desk: Desk) -> None:
    visits = _Visits(desk)
    for _ in range(5):
        visits.bring(_clock(1000))
    assert visits.bring(_clock(1061))
    assert visits.bring(_clock(1122))
    visits.check()


def test_two_versions_are_one_skeleton(desk: Desk) -> None:
    visits = _Visits(desk)
    visits.bring(_clock(1000), links=b"a\t/x\n")
    visits.bring(_clock(1061), links=b"a\t/x\n")
    (document,) = desk.rows(documents)
    skeleton = zlib.decompress(document["body"])
    assert len(skeleton) < len(_clock(1000))
    assert (document["df"], document["sha256"], document["length"]) == (*fingerprint(skeleton), len(skeleton))
    assert {row["id"] for row in desk.rows(volatile)} == {""}
    assert [fetch["document_id"] for fetch in desk.rows(fetches)] == [document["id"]] * 2
    assert [table["document_id"] for table in desk.rows(links)] == [document["id"]]
    visits.check()
    details = desk.reports.url_details(f"{A}/")
    assert details is not None
    assert [version.only_regions for version in details.fetches] == [False, False]  # no author marked any


def test_what_another_url_needs_stays_whole(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{A}/2")
    pair = desk.visit()
    desk.write(desk.page(pair, "/", _clock(1000)), desk.page(pair, "/2", _clock(1000)))
    desk.over(pair)
    desk.now += 40 * REVISIT
    desk.begin()
    pair = desk.visit()
    desk.write(desk.page(pair, "/", _clock(1061)))
    assert {zlib.decompress(document["body"]) for document in desk.rows(documents)} == {_clock(1000), _clock(1061)}
    assert desk.rows(volatile) == []


@pytest.mark.parametrize("work", [{"MergeMode": "eager"}, {"KeepVersions": 1}])
def test_where_versions_are_whole(desk: Desk, work: dict[str, Any]) -> None:
    visits = _Visits(desk, **work)
    assert [visits.bring(_clock(1000 + 61 * number)) for number in range(4)] == [True, True, False, False]
    assert desk.rows(volatile) == []
    visits.check(work.get("KeepVersions", 3))


def test_nothing_is_learned_where_that_is_not_wanted(desk: Desk) -> None:
    visits = _Visits(desk, LearnRegions=False)
    assert all(visits.bring(_clock(1000 + 61 * number)) for number in range(4))
    assert desk.rows(learned) == desk.rows(volatile) == []
    visits.check()


def test_what_was_learned_is_not_believed_of_a_version_that_came_since(desk: Desk) -> None:
    visits = _Visits(desk)
    for number in range(3):
        visits.bring(_clock(1000 + 61 * number))
    visits.work = {"LearnRegions": False}
    assert visits.bring(_clock(2000, b"Kettles of iron"))
    visits.work = {}
    assert visits.bring(_clock(3000))  # copper again
    visits.check()


@pytest.mark.parametrize("kind", ["image/png", "application/pdf"])
def test_only_text_is_compared(desk: Desk, kind: str) -> None:
    visits = _Visits(desk)
    assert all(visits.bring(_clock(1000 + 61 * number), media_type=kind) for number in range(3))
    assert desk.rows(learned) == []


def test_only_pages_of_some_size_are_compared(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_learning, "PAGE_BYTES", 1000)
    visits = _Visits(desk)
    assert all(visits.bring(_clock(1000 + 61 * number)) for number in range(3))
    assert desk.rows(learned) == []


def test_only_so_much_is_compared_in_one_transaction(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "BATCH_BYTES", len(_clock(0)) + 1)
    desk.begin()
    paths = [f"/{number}" for number in range(3)]
    desk.seed(*(f"{A}{path}" for path in paths))
    for time in (1000, 2000):
        desk.now += 40 * REVISIT
        desk.begin()
        pair = desk.visit()
        desk.write(*(desk.page(pair, path, _clock(time, path.encode())) for path in paths))
        desk.over(pair)
    assert len(desk.rows(learned)) == 1
    assert len(desk.rows(fetches)) == 6


@settings(max_examples=40, deadline=None)
@given(
    visits=st.lists(
        st.tuples(
            st.integers(0, 4), st.sampled_from([b"copper", b"iron"]), st.sampled_from([b"", b"<p>tin</p>"]), st.booleans()
        ),
        min_size=2,
        max_size=9,
    ),
    keep=st.integers(1, 4),
)
def test_whatever_comes_every_stored_version_is_exact(
    sqlite_desk: Desk, visits: list[tuple[int, bytes, bytes, bool]], keep: int
) -> None:
    sqlite_desk.clear()
    page = _Visits(sqlite_desk, KeepVersions=keep)
    for time, text, more, is_confirmed in visits:
        if is_confirmed and page.stored:
            page.confirm()
        else:
            page.bring(_clock(60 * time, text, more))
    page.check(keep)
    assert sqlite_desk.findings() == []


def test_versions_on_one_skeleton_keep_the_digests_of_what_was_sent(desk: Desk) -> None:
    bodies = [_clock(1000), _clock(1061)]
    sent = [gzip.compress(body) for body in bodies]
    visits = _Visits(desk)
    for body, coded in zip(bodies, sent, strict=True):
        assert visits.bring(coded, coding="gzip", decoded_length=len(body))
    (document,) = desk.rows(documents)
    assert (document["coding"], document["coded_sha256"]) == ("", None)
    assert [(row["coding"], row["coded_sha256"]) for row in desk.rows(fetches)] == [
        ("gzip", sha256(coded).digest()) for coded in sent
    ]
    visits.stored = [(at, body) for (at, _), body in zip(visits.stored, bodies, strict=True)]
    visits.check()
