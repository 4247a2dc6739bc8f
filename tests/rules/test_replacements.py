"""What a pattern finds, rewritten and joined."""

from __future__ import annotations

import pcre2
import pytest

from parcahyd.rules.replacements import taking


def test_what_stands_for_each_match_is_joined() -> None:
    assert taking(" [ps](....)", b"<$1>")(b"x paper x stone x", 0) == b"<aper><tone>"
    assert taking(" [ps](....)", b"$1")(b"x paper x stone x", 5) == b"tone"


def test_a_group_without_a_part_in_the_match_is_nothing() -> None:
    assert taking("a(b)?+", b"\0$1")(b"ab a", 0) == b"\0b\0"


def test_another_version_of_the_binding_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pcre2._cy, "substitute")
    assert taking(" [ps](....)", b"$1")(b"x paper x stone x", 0) == b"apertone"
    assert taking("a(b)?+", b"\0$1")(b"ab a", 0) == b"\0b\0"
