"""The pages for those who come from other programs: the settings and keys that they name exist, and their Python is valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from parcahyd.config.schema import HostRule, MapConf, WorkConf

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*DOCS.glob("from-*.md"), DOCS / "tutorial.md"])
_KEYS = {"Map": set(MapConf.__struct_fields__), "Work": set(WorkConf.__struct_fields__)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_that_is_named_exists(page: Path) -> None:
    named = re.findall(r"\b(Map|Work)\.([A-Za-z]+)", page.read_text(encoding="utf-8"))
    assert named
    assert [f"{part}.{key}" for part, key in named if key not in _KEYS[part] and key != "NAME"] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_key_of_a_host_rule_exists(page: Path) -> None:
    for line in re.findall(r"^.*in a `\[\[Host\]\]` rule.*$", page.read_text(encoding="utf-8"), re.MULTILINE):
        own = line.rpartition("|")[0].rpartition("| ")[2] if line.startswith("|") else line
        keys = re.findall(r"`([A-Z][a-z]+[A-Za-z]*)`", own)
        assert keys, line
        assert set(keys) <= set(HostRule.__struct_fields__), line


def test_each_program_has_a_page_with_a_table_and_what_stays_with_it() -> None:
    for page in DOCS.glob("from-*.md"):
        text = page.read_text(encoding="utf-8")
        assert "## What stays with" in text
        assert text.count("\n| ") >= 15
        assert "    parcahyd run " in text
    assert {page.name for page in DOCS.glob("from-*.md")} == {"from-heritrix.md", "from-scrapy.md", "from-wget.md"}


def test_python_in_the_pages_is_valid() -> None:
    for page in PAGES:
        for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            compile(block, page.name, "exec")
