"""The last section of docs/plugins.md is what the code says, and the code says something about every member."""

from __future__ import annotations

import inspect
from pathlib import Path

import msgspec
import pytest

from parcahyd import plugins
from parcahyd.cli.plugins_page import GROUPS, HEADING, main, members, with_reference

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
CLASSES = [name for name in plugins.__all__ if inspect.isclass(getattr(plugins, name)) and not name.endswith("Conf")]


def test_the_page_is_what_the_code_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert HEADING in page
    assert with_reference(page) == page, "make docs"


def test_every_exported_name_is_in_one_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(plugins.__all__)


@pytest.mark.parametrize("name", CLASSES)
def test_every_member_has_a_type_and_a_sentence(name: str) -> None:
    for member, kind, sentence in members(getattr(plugins, name)):
        assert kind.strip("`"), member
        assert sentence.endswith("."), f"{name}.{member}"


@pytest.mark.parametrize("name", [name for name in CLASSES if issubclass(getattr(plugins, name), msgspec.Struct)])
def test_every_field_of_a_record_is_a_member(name: str) -> None:
    record = getattr(plugins, name)
    listed = [member.strip("`") for member, _, _ in members(record) if "(" not in member]
    assert listed == list(record.__struct_fields__)


def test_the_program_writes_the_section_into_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Before\n\n{HEADING}old\n")
    assert main([str(page)]) == 0
    assert page.read_text().startswith(f"# Before\n\n{HEADING}\nWhat `parcahyd.plugins` exports")
    assert "old" not in page.read_text().splitlines()
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
