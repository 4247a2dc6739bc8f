"""Groups of entry points are found wherever the standard library would find them; doubt counts as a find."""

from __future__ import annotations

import sys
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from parcahyd.runtime.entry_point_groups import may_be_offered

GROUP = "group_of_this_test"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def _describe(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir()
    (folder / name / "METADATA").write_text("Metadata-Version: 2.1\nName: some\nVersion: 1\n")
    (folder / name / "entry_points.txt").write_text(text)


def test_a_group_that_no_package_has_is_not_offered(folder: Path) -> None:
    _describe(folder, "other-1.dist-info", "[another_group]\none = os\n")
    (folder / "without-1.dist-info").mkdir()
    assert not may_be_offered(GROUP)
    assert not entry_points(group=GROUP)


@pytest.mark.parametrize("name", ["some-1.dist-info", "some-1.egg-info"])
def test_a_group_that_a_package_has_is_offered(folder: Path, name: str) -> None:
    _describe(folder, name, f"[console_scripts]\nx = os\n\n[{GROUP}]\none = os\n")
    assert entry_points(group=GROUP)
    assert may_be_offered(GROUP)


def test_an_archive_an_egg_and_a_finder_of_distributions_are_doubts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = folder / "some.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("some.py", "")
    for entry in (archive, folder / "some.egg"):
        if entry != archive:
            entry.mkdir()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "path", [*sys.path, str(entry)])
            assert may_be_offered(GROUP)

    class Finder:
        def find_distributions(self) -> list[object]:
            return []

        def find_spec(self, *_: object) -> None:
            return None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert may_be_offered(GROUP)
