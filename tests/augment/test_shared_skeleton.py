"""Two versions kept as one skeleton and the regions of each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.shared_skeleton import MAX_REGIONS, is_smaller, rebuild, share, write_regions
from parcahyd.augment.tvi import Region

_DOCUMENT = st.binary(max_size=200) | st.text("ab <>\n\u00e9", max_size=100).map(str.encode)


@given(_DOCUMENT, _DOCUMENT)
def test_both_versions_come_back(old: bytes, new: bytes) -> None:
    shared = share(old, new)
    assert shared is not None
    first, second = shared
    assert first.skeleton == second.skeleton
    assert first.places == second.places
    assert rebuild(first.skeleton, write_regions(first.regions)) == old
    assert rebuild(second.skeleton, write_regions(second.regions)) == new


@given(st.binary(max_size=50))
def test_damaged_regions_are_refused_or_make_something(data: bytes) -> None:
    assert isinstance(rebuild(b"skeleton", data), bytes | None)


def test_regions_that_do_not_fit() -> None:
    assert rebuild(b"ab", write_regions([Region("1", 3, b"x")])) is None
    assert rebuild(b"ab", write_regions([Region("1", 2, b"x"), Region("2", 1, b"x")])) is None
    assert rebuild(b"ab", write_regions([Region("1", 1, b"x"), Region("2", 2, b"y")])) == b"axby"


def test_versions_that_differ_in_too_many_places() -> None:
    words = range(2 * MAX_REGIONS + 2)
    old = b" ".join(b"%d" % number for number in words)
    new = b" ".join(b"%d" % number if number % 2 else b"x" for number in words)
    assert share(old, new) is None


def test_what_needs_less_space() -> None:
    assert is_smaller(9000, [100, 100], [9050, 9050])
    assert not is_smaller(9000, [9000, 9000], [9050, 9050])
    assert not is_smaller(100, [10, 10], [110, 40])
