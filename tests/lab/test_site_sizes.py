from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.core.errors import UserError
from parcahyd.lab.site_sizes import draws, read_site_sizes, synthetic_site_sizes

FOLDER = Path(__file__).parent / "site_sizes"


def test_real_sizes_are_read_with_months_in_which_a_site_was_not_seen() -> None:
    sizes = read_site_sizes(FOLDER)
    assert sizes.months == 4
    assert sizes.pages["altervista.org"] == (1203306, 1115302, 1323047, 1453760)
    assert any(None in months for months in sizes.pages.values())
    assert sizes.file is not None


def test_one_month_is_planned_by_and_the_next_one_is_crawled() -> None:
    sizes = read_site_sizes(FOLDER)
    first, second = list(draws(sizes, 1, 2, 30, with_new=False))
    assert len(first.truth) == len(set(first.truth)) == 30
    assert all(sizes.pages[site][:2] == (first.planned[site], pages) for site, pages in first.truth.items())
    assert all(sizes.pages[site][1:3] == (second.planned[site], pages) for site, pages in second.truth.items())


def test_new_sites_are_those_without_a_size() -> None:
    sizes = read_site_sizes(FOLDER)
    found = [draw for draw in draws(sizes, 1, 9, 30, with_new=True) if None in draw.planned.values()]
    assert found
    assert not any(None in draw.planned.values() for draw in draws(sizes, 1, 9, 30, with_new=False))


def test_the_same_seed_draws_the_same_and_another_one_does_not() -> None:
    sizes = synthetic_site_sizes(1)
    assert sizes == synthetic_site_sizes(1)
    assert sizes != synthetic_site_sizes(2)
    assert list(draws(sizes, 1, 3, 30, with_new=True)) == list(draws(sizes, 1, 3, 30, with_new=True))
    assert list(draws(sizes, 1, 3, 30, with_new=True)) != list(draws(sizes, 2, 3, 30, with_new=True))


def test_a_single_month_is_the_truth_too(tmp_path: Path) -> None:
    (tmp_path / "pages.tsv").write_text("#site\tpages\na.example\t5\nb.example\t7\n")
    (draw,) = draws(read_site_sizes(tmp_path), 1, 1, 2, with_new=False)
    assert draw.planned == draw.truth == {"a.example": 5, "b.example": 7}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("a\t5\nb\t5\t6\n", "rows have 1 to 2 months"), ("a\tmany\n", '"many" is not a number'), ("", "rows have 0 to 0 months")],
)
def test_sizes_of_another_form_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "pages.tsv").write_text(text)
    with pytest.raises(UserError, match=sentence):
        read_site_sizes(tmp_path)


def test_too_few_sites_are_told(tmp_path: Path) -> None:
    (tmp_path / "pages.tsv").write_text("a\t5\nb\t7\n")
    with pytest.raises(UserError, match="2 sites of months 1 and 1, not 30"):
        list(draws(read_site_sizes(tmp_path), 1, 1, 30, with_new=False))
