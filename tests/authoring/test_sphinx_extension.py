"""The extension for Sphinx, run by Sphinx."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from parcahyd.augment.refusal import Refusal
from parcahyd.augment.tol import read_tol
from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.check import check

pytest.importorskip("sphinx", reason="sphinx is not installed: pip install '.[author-test]'")
ROOT = Path(__file__).parents[2]
MARKED = 'Kettle\n======\n\n.. raw:: html\n\n   <span data-vol="price">11.00 EUR</span>\n\n`Other <https://other.example/>`_\n'


def _sphinx(folder: Path, builder: str = "html", settings: str = "", kettle: str = MARKED) -> subprocess.CompletedProcess[str]:
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "conf.py").write_text(f"extensions = ['parcahyd.authoring.sphinx_extension']\n{settings}\n", encoding="utf-8")
    (source / "index.rst").write_text("Home\n====\n\n.. toctree::\n\n   sub/kettle\n", encoding="utf-8")
    (source / "sub").mkdir(exist_ok=True)
    (source / "sub" / "kettle.rst").write_text(kettle, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", builder, str(source), str(folder / "site")]
    return subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(("builder", "kettle"), [("html", "sub/kettle"), ("dirhtml", "sub/kettle/index")])
def test_a_site_has_tables_that_fit(tmp_path: Path, builder: str, kettle: str) -> None:
    done = _sphinx(tmp_path, builder, "html_baseurl = 'https://a.example/'")
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    assert check(make_plan(site, "https://a.example/")) == []
    tol = read_tol((site / f"{kettle}.TOL").read_bytes())
    assert not isinstance(tol, Refusal)
    assert "https://other.example/" in tol.references
    assert b"11.00 EUR" in (site / f"{kettle}.TVI").read_bytes()
    assert b"# Augment: 1; scope=/;" in (site / "robots.txt").read_bytes()
    assert b'rel="augment"' not in (site / f"{kettle}.html").read_bytes()


def test_a_site_below_a_path(tmp_path: Path) -> None:
    settings = "html_baseurl = 'https://a.example/k/'\naugment_form = 'path'\naugment_bundle = ''"
    done = _sphinx(tmp_path, "html", settings)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    assert check(make_plan(site, "https://a.example/k/", form="path", bundle="")) == []
    assert b'<link rel="augment" href="../augment.txt">' in (site / "sub" / "kettle.html").read_bytes()
    assert b'<link rel="augment" href="augment.txt">' in (site / "genindex.html").read_bytes()


def test_a_second_build_writes_what_has_changed(tmp_path: Path) -> None:
    assert _sphinx(tmp_path).returncode == 0
    assert _sphinx(tmp_path, kettle=MARKED.replace("11.00", "12.00")).returncode == 0
    assert b"12.00 EUR" in (tmp_path / "site" / "sub" / "kettle.TVI").read_bytes()
    assert check(make_plan(tmp_path / "site")) == []


def test_wrong_markers_fail_a_strict_build(tmp_path: Path) -> None:
    done = _sphinx(tmp_path, kettle=f"{MARKED}\n.. raw:: html\n\n   <b data-vol=price>2</b>\n")
    assert done.returncode == 1
    assert "sub/kettle.html:" in done.stderr


def test_other_builders_are_left_alone(tmp_path: Path) -> None:
    done = _sphinx(tmp_path, "text")
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "site").rglob("*.TOL"))


def test_a_wrong_setting_is_told(tmp_path: Path) -> None:
    done = _sphinx(tmp_path, settings="augment_bundle = 'a/b'")
    assert done.returncode == 2
    assert "the bundle cannot be called 'a/b'" in done.stderr
