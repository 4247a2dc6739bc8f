"""Hosts and addresses: both or neither, delays that hold when they change hands, and turns."""

from __future__ import annotations

import pytest

from parcahyd.cluster.subjects import Learned, sweep
from parcahyd.core.errors import HubWentBack
from tests.cluster.hub_desk import LEASE, TURN, HubDesk, Tree, want

HOST, ADDRESS = "host a.example", "address 192.0.2.1"
A = want("a.example")


def _rest(tree: Tree, desk: HubDesk, subject: str) -> float:
    return round(tree.claims.held[subject].usable_from - desk.now, 6)


def _release(tree: Tree, *rests: tuple[str, float]) -> None:
    tree.claims.release(dict(rests))


def test_a_new_subject_need_not_rest(desk: HubDesk) -> None:
    tree = desk.take(0)
    assert tree.claims.claim([A]).granted == [A]
    assert _rest(tree, desk, HOST) == _rest(tree, desk, ADDRESS) == 0.0


def test_both_or_neither(desk: HubDesk) -> None:
    first, second = desk.take(0), desk.take(1)
    first.claims.claim([A])
    decision = second.claims.claim([want("b.example")])
    assert decision.refused == {"b.example 192.0.2.1": [0]}
    assert second.claims.held == {}
    assert desk.rows("SELECT partition FROM parcahyd_hub.subjects WHERE subject = 'host b.example'") == [(None,)]


def test_the_next_owner_counts_what_is_left_of_the_delay(desk: HubDesk) -> None:
    first, second = desk.take(0), desk.take(1)
    first.claims.claim([A])
    _release(first, (HOST, 1.5), (ADDRESS, 0.25))
    desk.now += 500.0  # clocks of two machines have nothing to do with each other
    assert second.claims.claim([A]).granted == [A]
    assert (_rest(second, desk, HOST), _rest(second, desk, ADDRESS)) == (1.5, 0.25)


def test_a_stale_subject_rests_its_delay_and_a_tenth_of_the_lease(desk: HubDesk) -> None:
    desk.take(0).claims.claim([A])
    desk.end(0)
    second = desk.take(1)
    assert second.claims.claim([A]).granted == [A]
    assert (_rest(second, desk, HOST), _rest(second, desk, ADDRESS)) == (2.0 + LEASE / 10, 1.0 + LEASE / 10)


def test_a_learned_delay_counts_also_when_its_owner_dies(desk: HubDesk) -> None:
    first = desk.take(0)
    first.claims.claim([A])
    first.claims.learn([Learned(HOST, delay=30.0)])
    desk.end(0)
    second = desk.take(1)
    second.claims.claim([A])
    assert _rest(second, desk, HOST) == 30.0 + LEASE / 10


def test_a_long_pause_lengthens_the_wait_and_never_shortens_it(desk: HubDesk) -> None:
    first, second = desk.take(0), desk.take(1)
    first.claims.claim([A])
    hub_now = first.hub_time.now()
    first.claims.learn([Learned(HOST, hub_now + 100.0), Learned(ADDRESS, hub_now - 100.0)])
    _release(first, (HOST, 1.0), (ADDRESS, 1.0))
    second.claims.claim([A])
    assert 95.0 < _rest(second, desk, HOST) <= 101.0
    assert _rest(second, desk, ADDRESS) == 1.0


def test_subjects_of_an_earlier_life_rest_their_delay_once_more(desk: HubDesk) -> None:
    first = desk.take(0)
    first.claims.claim([A])
    _release(first, (HOST, 0.0), (ADDRESS, 0.0))
    desk.identity.restored()
    desk.identity.settle(desk.identity.read().identity)
    again, new = desk.take(0), want("b.example", "192.0.2.2")
    again.claims.claim([A, new])
    assert (_rest(again, desk, HOST), _rest(again, desk, ADDRESS)) == (2.0, 1.0)
    assert _rest(again, desk, "host b.example") == 2.0, "the row of a subject may have been lost"
    _release(again, (HOST, 0.0), (ADDRESS, 0.0))
    again.claims.claim([A])
    assert _rest(again, desk, HOST) == 0.0


def test_a_claim_whose_answer_was_lost_rests_as_it_should(desk: HubDesk) -> None:
    desk.take(0).claims.claim([A])
    desk.end(0)
    second = desk.take(1)
    second.claims.claim([A])
    second.claims.held.clear()  # as if the answer had never come
    second.claims.claim([A])
    assert _rest(second, desk, HOST) == 2.0 + LEASE / 10


def test_strays_are_freed_and_rest_as_before(desk: HubDesk) -> None:
    first, second = desk.take(0), desk.take(1)
    first.claims.claim([A])
    _release(first, (HOST, 1.5), (ADDRESS, 0.0))
    first.claims.claim([A])
    first.claims.held.clear()
    first.claims.release_strays()
    assert second.claims.claim([A]).granted == [A]
    assert _rest(second, desk, HOST) == 1.5


def test_a_subject_whose_release_was_not_answered_is_not_used(desk: HubDesk) -> None:
    tree = desk.take(0)
    tree.claims.claim([A])
    tree.claims.held[HOST].is_being_released = True
    assert tree.claims.claim([A]).granted == []
    _release(tree, (HOST, 1.0))
    assert tree.claims.claim([A]).granted == [A]


def test_a_hub_that_forgot_a_claim_ends_the_tree(desk: HubDesk) -> None:
    tree = desk.take(0)
    tree.claims.claim([A])
    desk.change("UPDATE parcahyd_hub.subjects SET partition = NULL, token = NULL, epoch = NULL")
    with pytest.raises(HubWentBack):
        tree.claims.claim([A])


def test_who_waits_gets_the_subject_next(desk: HubDesk) -> None:
    first, second = desk.take(0), desk.take(1)
    first.claims.claim([A])
    second.claims.claim([A])
    assert first.claims.to_yield() == set(), "its turn has just begun"
    desk.now += TURN
    assert first.claims.to_yield() == {HOST, ADDRESS}
    _release(first, (HOST, 0.0), (ADDRESS, 0.0))
    assert first.claims.claim([A]).refused == {A.pair: [1]}
    assert second.claims.claim([A]).granted == [A]
    assert desk.rows("SELECT DISTINCT partition FROM parcahyd_hub.waiters") == [(0,)]


def test_a_pair_that_waits_too_long_is_handed_back(desk: HubDesk) -> None:
    first, second = desk.take(0), desk.take(1)
    first.claims.claim([A])
    second.claims.claim([A])
    second.claims.claim([A])
    assert desk.rows("SELECT count(*) FROM parcahyd_hub.waiters") == [(2,)], "one ticket, however often it tries"
    second.claims.leave([A.pair])
    assert desk.rows("SELECT count(*) FROM parcahyd_hub.waiters") == [(0,)]


def test_free_subjects_are_swept_away_after_a_whole_round(desk: HubDesk) -> None:
    tree = desk.take(0)
    tree.claims.claim([A, want("b.example", "192.0.2.2")])
    _release(tree, (HOST, 0.0), (ADDRESS, 0.0))
    left = []
    for _ in range(3):
        with desk.hub.transaction():
            sweep(desk.hub)
        left.append(sorted(name for (name,) in desk.rows("SELECT subject FROM parcahyd_hub.subjects")))
    held = ["address 192.0.2.2", "host b.example"]
    assert left == [sorted([HOST, ADDRESS, *held]), held, held]


def test_stale_subjects_are_not_swept_away_before_they_have_rested(desk: HubDesk) -> None:
    desk.take(0).claims.claim([A])
    for _ in range(5):
        with desk.hub.transaction():
            sweep(desk.hub)
    desk.end(0)
    with desk.hub.transaction():
        sweep(desk.hub)
    assert len(desk.rows("SELECT subject FROM parcahyd_hub.subjects")) == 2


def test_what_was_learned_stays_with_the_subject(desk: HubDesk) -> None:
    first, second = desk.take(0), desk.take(1)
    first.claims.claim([A])
    first.claims.learn([Learned(HOST, delay=9.0, reason="crawl-delay", failures=2, facts=b"robots")])
    assert first.claims.held[HOST].delay == 9.0
    _release(first, (HOST, 0.0), (ADDRESS, 0.0))
    second.claims.claim([A])
    claimed = second.claims.held[HOST]
    assert (claimed.delay, claimed.reason, claimed.failures, claimed.facts) == (9.0, "crawl-delay", 2, b"robots")


def test_tickets_of_trees_that_are_gone_are_swept_away(desk: HubDesk) -> None:
    first, second = desk.take(0), desk.take(1)
    first.claims.claim([A])
    second.claims.claim([A])
    desk.end(1)
    with desk.hub.transaction():
        sweep(desk.hub)
    assert desk.rows("SELECT count(*) FROM parcahyd_hub.waiters") == [(0,)]
