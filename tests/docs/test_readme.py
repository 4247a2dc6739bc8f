"""README.md begins with whom it is for, a picture, what one gets, and what others are better for."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_it_begins_with_a_picture_and_four_lines() -> None:
    top = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    assert top.splitlines()[2].startswith("A web crawler for people who ")
    (picture,) = re.findall(r"^!\[[^\]]+\]\(([^)]+)\)$", top, re.MULTILINE)
    assert (ROOT / picture).is_file()
    assert len(re.findall(r"^- \*\*", top, re.MULTILINE)) == 4
    assert "(docs/tutorial.md)" in top


def test_each_other_crawler_is_the_better_choice_for_something() -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Is it the right one?")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| ")]
    heading, *crawlers = rows
    assert heading[-1] == "take it for"
    names = [re.sub(r"[\[\]*]|\(.*\)", "", row[0]) for row in crawlers]
    assert names == ["PARCAHYD", "wget2", "Scrapy", "Heritrix", "Browsertrix Crawler"]
    assert all(all(row) and len(row) == len(heading) for row in crawlers)
