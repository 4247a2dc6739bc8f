"""How many pages sites have, month by month, and draws of sites from them: one month to plan by, the next one as the truth.

Tested in tests/lab/test_site_sizes.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.lab.data import DataFile, data_file, fields

__all__ = ["Draw", "SiteSizes", "draws", "read_site_sizes", "synthetic_site_sizes"]

_SITES, _MONTHS = 600, 12
"""Of the synthetic sizes."""
_DIGITS = 15


class SiteSizes(msgspec.Struct, frozen=True):
    """Pages by site; the months are in the same order for all, and None is a month in which the site was not seen."""

    months: int
    pages: dict[str, tuple[int | None, ...]]
    file: DataFile | None = None
    """None: synthetic."""


class Draw(msgspec.Struct, frozen=True):
    """A crawl that is to be divided."""

    name: str
    """Different for each draw; from it, further chances are drawn."""
    planned: dict[str, int | None]
    """What is known beforehand, in an order drawn by chance: the pages of the month before, or None."""
    truth: dict[str, int]
    """What the crawl meets."""


def read_site_sizes(folder: Path) -> SiteSizes:
    """From `pages.tsv` of a folder. With one month alone, that month is the truth, too."""
    file = data_file(folder, "pages.tsv")
    found = {row[0]: tuple(_pages(file, text) for text in row[1:]) for row in fields(file, 2)}
    months = {len(row) for row in found.values()}
    if len(months) != 1:
        raise UserError(f"{file.path}: rows have {min(months, default=0)} to {max(months, default=0)} months", _REMEDY)
    return SiteSizes(months.pop(), found, file)


_REMEDY = "docs/lab/data.md says the form"


def _pages(file: DataFile, text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        raise UserError(f'{file.path}: "{text[:40]}" is not a number of pages', _REMEDY)
    return int(text) or None


def synthetic_site_sizes(seed: int) -> SiteSizes:
    """Sizes with a long tail, as those of real sites have; each month they change a little, and some sites are missing."""
    chance = Random(f"sizes {seed}")
    return SiteSizes(_MONTHS, {f"site-{number}.example": _synthetic_site(chance) for number in range(_SITES)})


def _synthetic_site(chance: Random) -> tuple[int | None, ...]:
    size = 2000 * chance.paretovariate(0.9)
    months: list[int | None] = []
    for _ in range(_MONTHS):
        size *= chance.lognormvariate(0, 0.2)
        months.append(round(min(size, 1e6)) if chance.random() < 0.95 else None)
    return tuple(months)


def draws(sizes: SiteSizes, seed: int, count: int, sites: int, *, with_new: bool) -> Iterator[Draw]:
    """So many crawls of so many sites, over all pairs of months in turn.

    `with_new`: of the sites of the second month, some were not seen in the first, so their size is not known.
    """
    pairs = [(month, month + 1) for month in range(sizes.months - 1)] or [(0, 0)]
    for number in range(count):
        before, after = pairs[number % len(pairs)]
        name = f"{seed} {number}"
        known = {site: pages for site, months in sorted(sizes.pages.items()) if (pages := months[after]) is not None}
        choice = [site for site in known if with_new or sizes.pages[site][before] is not None]
        if len(choice) < sites:
            raise UserError(f"the data have {len(choice)} sites of months {before + 1} and {after + 1}, not {sites}", _FEWER)
        chosen = Random(name).sample(choice, sites)
        yield Draw(name, {site: sizes.pages[site][before] for site in chosen}, {site: known[site] for site in chosen})


_FEWER = "choose fewer with --sites, or other data"
