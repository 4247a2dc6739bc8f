"""Expanders of strangers are held to the bounds."""

from __future__ import annotations

from collections.abc import Iterator

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import Member, Skipped
from parcahyd.formats.expanders import Expanders

URL = "http://a.test/x.arj"


class _Fixed:
    media_types = frozenset({"application/x-arj"})

    def __init__(self, *members: object) -> None:
        self.members = members

    def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]:  # noqa: ARG002  the port's
        for member in self.members:
            if isinstance(member, Exception):
                raise member
            yield member  # type: ignore[misc]  # some are wrong on purpose


def _expand(*members: object, told: list[str] | None = None) -> list[Member]:
    conf = WorkConf(MaxBytes=10, ExpandMembers=4, ExpandBytes=25)
    report = (told if told is not None else []).append
    return list(Expanders([("mine", _Fixed(*members))], conf, report).expand(b"", "application/x-arj", URL))


def test_good_members_pass_as_they_are() -> None:
    members = [Member("a", b"1"), Member("b", b"2"), Member("c", skipped=Skipped.ENCRYPTED)]
    assert _expand(*members) == members


def test_names_are_cleaned_and_count_once() -> None:
    assert _expand(Member("../a", b"1"), Member("a", b"2"), Member("/", b"3")) == [
        Member("a", b"1"),
        Member("a", skipped=Skipped.DUPLICATE),
        Member("", skipped=Skipped.NAME),
    ]


def test_bounds_hold() -> None:
    assert _expand(Member("a", b"x" * 11)) == [Member("a", skipped=Skipped.SIZE)]
    assert len(_expand(*(Member(str(n)) for n in range(9)))) == 5
    assert _expand(*(Member(str(n), b"x" * 9) for n in range(4)))[2:] == [Member("", skipped=Skipped.BYTES)]


def test_mistakes_end_the_archive_and_are_told() -> None:
    told: list[str] = []
    assert _expand(Member("a"), ValueError("odd"), Member("b"), told=told) == [Member("a")]
    assert _expand(Member("a"), "b", told=told) == [Member("a")]
    assert told == ['expander "mine" raised ValueError: odd', 'expander "mine" gave str, not a Member']


def test_only_formats_that_somebody_names_are_taken_apart() -> None:
    everyone = Expanders([("mine", _Fixed())], WorkConf(), print)
    assert everyone.can_expand("application/x-arj")
    assert not everyone.can_expand("application/zip")
    assert list(everyone.expand(b"", "application/zip", URL)) == []
