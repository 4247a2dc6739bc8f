"""Canonical options: parameters that do not count, and orders that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.config.schema import WorkConf
from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.rules.urls.parameters import Canon, joining

H = "http://h.example"


@pytest.mark.parametrize(
    ("given_as", "expected"),
    [
        ("/p?utm_source=x&id=1&utm_medium=y", "/p?id=1"),
        ("/p?utm_source=x", "/p"),
        ("/p?utm_", "/p"),
        ("/p?utm", "/p?utm"),
        ("/p?sid=1&SID=2&side=3", "/p?SID=2&side=3"),
        ("/p?a=1&&b=2&", "/p?a=1&b=2"),
        ("/p?x=sid=1", "/p?x=sid=1"),
        ("/p?sid", "/p"),
        ("/p;sid=A/q;v=1;sid=B?sid=C&z", "/p/q;v=1?z"),
        ("/p;sid", "/p"),
        ("/sid=1", "/sid=1"),
        ("/p", "/p"),
        ("/%41%?sid=1", "/%41%"),
        ("/%41?sid=%", "/A"),
        ("/?%73id=1&sid=%", "/"),
    ],
)
def test_stripping(given_as: str, expected: str) -> None:
    url = canonical(H + given_as)
    assert url is not None
    assert Canon(("sid", "utm_*")).apply(url) == H + expected


@pytest.mark.parametrize(
    ("given_as", "expected"),
    [
        ("?b=2&a=1", "?a=1&b=2"),
        ("?a=2&b=1&a=1", "?a=2&a=1&b=1"),
        ("?b&a=&", "?a=&b"),
        ("?ab=1&a=2", "?a=2&ab=1"),
    ],
)
def test_sorting_is_by_name_and_keeps_the_values_of_a_name_in_order(given_as: str, expected: str) -> None:
    assert Canon(sort=True).apply(f"{H}/{given_as}") == f"{H}/{expected}"


def test_nothing_is_done_that_nobody_asked_for() -> None:
    assert Canon.of(WorkConf()) is None
    assert Canon.of(WorkConf(StripParameters=("x",))) is not None
    assert Canon.of(WorkConf(SortParameters=True)) is not None
    assert joining(f"{H}/d/", None)("p?b=1&a=2&&utm_x") == f"{H}/d/p?b=1&a=2&&utm_x"


def test_references_are_joined_and_then_spelt() -> None:
    join = joining(f"{H}/d/page", Canon(("sid",), sort=True))
    assert join("p?z=1&sid=7&a=2") == f"{H}/d/p?a=2&z=1"
    assert join("?sid=7") == f"{H}/d/page"
    assert join("mailto:x@y") is None


_QUERIES = st.text(alphabet="ab=&;%4160sid_utm/?", max_size=30)


@given(_QUERIES, st.sampled_from([("sid",), ("utm_*", "a"), ("*",), ()]), st.booleans())
def test_applying_it_again_changes_nothing_and_the_url_stays_canonical(query: str, strip: tuple[str, ...], sort: bool) -> None:
    url = canonical(f"{H}/p;{query}")
    assert url is not None
    canon = Canon(strip, sort)
    once = canon.apply(url)
    assert canon.apply(once) == once
    assert canonical(once) == once
