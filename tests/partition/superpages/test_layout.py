from __future__ import annotations

from parcahyd.core.partitions import MAX_SHARED
from parcahyd.partition.superpages.expansion import Expansion
from parcahyd.partition.superpages.figures import MOST_SUPERPAGES, Figures
from parcahyd.partition.superpages.layout import Layout
from parcahyd.partition.superpages.tokens import token_path


def _layout() -> Layout:
    expansion = Expansion()
    expansion.divide(("org", "example", "/docs"), ["/h", "/p"])
    expansion.number()
    return Layout(expansion, list(range(len(expansion))), Figures(3, [(0, 5, 4)]))


def test_a_state_leads_back_to_its_layout() -> None:
    layout = _layout()
    read = Layout.read(layout.written())
    assert read.expansion.superpages == layout.expansion.superpages
    assert (list(read.owners), read.figures.pages) == (list(layout.owners), [(0, 5, 4)])
    assert (
        read.owner(token_path("example.org", "/docs/kettle"))
        == layout.owner(token_path("example.org", "/docs/kettle"))
        is not None
    )


def test_a_state_that_is_empty_or_damaged_says_nothing() -> None:
    whole = _layout().written()
    for state in (b"", b"\xff", whole[:-4], whole + b"x", b"x" * 500):
        assert Layout.read(state).owner(token_path("example.org", "/docs/kettle")) is None


def test_the_largest_tree_leaves_room_for_figures() -> None:
    expansion = Expansion()
    for number in range(MOST_SUPERPAGES // 2):
        expansion.divide(("org", f"{number:048}"), [f"/{number:047}"])
    expansion.number()
    hot = [(f"org,{number:048}/{'x' * 47}", 9, 3) for number in range(20_000)]
    links = [(prefix, prefix[::-1], 7) for prefix, *_ in hot]
    cool = [(number, prefix) for number, (prefix, *_) in enumerate(hot)]
    assert len(Layout(expansion, [1] * len(expansion), Figures(1, [], hot, cool, links)).written()) <= MAX_SHARED
