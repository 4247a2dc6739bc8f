"""LocalQ: in order of depth, and never more than there is room for."""

from __future__ import annotations

from parcahyd.core.records import DueUrl
from parcahyd.pipeline.crawl_worker.known_urls import Room
from parcahyd.pipeline.crawl_worker.local_q import LocalQ


def url(number: int, depth: int = 0) -> DueUrl:
    return DueUrl(number, f"/{number}", depth)


def paths(queue: LocalQ) -> list[str]:
    return [one.path for one in queue]


def test_the_shallow_come_first_and_others_behind() -> None:
    room = Room(10, 0, 0)
    queue = LocalQ([url(1, 2), url(2), url(3, 1)], room)
    queue.put(url(4))
    queue.put(url(5), first=True)
    assert paths(queue) == ["/5", "/2", "/3", "/1", "/4"]
    assert (len(queue), queue.first.depth, room.urls) == (5, 0, 5)
    first = queue.pop()
    assert room.urls == 6
    queue.put_back(first)
    assert paths(queue)[0] == "/5"
    queue.clear()
    assert (len(queue), room.urls) == (0, 10)


def test_there_is_no_more_than_there_is_room_for() -> None:
    room = Room(3, 0, 0)
    queue = LocalQ([url(1)], room)
    assert queue.extend([(number, f"/{number}") for number in range(2, 9)], 1, 100) == 2
    queue.put(url(9))
    assert paths(queue) == ["/1", "/2", "/3"]
    assert room.urls == 0
    assert queue.extend([(5, "/5")], 1, -1) == 0


def test_what_is_dropped_gives_its_room_back() -> None:
    room = Room(10, 0, 0)
    queue = LocalQ([url(number) for number in range(6)], room)
    assert queue.drop(lambda one: one.key % 2 == 0) == [0, 2, 4]
    assert paths(queue) == ["/1", "/3", "/5"]
    assert room.urls == 7
    assert queue.drop(lambda _: False) == []
