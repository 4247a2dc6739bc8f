"""Letters are taken in exactly once, whatever is lost or killed, and a URL that cannot be stored holds up no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from parcahyd.cluster.letters import URLS, url_bodies
from parcahyd.core.errors import LeaseLost, RecordRefusal, StoreFailure
from parcahyd.storage.store import Store
from tests.cluster.hub_desk import HubDesk, lose_commit, retried
from tests.cluster.partition_pair import Pair, PartitionDesk

B = "http://b1.example"


@pytest.fixture
def pair(desk: HubDesk) -> Iterator[Pair]:
    pair = Pair(desk)
    yield pair
    pair.close()


@pytest.fixture
def second(pair: Pair) -> PartitionDesk:
    return pair.desks[1]


def _post(pair: Pair, *paths: str) -> None:
    """A letter to the second partition with these URLs."""
    (body,) = url_bodies([(f"{B}{path}", 1, 0, False, "", 1, None) for path in paths])
    pair.hub.change("INSERT INTO parcahyd_hub.mail (partition, kind, routing, body) VALUES (1, %s, 0, %s)", URLS, body)


def _traces(pair: Pair) -> list[tuple[Any, ...]]:
    """They change with every row that is written or locked."""
    return pair.hub.rows(
        "SELECT p.xmax::text, s.xmin::text, s.xmax::text, s.batch FROM parcahyd_hub.partitions p"
        " JOIN parcahyd_hub.states s ON s.partition = p.id WHERE p.id = 1"
    )


def test_looking_for_letters_in_vain_writes_nothing(pair: Pair, second: PartitionDesk) -> None:
    before = _traces(pair)
    statements = second.statements
    for _ in range(3):
        letters = second.exchange()
        assert (letters.taken, letters.has_new_work, letters.kept, letters.has_more) == (0, False, 0, False)
    assert _traces(pair) == before
    assert second.statements - statements == 3, "one statement each"
    _post(pair, "/1")
    assert second.exchange().taken == 1
    assert _traces(pair) != before


def test_letters_bring_work(pair: Pair, second: PartitionDesk) -> None:
    assert second.idle()
    _post(pair, "/1")
    letters = second.exchange()
    assert (letters.taken, letters.has_new_work, letters.has_more) == (1, True, True)
    assert second.noted("idle_since") is None
    _post(pair, "/1")
    assert not second.exchange().has_new_work, "it is known"


@pytest.mark.parametrize("commits", [True, False], ids=["committed", "not committed"])
def test_a_lost_answer_takes_each_letter_in_once(pair: Pair, second: PartitionDesk, commits: bool) -> None:
    _post(pair, "/1", "/2")
    lose_commit(second.writer, commits=False)  # What only looked is repeated by its caller.
    with pytest.raises(StoreFailure):
        second.exchange()
    lose_commit(second.writer, commits=commits, after=1)
    if commits:
        assert second.exchange().taken == 1
    else:
        with pytest.raises(StoreFailure):
            second.exchange()
        assert len(pair.mail()) == 1
        assert second.exchange().taken == 1
    assert (second.states(), pair.mail()) == ({f"{B}/1": "known", f"{B}/2": "known"}, [])
    assert second.exchange().taken == 0


@pytest.mark.parametrize("statement", range(2, 16, 2))
def test_a_failure_anywhere_leaves_the_letter(pair: Pair, second: PartitionDesk, statement: int) -> None:
    _post(pair, "/1", "/2")
    heal = second.fail_at(statement)
    with pytest.raises(StoreFailure):
        second.exchange()
    heal()
    assert (second.states(), len(pair.mail())) == ({}, 1)
    second.exchange()
    assert (len(second.states()), pair.mail()) == (2, [])
    assert second.findings() == []


def test_who_lost_the_partition_takes_nothing_in(pair: Pair, second: PartitionDesk) -> None:
    _post(pair, "/1")
    taker = second.take_over()
    with pytest.raises(LeaseLost):
        retried(second.exchange)
    assert len(pair.mail()) == 1
    taker.begin_run(pair.run)
    assert taker.exchange_all() == 1
    assert taker.states() == {f"{B}/1": "known"}
    taker.close()


def test_a_store_that_stops_half_way_leaves_its_letters_to_the_next(pair: Pair, second: PartitionDesk) -> None:
    """It has stored what the letter says and has not committed when its partition is taken, and then goes on."""
    _post(pair, "/1")
    with pytest.raises(StoreFailure), second.writer.transaction():  # noqa: PT012 (it fails at its end)
        second.partition._incoming._take_in(second.partition._mailbox.read(9), second.now)
        taker = second.take_over()
    with pytest.raises(LeaseLost):
        second.partition.follow_scope(second.now)
    taker.begin_run(pair.run)
    assert taker.exchange_all() == 1
    assert (taker.states(), pair.mail()) == ({f"{B}/1": "known"}, [])
    taker.close()


def _refuse(monkeypatch: pytest.MonkeyPatch, path: str) -> list[int]:
    """The database refuses a URL; gives how many URLs each try had."""
    right, tries = Store.take_in, []

    def take_in(self: Store, mail: Any, now: float) -> bool:
        tries.append(len(mail.urls))
        found = right(self, mail, now)
        if any(url[0].endswith(path) for url in mail.urls):
            raise RecordRefusal("planted")
        return found

    monkeypatch.setattr(Store, "take_in", take_in)
    return tries


def test_a_url_that_cannot_be_stored_is_given_up_and_no_other(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = _refuse(monkeypatch, "/poison")
    second = PartitionDesk(pair.hub, 1)  # Another tree, which takes in as it was just told.
    second.begin_run(pair.run)
    for number in range(5):
        _post(pair, f"/before{number}")
    _post(pair, "/1", "/2", "/poison", "/3")
    for number in range(5):
        _post(pair, f"/after{number}")
    given_up = 0
    while (letters := second.exchange()).has_more:
        given_up += letters.given_up
    assert given_up == 1
    assert len(tries) < 40
    paths = {url.removeprefix(B) for url in second.states()}
    assert paths == {"/1", "/2", "/3", *(f"/{when}{number}" for when in ("before", "after") for number in range(5))}
    assert pair.mail() == []
    assert second.idle() is False
    second.close()


def test_a_letter_that_cannot_be_read_is_given_up(pair: Pair, second: PartitionDesk) -> None:
    pair.hub.change("INSERT INTO parcahyd_hub.mail (partition, kind, routing, body) VALUES (1, 'urls', 0, %s)", b"\xc1")
    _post(pair, "/1")
    letters = second.exchange()
    assert (letters.taken, letters.given_up) == (2, 1)
    assert second.states() == {f"{B}/1": "known"}


def test_a_refusal_without_letters_is_told(pair: Pair, second: PartitionDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    _post(pair, "/1")

    def refuse(*_: object) -> int:
        raise RecordRefusal("planted")

    monkeypatch.setattr(second.partition._mailbox, "relay", refuse)
    with pytest.raises(RecordRefusal):
        second.exchange()
