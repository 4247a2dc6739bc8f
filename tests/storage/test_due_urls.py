"""DueUrls reads a small site completely and a large one through its indexes, with the same result."""

from __future__ import annotations

import random

import pytest

from parcahyd.core.records import SiteLease
from parcahyd.core.states import Reason, State
from parcahyd.refresh.schedule import NEVER
from parcahyd.storage import due_urls
from tests.storage.desk import Desk

_REASONS = {State.FAILED: Reason.TLS, State.REFUSED: Reason.ROBOTS, State.GONE: Reason.MISSING}


def _crawl(desk: Desk) -> None:
    """URLs in all states, with times before and after, and some that are equal."""
    dice = random.Random(5)
    desk.begin()
    desk.seed("http://a.example/", "http://b.example/")
    for pair in desk.lease():
        for number in range(12):
            state = dice.choice(list(State))
            due_at = dice.choice((desk.now + dice.randrange(-5, 5), NEVER))
            path = f"/{state.word}{number}"
            if state is State.KNOWN:
                desk.now += dice.randrange(2)
                desk.write(desk.page(pair, f"/of{path}", depth=dice.randrange(3), internal=(path,)))
                desk.set_due(f"/of{path}", None)
            elif state is State.STORED:
                desk.write(desk.page(pair, path, etag=f'"{number}"'))
                desk.set_due(path, None if due_at == NEVER else due_at)
            else:
                due_at = desk.now + 1 if state is State.FAILED and due_at == NEVER else due_at
                desk.store.store_bad([desk.bad(pair, path, state, _REASONS[state], due_at=due_at)], desk.now)
        desk.over(pair)


def _leased(desk: Desk, most: int, keys: int) -> dict[str, tuple[object, ...]]:
    pairs: list[SiteLease] = desk.lease(pages=most, keys=keys, again_before=desk.now)
    for pair in pairs:
        desk.over(pair)
    return {pair.host: (pair.urls, pair.known, pair.has_all_keys) for pair in pairs}


@pytest.mark.parametrize(("most", "keys"), [(1, 1000), (4, 3), (1000, 1000)])
def test_small_and_large_sites_are_leased_alike(desk: Desk, monkeypatch: pytest.MonkeyPatch, most: int, keys: int) -> None:
    _crawl(desk)
    small = _leased(desk, most, keys)
    monkeypatch.setattr(due_urls, "_FEW", 0)
    assert _leased(desk, most, keys) == small
    assert set(small) == {"a.example", "b.example"}
