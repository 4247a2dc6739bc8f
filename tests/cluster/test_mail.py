"""Letters are taken in exactly once, and a full box holds back no page."""

from __future__ import annotations

import pytest

from parcahyd.cluster.mail import Letter, Mailbox
from parcahyd.core.errors import LeaseLost
from tests.cluster.hub_desk import HubDesk, Tree


def _box(tree: Tree, limit: int = 100) -> Mailbox:
    return Mailbox(tree.writing, limit)


def _post(tree: Tree, box: Mailbox, *bodies: bytes, to: int = 1) -> None:
    with tree.batches.transaction():
        box.post([Letter(to, "urls", 3, body) for body in bodies])


def _read(tree: Tree, box: Mailbox) -> list[bytes]:
    with tree.writing.transaction():
        return [letter.body for letter in box.read(100)]


def test_a_letter_is_read_and_taken_in(desk: HubDesk) -> None:
    sender, reader = desk.take(0), desk.take(1)
    _post(sender, _box(sender), b"one", b"two")
    box = _box(reader)
    with reader.batches.transaction():
        letters = box.read(1)
        assert [(letter.kind, letter.routing, letter.body) for letter in letters] == [("urls", 3, b"one")]
        box.take_in(letters)
    assert _read(reader, box) == [b"two"]
    assert _read(sender, _box(sender)) == []


def test_letters_are_read_until_they_are_many_bytes(desk: HubDesk) -> None:
    sender, reader = desk.take(0), desk.take(1)
    _post(sender, _box(sender), b"one", b"three", b"five", b"x" * 100)
    with reader.writing.transaction():
        box = _box(reader)
        found = [[len(letter.body) for letter in box.read(9, size)] for size in (1, 3, 4, 8, 9, 12, 13, 1000)]
        assert found == [[3], [3], [3, 5], [3, 5], [3, 5, 4], [3, 5, 4], [3, 5, 4, 100], [3, 5, 4, 100]]
        assert [letter.body for letter in box.read(2, 1000)] == [b"one", b"three"]


def test_a_letter_of_a_page_that_is_not_stored_is_not_posted(desk: HubDesk) -> None:
    sender, reader = desk.take(0), desk.take(1)
    with pytest.raises(ConnectionError), sender.batches.transaction():  # noqa: PT012 (it fails after the letter)
        _box(sender).post([Letter(1, "urls", 0, b"lost")])
        raise ConnectionError
    assert _read(reader, _box(reader)) == []


def test_a_letter_that_is_not_stored_stays(desk: HubDesk) -> None:
    sender, reader = desk.take(0), desk.take(1)
    _post(sender, _box(sender), b"one")
    box = _box(reader)
    with pytest.raises(ConnectionError), reader.batches.transaction():  # noqa: PT012 (it fails after the letter)
        box.take_in(box.read(1))
        raise ConnectionError
    assert _read(reader, box) == [b"one"]


def test_a_letter_is_not_taken_in_twice(desk: HubDesk) -> None:
    sender, reader = desk.take(0), desk.take(1)
    _post(sender, _box(sender), b"one")
    box = _box(reader)
    with reader.batches.transaction():
        letters = box.read(1)
        box.take_in(letters)
    with pytest.raises(LeaseLost), reader.batches.transaction():
        box.take_in(letters)


def test_what_does_not_fit_waits_with_its_sender(desk: HubDesk) -> None:
    sender, reader = desk.take(0), desk.take(1)
    box = _box(sender, limit=2)
    _post(sender, box, b"one", b"two")
    _post(sender, box, b"three")
    assert _read(reader, _box(reader)) == [b"one", b"two"]
    with sender.batches.transaction():
        assert box.relay() == 1
    with reader.batches.transaction():
        _box(reader).take_in(_box(reader).read(1))
    with sender.batches.transaction():
        assert box.relay() == 0
    assert _read(reader, _box(reader)) == [b"two", b"three"]


def test_a_partition_that_nobody_holds_has_a_box_without_limit(desk: HubDesk) -> None:
    sender = desk.take(0)
    box = _box(sender, limit=1)
    _post(sender, box, b"one")
    _post(sender, box, b"two")
    assert desk.rows("SELECT count(*) FROM parcahyd_hub.mail") == [(2,)]
    assert desk.rows("SELECT count(*) FROM parcahyd_hub.outbox") == [(0,)]


def test_letters_for_others_pass_a_full_box(desk: HubDesk) -> None:
    sender = desk.take(0)
    desk.take(1)
    box = _box(sender, limit=1)
    _post(sender, box, b"one", to=1)
    with sender.batches.transaction():
        box.post([Letter(1, "urls", 0, b"waits"), Letter(0, "urls", 0, b"passes")])
    assert _read(sender, box) == [b"passes"]
