"""A program replaces its own section of a page and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.report_page import replace_section, write_section

BESIDE = """\
# Performance

<!-- crawl begin -->
old
<!-- crawl end -->

<!-- scale begin -->
kept
<!-- scale end -->
"""


def test_what_is_outside_of_the_markers_stays() -> None:
    page = replace_section(BESIDE, "crawl", "new\n")
    assert page == BESIDE.replace("\nold\n", "\n\nnew\n\n")
    assert replace_section(page, "crawl", "new") == page


def test_a_new_section_comes_last() -> None:
    page = replace_section("# Performance\n", "crawl", "new")
    assert page == "# Performance\n\n<!-- crawl begin -->\n\nnew\n\n<!-- crawl end -->\n"


def test_a_page_with_half_a_section_is_refused() -> None:
    with pytest.raises(ValueError, match="without"):
        replace_section("<!-- crawl begin -->\ntext\n", "crawl", "new")


def test_a_page_that_is_not_there_is_begun(tmp_path: Path) -> None:
    write_section(tmp_path / "docs" / "page.md", "crawl", "text", "Title")
    assert (tmp_path / "docs" / "page.md").read_text().startswith("# Title\n\n<!-- crawl begin -->")
