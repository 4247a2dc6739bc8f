"""PageRank, and Kendall's tau."""

from __future__ import annotations

from itertools import combinations

import pytest

from parcahyd.lab.page_ranks import kendall_tau, page_ranks


def test_a_page_has_what_its_links_bring() -> None:
    ranks = page_ranks([[1], [0, 2], [1]])
    assert ranks[1] == pytest.approx(1.4594595)
    assert ranks[0] == ranks[2] == pytest.approx(0.15 + 0.85 * ranks[1] / 2, abs=1e-6)
    assert page_ranks([[], []]) == [0.15, 0.15]
    assert page_ranks([[1, 1, 1], []]) == page_ranks([[1], []]), "a repeated link counts once"


def test_tau_is_that_of_its_definition() -> None:
    for first, second in (
        ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 3.0, 2.0, 5.0, 4.0]),
        ([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], [2.0, 1.0, 2.0, 2.0, 5.0, 5.0]),
        ([float(number * 7 % 31) for number in range(31)], [float(number * 11 % 31 // 3) for number in range(31)]),
    ):
        pairs = list(combinations(range(len(first)), 2))
        signs = [
            ((first[a] > first[b]) - (first[a] < first[b]), (second[a] > second[b]) - (second[a] < second[b])) for a, b in pairs
        ]
        concordance = sum(one * other for one, other in signs)
        free = sum(one != 0 for one, _ in signs) * sum(other != 0 for _, other in signs)
        assert kendall_tau(first, second) == pytest.approx(concordance / free**0.5)


def test_what_has_no_order_agrees_with_nothing() -> None:
    assert kendall_tau([1.0, 1.0], [1.0, 2.0]) == 0.0
    assert kendall_tau([1.0, 2.0], [1.0, 2.0]) == 1.0
    assert kendall_tau([1.0, 2.0], [2.0, 1.0]) == -1.0
