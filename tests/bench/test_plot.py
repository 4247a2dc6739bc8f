"""The picture is well-formed and shows every contender."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from bench.plot import Bar, bars_of, draw
from bench.results import SiteResults
from tests.bench.outcomes import outcome

SVG = "{http://www.w3.org/2000/svg}"


def test_bars_are_medians_with_their_range_fastest_first() -> None:
    runs = {
        "slow": [outcome("slow", 1, seconds=10.0)],
        "fast": [outcome("fast", number, seconds=seconds) for number, seconds in ((1, 1.0), (2, 2.0), (3, 4.0))],
    }
    assert bars_of(SiteResults("manual", 100, 1, runs, {}, {})) == [
        Bar("fast", 25.0, 50.0, 100.0, 3),
        Bar("slow", 10.0, 10.0, 10.0, 1),
    ]


@pytest.mark.parametrize(
    "bars", [[], [Bar("limit", 1, 2, 3, 3)], [Bar("a<b", 900, 1000, 1100, 3), Bar("parcahyd", 1, 1, 1, 1)]]
)
def test_the_picture_is_well_formed_and_names_all(bars: list[Bar]) -> None:
    picture = ET.fromstring(draw([("A & B", bars), ("another", bars)]))  # noqa: S314 # our own text
    texts = ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]
    assert "A & B" in texts
    for bar in bars:
        assert any(bar.name in text for text in texts)
        assert any(bar.figure in text for text in texts)


def test_no_bar_leaves_the_picture() -> None:
    picture = ET.fromstring(draw([("site", [Bar("a", 900, 1000, 1100, 3), Bar("b", 1, 2, 3, 3)])]))  # noqa: S314 # our own text
    width = float(picture.attrib["width"])
    for bar in picture.iter(f"{SVG}rect"):
        assert float(bar.attrib["x"]) + float(bar.attrib["width"]) <= width
