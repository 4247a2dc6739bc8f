"""The plug-in for MkDocs, run by MkDocs. The configuration is the one that the page for site authors shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from parcahyd.augment.refusal import Refusal
from parcahyd.augment.tol import read_tol
from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.check import check

pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install '.[author-test]'")
ROOT = Path(__file__).parents[2]
MARKED = '# Kettle\n\n<span data-vol="price">11.00 EUR</span> [Home](index.md) [Other](https://other.example/)\n'


def _shown() -> str:
    page = (ROOT / "docs" / "for-site-authors.md").read_text(encoding="utf-8")
    found = re.search(r"```yaml\n(site_name:.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


def _mkdocs(folder: Path, configuration: str, kettle: str = MARKED) -> subprocess.CompletedProcess[str]:
    """A build; the entry point is the one of pyproject.toml, whatever is installed."""
    (folder / "docs").mkdir()
    (folder / "mkdocs.yml").write_text(configuration, encoding="utf-8")
    (folder / "docs" / "index.md").write_text("# Home\n\n[Kettle](kettle.md)\n", encoding="utf-8")
    (folder / "docs" / "kettle.md").write_text(kettle, encoding="utf-8")
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]["mkdocs.plugins"]
    installed = folder / "path" / "under_test-0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: under-test\nVersion: 0\n", encoding="utf-8")
    lines = "\n".join([f"{name} = {value}" for name, value in points.items()])
    (installed / "entry_points.txt").write_text(f"[mkdocs.plugins]\n{lines}\n", encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder / 'path'}", "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder / "site")]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_site_has_tables_that_fit(tmp_path: Path) -> None:
    done = _mkdocs(tmp_path, _shown())
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    (url,) = re.findall("(?m)^site_url: (.*)$", _shown())
    assert check(make_plan(site, url)) == []
    tol = read_tol((site / "kettle" / "index.TOL").read_bytes())
    assert not isinstance(tol, Refusal)
    assert "https://other.example/" in tol.references
    assert tol.head.tvi == "index.TVI"
    assert b"11.00 EUR" in (site / "kettle" / "index.TVI").read_bytes()
    assert b"# Augment: 1; scope=/;" in (site / "robots.txt").read_bytes()
    assert b'rel="augment"' not in (site / "kettle" / "index.html").read_bytes()


def test_a_site_below_a_path(tmp_path: Path) -> None:
    configuration = "site_name: K\nsite_url: https://a.example/k/\nplugins:\n  - augment:\n      form: path\n      bundle: ''\n"
    done = _mkdocs(tmp_path, configuration)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    assert check(make_plan(site, "https://a.example/k/", form="path", bundle="")) == []
    assert b'<link rel="augment" href="../augment.txt"></head>' in (site / "kettle" / "index.html").read_bytes()
    assert (site / "augment.txt").read_text() == "Augment: 1; scope=/k/; tol={path}.TOL; tvi={path}.TVI; index=index.html\n"
    assert not (site / "site.TOL").exists()


def test_wrong_markers_fail_a_strict_build(tmp_path: Path) -> None:
    done = _mkdocs(tmp_path, _shown(), '<p data-vol="a">1</p>\n<p data-vol="a">2</p>\n')
    assert done.returncode == 1
    assert "kettle/index.html:" in done.stderr


def test_a_wrong_setting_is_told(tmp_path: Path) -> None:
    done = _mkdocs(tmp_path, "site_name: K\nplugins:\n  - augment:\n      bundle: a/b\n")
    assert done.returncode == 1
    assert "the bundle cannot be called 'a/b'" in done.stderr
    assert "Traceback" not in done.stderr
