from __future__ import annotations

import pytest

from parcahyd.partition.superpages.expansion import Expansion
from parcahyd.partition.superpages.tokens import token_path


def _paper() -> Expansion:
    expansion = Expansion()
    expansion.divide(("com",), ["N", "Kidsoft", "H", "creativelabs"])
    expansion.number()
    return expansion


def test_the_five_intervals_of_the_paper() -> None:
    found = [(page.start, page.end) for page in _paper().superpages if page.path == ("com",)]
    assert found == [("", "creativelabs"), ("creativelabs", "h"), ("h", "kidsoft"), ("kidsoft", "n"), ("n", None)]


@pytest.mark.parametrize(
    ("host", "start"),
    [
        ("apple.com", ""),
        ("creativelabs.com", "creativelabs"),
        ("www.dell.com", "creativelabs"),
        ("HP.com", "h"),
        ("ibm.com", "h"),
        ("Kidsoft.com", "kidsoft"),
        ("nasa.com", "n"),
        ("zoo.com", "n"),
        ("com", ""),
    ],
)
def test_a_url_lies_in_its_interval_whatever_follows(host: str, start: str) -> None:
    expansion = _paper()
    page = expansion.superpages[expansion.find(token_path(host, "/any/path"))]
    assert (page.path, page.start) == (("com",), start if host != "com" else "")


def test_a_singleton_takes_its_token_out_of_the_interval() -> None:
    expansion = _paper()
    expansion.node(("com", "ibm"))
    expansion.number()
    assert expansion.superpages[expansion.find(token_path("almaden.ibm.com"))].path == ("com", "ibm")
    assert expansion.superpages[expansion.find(token_path("intel.com"))].path == ("com",)


def test_every_url_lies_in_exactly_one_superpage() -> None:
    expansion = _paper()
    expansion.node(("com", "ibm", "/docs"))
    expansion.number()
    assert sorted(number for _, branch in expansion.branches() for number in branch.pages) == list(range(len(expansion)))
    for host, path in [("", ""), ("org", "/"), ("ibm.com", "/"), ("ibm.com", "/docs"), ("ibm.com", "/docs/a"), ("\udcff", "/")]:
        assert 0 <= expansion.find(token_path(host, path)) < len(expansion)


def test_light_leaves_of_one_owner_are_merged_back_and_others_stay() -> None:
    expansion = _paper()
    expansion.node(("com", "ibm"))
    expansion.number()
    where = {page: number for number, page in enumerate(expansion.superpages)}
    of = {(page.path, page.start): where[page] for page in expansion.superpages}
    owners = [0] * len(expansion)
    owners[of[("com",), "kidsoft"]] = 1
    weights = [10] * len(expansion)
    weights[of[("com",), ""]] = 100
    into = expansion.simplify(owners, weights, 50)
    left = [(page.path, page.start) for page in expansion.superpages]
    # [creativelabs, h) and [h, kidsoft) with ibm in it are one; what is heavy, and what is another's, stays.
    assert left == [((), ""), (("com",), ""), (("com",), "creativelabs"), (("com",), "kidsoft"), (("com",), "n")]
    assert into[of[("com", "ibm"), ""]] == into[of[("com",), "h"]] == into[of[("com",), "creativelabs"]] == 2
