"""The registries' files: what they say, and that a damaged one is told with its line."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest

from parcahyd.core.errors import UserError
from parcahyd.partition.locations.delegated import MAX_LINE, Delegation, read_delegations

FOLDER = Path(__file__).parent
TODAY = FOLDER / "delegated-made-extended-latest"
IN_2018 = FOLDER / "ipv4-2018.tsv"


def read(*lines: str) -> list[Delegation]:
    return list(read_delegations((line.encode() + b"\n" for line in lines), "made"))


def test_a_file_of_today_is_read() -> None:
    with TODAY.open("rb") as lines:
        found = list(read_delegations(lines, TODAY.name))
    four = [one for one in found if one.version == 4]
    assert [(str(IPv4Address(one.first)), one.last - one.first + 1, one.country, one.holder) for one in four] == [
        ("192.0.2.0", 256, "NL", "org-one"),
        ("198.51.100.0", 768, "NL", "org-two"),
        ("203.0.113.0", 128, "DE", "org-one"),
        ("203.0.113.128", 128, "EU", "org-three"),
        ("242.0.0.0", 512, "", "org-four"),
    ]
    six = [one for one in found if one.version == 6]
    assert [str(IPv6Address(one.first << 64)) for one in six] == ["2001:db8::", "2001:db8:8000::", "2001:db9:1::"]
    assert [str(IPv6Address(one.last << 64)) for one in six] == [
        "2001:db8:ffff:ffff::",
        "2001:db8:ffff:ffff::",
        "2001:db9:1:ffff::",
    ]
    assert {one.registry for one in found} == {"ripencc"}


def test_the_table_of_2018_is_read() -> None:
    with IN_2018.open("rb") as lines:
        found = list(read_delegations(lines, IN_2018.name))
    assert len(found) == len(IN_2018.read_text().splitlines()) - 1
    assert {one.registry for one in found} == {"afrinic", "apnic", "arin", "lacnic", "ripencc"}
    assert any((one.last - one.first + 1).bit_count() > 1 for one in found)


GOOD = "arin|US|ipv4|192.0.2.0|256|20100101|allocated|x"


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("arin|US|ipv4|192.0.2.0|256", "5 fields, not 7"),
        ("arin|US|ipv4|192.0.2.256|256|20100101|allocated|x", "no IPv4 address"),
        ("arin|US|ipv4|192.0.2.0|0|20100101|allocated|x", "0 addresses do not fit"),
        ("arin|US|ipv4|255.255.255.0|257|20100101|allocated|x", "257 addresses do not fit"),
        ("arin|US|ipv4|192.0.2.0|99999999999999999999|20100101|allocated|x", "is no number"),
        ("arin|US|ipv4|192.0.2.0|-5|20100101|allocated|x", "is no number"),
        ("arin|US|ipv4|192.0.2.0|\uff1256|20100101|allocated|x", "no text in ASCII"),
        ("arin|US|ipv6|2001:db8::|129|20100101|allocated|x", "no IPv6 prefix"),
        ("arin|US|ipv6|2001:db8::1|32|20100101|allocated|x", "no IPv6 prefix"),
        ("arin|US|ipv6|2001:db8|32|20100101|allocated|x", "no IPv6 address"),
        ("arin|USA|ipv4|192.0.2.0|256|20100101|allocated|x", "no country"),
        ("|US|ipv4|192.0.2.0|256|20100101|allocated|x", "no name of a registry"),
        ("arin|US|ipv5|192.0.2.0|256|20100101|allocated|x", 'kind "ipv5"'),
        ("3|arin|20260101|5|19830705|20251231|+0000", "version 3"),
        ("<!DOCTYPE html>", "1 fields"),
        ("x" * (MAX_LINE + 1), "more than 1000 bytes"),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, wrong: str) -> None:
    with pytest.raises(UserError, match=f"made: line 2: .*{wrong}"):
        read(GOOD, line)


def test_a_file_without_ranges_is_told() -> None:
    with pytest.raises(UserError, match="no range of addresses in 1 lines"):
        read("2|arin|20260101|0|19830705|20251231|+0000")


def test_a_registry_may_say_nothing_of_holders() -> None:
    assert read("arin|US|ipv4|192.0.2.0|256|20100101|allocated")[0].holder == ""
