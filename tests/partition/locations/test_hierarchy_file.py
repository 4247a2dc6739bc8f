"""The file of a hierarchy: the same bytes everywhere, and a damaged one is told."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from parcahyd.core.errors import UserError
from parcahyd.partition.locations.delegated import Delegation, read_delegations
from parcahyd.partition.locations.hierarchy import Hierarchy, build_hierarchy
from parcahyd.partition.locations.hierarchy_file import decode_hierarchy, encode_hierarchy

FOLDER = Path(__file__).parent


def hierarchy() -> Hierarchy:
    found: list[Delegation] = []
    for name in ("delegated-made-extended-latest", "ipv4-2018.tsv"):
        with (FOLDER / name).open("rb") as lines:
            found.extend(read_delegations(lines, name))
    return build_hierarchy(found)


def signed(content: bytes) -> bytes:
    return content + sha256(content).digest()


def test_what_was_written_is_read() -> None:
    written = encode_hierarchy(hierarchy())
    assert decode_hierarchy(written, "h") == hierarchy()
    assert encode_hierarchy(decode_hierarchy(written, "h")) == written
    nothing = build_hierarchy([])
    assert decode_hierarchy(encode_hierarchy(nothing), "h") == nothing


def test_the_form_is_as_it_is_documented() -> None:
    written = encode_hierarchy(hierarchy())
    mark, header, arrays = written.split(b"\n", 2)
    said = msgspec.json.decode(header)
    assert mark == b"PARCAHYD registries 1"
    widths = ((4, 4, 4, 4, 2, 1), (4, 4)), ((8, 8, 4, 4, 2, 1), (8, 4))
    size = sum(
        ranges * sum(of_range) + pieces * sum(of_piece)
        for ranges, pieces, (of_range, of_piece) in zip(said["ranges"], said["pieces"], widths, strict=True)
    )
    assert len(arrays) == size + 32
    assert int.from_bytes(arrays[:4], "little") == hierarchy().ipv4.first[0]


@pytest.mark.parametrize("place", [25, 100, 1000, -40, -1])
def test_a_changed_byte_is_found(place: int) -> None:
    written = bytearray(encode_hierarchy(hierarchy()))
    written[place] ^= 1
    with pytest.raises(UserError, match="h is damaged"):
        decode_hierarchy(bytes(written), "h")


def test_other_files_are_told_apart() -> None:
    written = encode_hierarchy(hierarchy())
    with pytest.raises(UserError, match="no file of the registries"):
        decode_hierarchy(b"", "h")
    with pytest.raises(UserError, match="another version"):
        decode_hierarchy(written.replace(b"registries 1", b"registries 2", 1), "h")
    with pytest.raises(UserError, match="damaged"):
        decode_hierarchy(written[:-1], "h")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (b'"ranges":[', b'"ranges":[9', "shorter"),
        (b'"ranges":[', b'"ranges":[-', "shorter"),
        (b'"holders":', b'"holders":0,"more":', "cannot be read"),
        (b'"countries":["', b'"countries":[],"registries":["', "cannot be read"),
    ],
)
def test_a_header_that_lies_is_found_before_anything_is_allocated(old: bytes, new: bytes, what: str) -> None:
    content = encode_hierarchy(hierarchy())[:-32].replace(old, new, 1)
    with pytest.raises(UserError, match=what):
        decode_hierarchy(signed(content), "h")


def test_a_number_that_leads_nowhere_is_found() -> None:
    found = hierarchy()
    for wrong in (
        found._replace(holders=1),
        found._replace(countries=found.countries[:1]),
        found._replace(ipv4=found.ipv4._replace(parent=found.ipv4.first)),
        found._replace(ipv4=found.ipv4._replace(edges=found.ipv4.edges[::-1])),
    ):
        with pytest.raises(UserError, match="cannot be read"):
            decode_hierarchy(encode_hierarchy(wrong), "h")
