from __future__ import annotations

from parcahyd.core.partitions import SiteMove
from parcahyd.partition.superpages.expansion import Expansion
from parcahyd.partition.superpages.figures import Figures
from parcahyd.partition.superpages.layout import Layout
from parcahyd.partition.superpages.moves import moves
from parcahyd.partition.superpages.tokens import key_of, token_path

KNOWN = [
    key_of(token_path(host, path))
    for host, path in [("a.example", "/x/1"), ("a.example", "/y/1"), ("a.example", "/z/1"), ("b.example", "/")]
]


def _layout(owners: dict[tuple[str, ...], int], rest: int | None = None) -> Layout:
    expansion = Expansion()
    for path in owners:
        expansion.node(path)
    expansion.number()
    return Layout(expansion, [owners.get(page.path, rest) for page in expansion.superpages], Figures(0))


def _home(host: str) -> int:
    return 7 if host == "a.example" else 8


def test_a_host_that_goes_elsewhere_is_one_move() -> None:
    assert moves(_layout({}), _layout({("example", "a"): 1}), KNOWN, _home) == (SiteMove("a.example", 1),)


def test_a_host_that_stays_where_its_hash_put_it_is_none() -> None:
    assert moves(_layout({}), _layout({("example", "a"): 7, ("example", "b"): 8}), KNOWN, _home) == ()


def test_a_folder_goes_by_itself_and_one_that_stays_is_told_where_its_host_goes() -> None:
    after = _layout({("example", "a"): 1, ("example", "a", "/x"): 2, ("example", "a", "/y"): 7})
    found = moves(_layout({}), after, KNOWN, _home)
    assert found == (SiteMove("a.example", 1), SiteMove("a.example/x", 2), SiteMove("a.example/y", 7))


def test_what_was_divided_and_is_no_more_comes_back() -> None:
    before = _layout({("example", "a"): 1, ("example", "a", "/x"): 2})
    assert moves(before, _layout({("example", "a"): 1}), KNOWN, _home) == (SiteMove("a.example/x", 1),)


def test_tokens_of_an_interval_are_named_as_far_as_they_are_known() -> None:
    expansion = Expansion()
    expansion.divide(("example", "a"), ["/y"])
    expansion.number()
    owners = [3 if page.start == "/y" else 7 for page in expansion.superpages]
    found = moves(_layout({}, 7), Layout(expansion, owners, Figures(0)), KNOWN, _home)
    assert found == (SiteMove("a.example/y", 3), SiteMove("a.example/z", 3))
