"""What a page asks of robots."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.rules.robots.directives import (
    MAX_RULES,
    NO_DIRECTIVES,
    Directive,
    header_directives,
    meta_directives,
    speaks_to_robots,
)

NOINDEX, NOFOLLOW, NOARCHIVE = Directive.NOINDEX, Directive.NOFOLLOW, Directive.NOARCHIVE
NOW = 1_600_000_000.0  # 2020-09-13

HEADERS = [
    ([], NO_DIRECTIVES),
    (["noindex"], NOINDEX),
    (["NoIndex, NOFOLLOW"], NOINDEX | NOFOLLOW),
    (["none"], NOINDEX | NOFOLLOW),
    (["noarchive"], NOARCHIVE),
    (["nocache"], NOARCHIVE),
    (["all", "index, follow"], NO_DIRECTIVES),
    (["noindex", "index"], NOINDEX),
    (["noindex", "nofollow"], NOINDEX | NOFOLLOW),
    (["noindex nofollow"], NOINDEX | NOFOLLOW),
    (["noimageindex, nosnippet, notranslate"], NO_DIRECTIVES),
    (["max-image-preview:none"], NO_DIRECTIVES),
    (["max-image-preview: none, noindex"], NOINDEX),
    (["max-snippet:-1, max-image-preview:large, max-video-preview:-1"], NO_DIRECTIVES),
    (["googlebot: noindex"], NO_DIRECTIVES),
    (["googlebot: noindex, nofollow"], NO_DIRECTIVES),
    (["googlebot: noindex", "nofollow"], NOFOLLOW),
    (["nofollow, googlebot: noindex"], NOFOLLOW),
    (["googlebot: noindex, parcahyd: nofollow"], NOFOLLOW),
    (["PARCAHYD: noindex"], NOINDEX),
    (["parcahyd : noindex"], NOINDEX),
    (["parcahyd-news: noindex"], NO_DIRECTIVES),
    (["*: noindex"], NOINDEX),
    (["otherbot: noindex, *: nofollow"], NOFOLLOW),
    (["unavailable_after: 25 Jun 2010 15:00:00 PST"], NOINDEX),
    (["unavailable_after: 25 Jun 2040 15:00:00 PST"], NO_DIRECTIVES),
    (["unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, noarchive"], NOINDEX | NOARCHIVE),
    (["unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT"], NOINDEX),
    (["unavailable_after: Mon, 25 Jun 2040 15:00:00 GMT, nofollow"], NOFOLLOW),
    (["unavailable_after:2020-09-12"], NOINDEX),
    (["unavailable_after: 2020-09-14"], NO_DIRECTIVES),
    (["unavailable_after: 2020-09-13T12:00:00Z"], NOINDEX),
    (["unavailable_after: 2020-09-13T13:00:00+00:00"], NO_DIRECTIVES),
    (["unavailable_after: soon, noindex"], NOINDEX),
    (["unavailable_after: soon"], NO_DIRECTIVES),
    (["unavailable_after: 0000-00-00T99:99"], NO_DIRECTIVES),
    (["unavailable_after: Thu, 41 Jan 2001 99:99:99 GMT"], NO_DIRECTIVES),
    (["unavailable_after: 30 Feb 2001 10:00:00"], NO_DIRECTIVES),
    (["unavailable_after: 0001-01-01T00:00:00"], NO_DIRECTIVES),
    (["unavailable_after: Thu, 01 Jan 1970 00:00:00 GMT"], NO_DIRECTIVES),
    (["unavailable_after: 1"], NO_DIRECTIVES),
    (["unavailable_after: 0 Jan 0 0:0:0 -9999"], NO_DIRECTIVES),
    (["unavailable_after"], NO_DIRECTIVES),
    (["googlebot: unavailable_after: 25 Jun 2010 15:00:00 PST"], NO_DIRECTIVES),
    (["", ",,,", ":", "::noindex"], NOINDEX),
    (["index"] * MAX_RULES + ["noindex"], NO_DIRECTIVES),
    ([" " * 10_000 + "noindex"], NO_DIRECTIVES),
]


@pytest.mark.parametrize(("values", "expected"), HEADERS, ids=range(len(HEADERS)))
def test_headers(values: list[str], expected: Directive) -> None:
    assert header_directives(values, "Parcahyd", NOW) == expected


METAS = [
    ([("robots", "noindex,nofollow")], NOINDEX | NOFOLLOW),
    ([(" ROBOTS ", "NONE")], NOINDEX | NOFOLLOW),
    ([("parcahyd", "noarchive")], NOARCHIVE),
    ([("googlebot", "noindex")], NO_DIRECTIVES),
    ([("robots", "noindex"), ("Parcahyd", "index, nofollow")], NOINDEX | NOFOLLOW),
    ([("description", "noindex")], NO_DIRECTIVES),
    ([("robots", "unavailable_after: 25-Aug-2010 15:00:00 EST")], NOINDEX),
]


@pytest.mark.parametrize(("metas", "expected"), METAS)
def test_metas(metas: list[tuple[str, str]], expected: Directive) -> None:
    assert meta_directives(metas, "Parcahyd", NOW) == expected


def test_a_robot_without_a_name_hears_what_is_for_everybody() -> None:
    assert header_directives(["noindex, googlebot: nofollow"], "", NOW) == NOINDEX
    assert meta_directives([("", "noindex"), ("robots", "nofollow")], "", NOW) == NOFOLLOW


PIECES = st.sampled_from(
    [
        "noindex",
        "nofollow",
        "none",
        "unavailable_after",
        ":",
        ",",
        ";",
        " ",
        "Fri",
        "25 Jun 2010",
        "2010-06-25",
        "é",
        "\x00",
        "9" * 30,
    ]
)


@given(st.one_of(st.lists(PIECES, max_size=20).map("".join), st.text(max_size=80)))
def test_nothing_raises_and_what_does_something_is_hinted_at(text: str) -> None:
    found = meta_directives([("robots", text)], "parcahyd", NOW)
    assert not found or speaks_to_robots(text)
    assert header_directives([text], "parcahyd", NOW) == found
    assert header_directives([text, "none"], "parcahyd", NOW) == found | NOINDEX | NOFOLLOW
