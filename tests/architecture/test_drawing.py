"""The drawing, the files and the README show the same crawler."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIPELINE = ROOT / "parcahyd" / "pipeline"

BOXES = {
    "URL Dispatcher": "url_dispatcher",
    "URL-IP Queue": "url_ip_queue",
    "Mapping Manager": "mapping_manager",
    "URL Mapper": "url_mapper",
    "Resolved URL Queue": "resolved_queue",
    "Crawl Manager": "crawl_manager",
    "Crawl Worker": "crawl_worker",
    "Document and URL Buffer": "document_buffer",
    "Update Database": "update_database",
}
AROUND = {"Database", "DNS Resolver plugin", "Downloader plugin", "ExternLQ DocURLQ BadURLQ"}


def _drawing(page: str) -> str:
    drawings = re.findall(r"```\n(  conf/MapConf\.toml.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert len(drawings) == 1, f"{page} has {len(drawings)} drawings"
    return str(drawings[0])


def _names(drawing: str) -> set[str]:
    """Everything that is written in the drawing: names stand between arrows, brackets and wide gaps."""
    parts = re.split(r"->|<-|[()|^\n]|\bv\b|\bx [mn]\b|\s{3,}", drawing)
    return {part.strip() for part in parts if part.strip()}


@pytest.mark.parametrize("page", ["README.md", "parcahyd/topology.py"])
def test_the_drawing_is_the_same_everywhere(page: str) -> None:
    assert _drawing(page) == _drawing("docs/architecture.md")


def test_every_name_in_the_drawing_is_a_box_or_stands_around_one() -> None:
    assert _names(_drawing("docs/architecture.md")) == {*BOXES, *AROUND, "conf/MapConf.toml", "conf/WorkConf.toml"}


def test_every_file_of_the_pipeline_is_a_box_of_the_drawing() -> None:
    parts = {path.stem for path in PIPELINE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts - {"__init__"} == set(BOXES.values())


@pytest.mark.parametrize(("box", "file"), BOXES.items())
def test_a_box_says_its_name(box: str, file: str) -> None:
    path = PIPELINE / f"{file}.py"
    source = path if path.exists() else PIPELINE / file / "__init__.py"
    assert box in source.read_text(encoding="utf-8").partition('"""')[2].partition('"""')[0]


def test_the_table_of_boxes_has_every_box_with_its_file() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for box, file in BOXES.items():
        assert f"| {box} | `{file}` |" in page
