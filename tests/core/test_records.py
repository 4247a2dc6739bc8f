"""Records survive the wire, and a union finds its kind again."""

from __future__ import annotations

import msgspec
import pytest

from parcahyd.core.messages import BufferRecord
from parcahyd.core.records import (
    BadRecord,
    DueUrl,
    ExternRecord,
    PageRecord,
    Pause,
    RobotsFact,
    RobotsRedirect,
    RobotsRedirectRecord,
    RobotsStatus,
    SiteLease,
    SiteRecord,
    UnchangedRecord,
    VisitOver,
    origin,
)

RECORDS: list[BufferRecord] = [
    ExternRecord(1, 2, ("http://x.example/",)),
    PageRecord(1, 2, 3, "/", 0, 0, True, 1.0, 200, "192.0.2.1", b"A: b\r\n", body=b"\x00\xff", internal=("/a",)),
    UnchangedRecord(1, 2, 3, "/", 1.0, 304, '"e"'),
    SiteRecord(1, 2, RobotsFact(RobotsStatus.FOUND, b"x", 1.0, 2.0)),
    RobotsRedirectRecord(1, 2, 3, "/robots.txt", RobotsFact(RobotsStatus.ABSENT)),
    BadRecord(1, 2, -3, "/", 0, 0, False, 1.0, 2, "connect", 3.0, 1),
    VisitOver(1, 2, 3.0, 4.0, (Pause("host x", 5.0),)),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_comes_back_as_it_was(record: BufferRecord) -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(record), type=BufferRecord) == record


def test_a_pair_comes_back_with_everything_in_it() -> None:
    pair = SiteLease(
        1,
        2,
        "https",
        "x.example",
        8443,
        (DueUrl(-5, "/é", etag='"1"'),),
        robots_redirects=(RobotsRedirect(9, "/robots.txt", 1),),
    )
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(pair), type=SiteLease) == pair
    assert pair.origin == "https://x.example:8443"


def test_default_ports_are_not_written() -> None:
    assert [origin("http", "h", 80), origin("https", "h", 443), origin("gopher", "h", 0)] == [
        "http://h",
        "https://h",
        "gopher://h",
    ]
    assert origin("https", "h", 80) == "https://h:80"
