"""Skeleton and regions, and the document that they make."""

from __future__ import annotations

import random
from hashlib import sha256

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.augment_formats import random_document, survive_damage, survive_round_trip
from parcahyd.augment.document_tables import tvi_of
from parcahyd.augment.refusal import Consequence, Refusal, RefusalReason
from parcahyd.augment.skeleton import (
    MAX_REGIONS,
    Parted,
    apply_tvi,
    is_smaller,
    merge,
    part,
    part_with_tvi,
    rebuild,
    refreshed,
    share_skeleton,
    write_regions,
)
from parcahyd.augment.tvi import Region, Tvi, read_tvi
from parcahyd.rules.html.fingerprints import fingerprint

DOCUMENT = b'<p>Price <span data-vol="price">11.00</span>, <b data-vol=stock>104</b> left.'
NEWER = DOCUMENT.replace(b"11.00", b"12").replace(b"104", b"none")
PARTED = part(DOCUMENT)


def _tvi(document: bytes) -> Tvi:
    written = tvi_of(document, "page.html")
    assert isinstance(written, bytes)
    tvi = read_tvi(written)
    assert isinstance(tvi, Tvi)
    return tvi


def test_the_parts_of_a_document() -> None:
    skeleton = b'<p>Price <span data-vol="price"></span>, <b data-vol=stock></b> left.'
    assert Parted(skeleton, (Region("price", 32, b"11.00"), Region("stock", 59, b"104"))) == PARTED
    assert merge(*PARTED[:2]) == DOCUMENT
    assert PARTED.places == (("price", 32), ("stock", 59))


def test_copies_that_differ_only_in_regions_have_one_fingerprint() -> None:
    assert fingerprint(part(DOCUMENT).skeleton) == fingerprint(part(NEWER).skeleton)
    assert fingerprint(part(DOCUMENT).skeleton) != fingerprint(part(DOCUMENT + b"!").skeleton)


def test_a_document_without_regions_or_with_mistakes_is_its_own_skeleton() -> None:
    assert part(b"<p>text") == Parted(b"<p>text")
    wrong = part(b"<b data-vol=a>")
    assert (wrong.skeleton, wrong.regions, len(wrong.errors)) == (b"<b data-vol=a>", (), 1)


def test_a_table_makes_the_newer_document() -> None:
    written = tvi_of(NEWER, "page.html")
    assert isinstance(written, bytes)
    assert apply_tvi(written, PARTED.skeleton, PARTED.places) == (_tvi(NEWER), NEWER)
    assert isinstance(apply_tvi(written[:-1], PARTED.skeleton, PARTED.places), Refusal)


@pytest.mark.parametrize(
    ("change", "fault", "consequence"),
    [
        ({"base_hash": bytes(32)}, RefusalReason.BASE, Consequence.STALE),
        ({"base_length": 10}, RefusalReason.BASE, Consequence.STALE),
        ({"hash": bytes(32)}, RefusalReason.HASH, Consequence.STRIKE),
        ({"regions": (Region("prize", 32, b"12"), Region("stock", 59, b"none"))}, RefusalReason.REGIONS, Consequence.STRIKE),
        ({"regions": (Region("price", 33, b"12"), Region("stock", 59, b"none"))}, RefusalReason.REGIONS, Consequence.STRIKE),
        ({"regions": (Region("price", 32, b"13"), Region("stock", 59, b"none"))}, RefusalReason.HASH, Consequence.STRIKE),
    ],
)
def test_what_does_not_fit_is_not_merged(change: dict[str, object], fault: RefusalReason, consequence: Consequence) -> None:
    refusal = refreshed(PARTED.skeleton, msgspec.structs.replace(_tvi(NEWER), **change), PARTED.places)
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.reason.consequence) == (fault, consequence)


def test_a_first_visit_cuts_the_spans_of_its_own_version() -> None:
    assert part_with_tvi(DOCUMENT, _tvi(DOCUMENT)) == PARTED


def test_a_first_visit_with_a_table_of_another_version_goes_by_the_markers() -> None:
    assert part_with_tvi(DOCUMENT, _tvi(NEWER)) == PARTED


def test_spans_need_no_markers() -> None:
    text = b"Visitors: 12345\n"
    skeleton = b"Visitors: \n"
    tvi = Tvi("a.txt", sha256(skeleton).digest(), 11, sha256(text).digest(), 16, (Region("n", 10, b"12345"),))
    assert part_with_tvi(text, tvi) == Parted(skeleton, tvi.regions)
    later = part_with_tvi(text.replace(b"5", b"6"), tvi)
    assert isinstance(later, Refusal)
    assert later.reason == RefusalReason.BASE


def test_versions_that_do_not_agree() -> None:
    other = part_with_tvi(DOCUMENT + b"!", _tvi(DOCUMENT))
    assert isinstance(other, Refusal)
    assert other.reason == RefusalReason.BASE
    wrong = part_with_tvi(DOCUMENT + b"<b data-vol=stock>", _tvi(DOCUMENT))
    assert isinstance(wrong, Refusal)
    assert wrong.reason == RefusalReason.MARKERS
    lying = msgspec.structs.replace(_tvi(DOCUMENT), base_hash=bytes(32))
    assert isinstance(part_with_tvi(DOCUMENT, lying), Refusal)


@given(st.integers())
def test_random_documents_come_back_byte_for_byte(seed: int) -> None:
    assert survive_round_trip(random_document(random.Random(seed))) == ""


def test_a_thousand_random_documents() -> None:
    """`python bench/augment_formats.py` does it with ten thousand."""
    chance = random.Random(4)
    assert {survive_round_trip(random_document(chance)) for _ in range(1000)} == {""}


def test_a_thousand_damaged_tables_are_refused() -> None:
    chance = random.Random(5)
    outcomes = [survive_damage(chance) for _ in range(1000)]
    assert [kind for kind, word in outcomes if not word] == []
    assert {kind for kind, _ in outcomes} == {"cut", "flip", "pad", "drop", "exchange", "double", "tail", "other"}


@given(st.binary(), st.integers(0, 400), st.integers(0, 40))
def test_whatever_is_merged_is_what_the_table_says(noise: bytes, at: int, gone: int) -> None:
    """With optional headers, damage can be harmless; it is never wrong."""
    written = tvi_of(NEWER, "page.html")
    assert isinstance(written, bytes)
    optional = written.replace(b"\n\n", b'\nETag: "1"\nRefresh: 60\nX-Other: y\n\n')
    answer = apply_tvi(optional[:at] + noise + optional[at + gone :], PARTED.skeleton, PARTED.places)
    assert isinstance(answer, Refusal) or answer[1] == NEWER


_DOCUMENT = st.binary(max_size=200) | st.text("ab <>\n\u00e9", max_size=100).map(str.encode)


@given(_DOCUMENT, _DOCUMENT)
def test_both_versions_come_back(old: bytes, new: bytes) -> None:
    shared = share_skeleton(old, new)
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
    assert share_skeleton(old, new) is None


def test_what_needs_less_space() -> None:
    assert is_smaller(9000, [100, 100], [9050, 9050])
    assert not is_smaller(9000, [9000, 9000], [9050, 9050])
    assert not is_smaller(100, [10, 10], [110, 40])
