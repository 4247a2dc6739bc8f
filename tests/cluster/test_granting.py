"""Who gets a pair of host and address: whoever has it, then the lowest ticket, and nobody for half of it."""

from __future__ import annotations

from parcahyd.cluster.granting import Decision, Owner, SubjectRow, Waiter, decide
from parcahyd.cluster.records import Want
from tests.cluster.hub_desk import want

ME, OTHER, THIRD = Owner(0, 5, 50), Owner(1, 6, 60), Owner(2, 7, 70)
BEATS = {ME: 10, OTHER: 20, THIRD: 30}
A, B = want("a"), want("b")


def _rows(owners: dict[str, Owner | None]) -> dict[str, SubjectRow]:
    return {
        subject: SubjectRow._make((subject, *(owner or (None, None, None)), 0.0, 0.0, 0.0, "", 0, None, 0))
        for subject, owner in owners.items()
    }


def _waiting(wanted: Want, ticket: int, owner: Owner, tried_at: int | None = None) -> list[Waiter]:
    tried = BEATS.get(owner, 0) if tried_at is None else tried_at
    return [Waiter(subject, ticket, *owner, wanted.pair, tried) for subject in wanted.delays]


def _decide(
    wants: list[Want], owners: dict[str, Owner | None], waiters: list[Waiter], yielding: tuple[str, ...] = ()
) -> Decision:
    return decide(wants, ME, _rows(owners), waiters, BEATS, yielding)


FREE: dict[str, Owner | None] = {"host a": None, "host b": None, "address 192.0.2.1": None}


def test_free_subjects_are_granted() -> None:
    assert _decide([A, B], FREE, []).granted == [A, B]


def test_half_a_pair_is_not_granted() -> None:
    decision = _decide([A], {**FREE, "host a": OTHER}, [])
    assert (decision.granted, decision.refused) == ([], {A.pair: [OTHER.partition]})


def test_what_one_has_is_granted_again() -> None:
    owners = {**FREE, "address 192.0.2.1": ME}
    assert _decide([A], owners, _waiting(B, 3, OTHER)).granted == [A]


def test_a_turn_that_is_over_is_not_prolonged() -> None:
    owners = {**FREE, "address 192.0.2.1": ME}
    assert _decide([A], owners, [], ("address 192.0.2.1",)).granted == []


def test_a_subject_of_a_tree_that_is_gone_is_free() -> None:
    gone = Owner(OTHER.partition, OTHER.epoch, OTHER.token + 1)
    same_token = Owner(OTHER.partition, OTHER.epoch - 1, OTHER.token)
    assert _decide([A], {**FREE, "host a": gone}, []).granted == [A]
    assert _decide([A], {**FREE, "host a": same_token}, []).granted == [A]


def test_a_subject_that_another_claim_has_locked_is_not_free() -> None:
    decision = _decide([A], {"host a": None}, [])
    assert (decision.granted, decision.refused) == ([], {A.pair: []})


def test_only_the_lowest_ticket_takes() -> None:
    waiters = _waiting(A, 4, ME) + _waiting(B, 3, OTHER)
    assert _decide([A], FREE, waiters).refused == {A.pair: [OTHER.partition]}
    waiters = _waiting(A, 2, ME) + _waiting(B, 3, OTHER)
    assert _decide([A], FREE, waiters).granted == [A]


def test_a_ticket_is_for_its_own_pair() -> None:
    assert _decide([B], FREE, _waiting(A, 2, ME)).refused == {B.pair: []}


def test_pairs_that_share_an_address_are_granted_with_the_head() -> None:
    assert _decide([B, A], FREE, _waiting(A, 2, ME)).granted == [A, B]


def test_tickets_of_trees_that_are_gone_are_struck_out() -> None:
    decision = _decide([A], FREE, _waiting(B, 1, Owner(1, 6, 61)))
    assert (decision.granted, decision.struck) == ([A], {1})


def test_tickets_that_are_not_tried_are_struck_out() -> None:
    assert _decide([A], FREE, _waiting(B, 1, OTHER, BEATS[OTHER] - 1)).struck == set()
    decision = _decide([A], FREE, _waiting(B, 1, OTHER, BEATS[OTHER] - 2))
    assert (decision.granted, decision.struck) == ([A], {1})
