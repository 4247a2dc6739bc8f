"""How large a crawl will be: on webs whose size is known, on traps, and where nothing was seen yet."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence

import pytest

from parcahyd.core.progress import SizeEstimate
from parcahyd.rules.growth.discovery import Growth, growth_of
from parcahyd.rules.growth.estimate import FEWEST, estimate

LEAF = (0.0, 0.0, 0.0)


def found_at(links: Sequence[Sequence[int]]) -> list[int]:
    """When each URL is found, by the number of answers, in a walk from page 0, breadth first."""
    found, order = {0: 0}, [0]
    for answer, page in enumerate(order, 1):
        for target in links[page]:
            if target not in found:
                found[target] = answer
                order.append(target)
    return list(found.values())


def after(found: Sequence[int], answered: int) -> SizeEstimate | None:
    """The estimate when so many pages were answered."""
    known = bisect_right(found, answered)
    return estimate(growth_of(answered, answered, known - answered, found[:known], range(1, answered + 1)))


def random_web(seed: int) -> list[list[int]]:
    """A tree whose pages have 0 to 2 * `fan_out` children of their own, and links that lead anywhere."""
    chance = random.Random(seed)
    pages, fan_out, across = chance.randint(300, 3000), chance.choice((2, 4, 8, 20)), chance.choice((0, 2, 5))
    links: list[list[int]] = []
    made = 1
    for page in range(pages):
        fresh = min(chance.randint(0, 2 * fan_out), pages - made)
        if page + 1 == made:
            fresh = max(fresh, min(1, pages - made))  # Nobody waits: the tree would end here.
        links.append([*range(made, made + fresh), *chance.choices(range(pages), k=across)])
        made += fresh
    return links


def test_nothing_is_said_before_something_was_seen() -> None:
    assert estimate(Growth(0, 0, 0, LEAF)) is None
    assert estimate(Growth(0, 0, 5, LEAF)) is None
    assert estimate(Growth(FEWEST - 1, FEWEST - 1, 5, LEAF)) is None
    assert estimate(Growth(FEWEST, FEWEST, 5, LEAF)) is not None


def test_when_nothing_waits_the_end_is_known() -> None:
    assert estimate(Growth(7, 9, 0, (0.5, 0.5, 0.5))) == SizeEstimate(7, 7, 7, 7)


def test_it_comes_to_the_size_of_a_web_that_ends() -> None:
    for seed in range(10):
        found = found_at(random_web(seed))
        size = len(found)
        made = [after(found, answered) for answered in (size * 9 // 10, size * 99 // 100, size)]
        errors = [abs((one.likely or 0) / size - 1) for one in made if one is not None]
        assert len(errors) == 3
        assert errors[0] < 0.25
        assert errors[1] < 0.03
        assert made[2] == SizeEstimate(size, size, size, size)


def test_nine_intervals_of_ten_have_the_truth_on_webs_of_chance() -> None:
    inside = made = bounded = 0
    for seed in range(60):
        found = found_at(random_web(seed))
        for share in (0.1, 0.25, 0.5, 0.75):
            found_estimate = after(found, max(FEWEST, int(len(found) * share)))
            assert found_estimate is not None
            made += 1
            bounded += found_estimate.most is not None
            inside += found_estimate.least <= len(found) <= (found_estimate.most or len(found))
    assert inside / made >= 0.9
    assert bounded / made >= 0.4, "an interval without an upper bound is always right, and says nothing"


@pytest.mark.parametrize("answered", [FEWEST, 300, 3000])
def test_a_trap_has_no_end_in_sight(answered: int) -> None:
    """A calendar: each page leads to the next, and nothing else waits."""
    made = after(range(answered + 100), answered)
    assert made == SizeEstimate(answered, answered, None, None)


def test_a_trap_within_a_site_takes_the_upper_bound_away() -> None:
    """A thousand pages wait, and every second one that is asked for is a calendar's."""
    made = estimate(Growth(400, 400, 1000, (0.5, 0.5, 0.5)))
    assert made is not None
    assert made.most is None


def test_where_a_sitemap_has_everything_the_likely_number_is_right_at_once() -> None:
    made = after([0] * 1000, FEWEST)
    assert made is not None
    assert made.likely == 1000


def test_urls_that_give_no_page_are_expected_of_those_that_wait_too() -> None:
    made = estimate(Growth(500, 1000, 1000, LEAF))
    assert made is not None
    assert made.likely == 1000
    assert made.least < 900, "dead links come in bursts"
    assert made.most is not None
    assert made.most > 1100


def test_which_share_is_done() -> None:
    assert SizeEstimate(50, 90, 100, None).done == 0.5
    assert SizeEstimate(50, 90, None, None).done is None
    assert SizeEstimate(0, 0, 0, 0).done == 0.0
