"""The records of a cluster travel as bytes and come back as they were."""

from __future__ import annotations

import msgspec
import pytest

from parcahyd.core import partitions
from parcahyd.core.partitions import (
    ClusterNode,
    ClusterView,
    JudgedPage,
    Neighbours,
    Observation,
    Observed,
    Partitioner,
    Plan,
    Routing,
    Seen,
    SiteMove,
    Undecided,
)

_ROUTING = Routing(8, 3, b"\0state", b"secret")
RECORDS = [
    _ROUTING,
    Seen("a.example", "/x?y", 3, "192.0.2.1", Neighbours({1: 5}, {0: 9, 1: 7}), 17, failed=True),
    Seen("b.example"),
    Undecided((2, 0)),
    JudgedPage("http://a.example/", "text/html", "en", "A title", "Its text"),
    Observation(Observed.LINKS, "a.example/docs/", 12.0, "b.example"),
    ClusterView(_ROUTING, (ClusterNode("one", 4), ClusterNode("two", 8, 2e9, 1e10, 5e6, 0.5)), ("one", None), (b"x",), {0: 5}),
    Plan(("one", None), (SiteMove("a.example/docs/", 1),), b"next"),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_travels(record: msgspec.Struct) -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(record), type=type(record)) == record


def test_annotations_are_not_left_as_text() -> None:
    """As text, msgspec compiles them one by one in every process that reads such records."""
    structs = [made for made in vars(partitions).values() if isinstance(made, type) and issubclass(made, msgspec.Struct)]
    assert {type(record) for record in RECORDS} <= set(structs)
    assert [made for made in structs if str in map(type, made.__annotations__.values())] == []


def test_every_method_of_the_port_says_what_it_promises() -> None:
    for name in ("home", "belongs", "next_for", "observe", "share", "plan"):
        assert getattr(Partitioner, name).__doc__, name
