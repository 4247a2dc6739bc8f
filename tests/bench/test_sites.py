"""Named sites are found where they are, and what is not there is said."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from bench.coverage import walk
from bench.sites import PACKAGED, Packaged, Site, choose_sites, compressed, generate


def test_a_packaged_site_is_found_below_a_folder(tmp_path: Path) -> None:
    packaged = Packaged("manual-doc", "usr/share/doc/manual")
    assert packaged.found([tmp_path]) is None
    (tmp_path / packaged.root).mkdir(parents=True)
    (tmp_path / packaged.root / "index.html").touch()
    assert packaged.found([tmp_path / "elsewhere", tmp_path]) == Site("manual-doc", tmp_path / packaged.root)


def test_any_folder_with_a_start_page_is_a_site(tmp_path: Path) -> None:
    (tmp_path / "first.html").touch()
    chosen = choose_sites([str(tmp_path)], None, tmp_path, fetch=False, start="first.html")
    assert chosen == [Site(tmp_path.name, tmp_path, "first.html")]
    with pytest.raises(SystemExit, match="neither a named site"):
        choose_sites([str(tmp_path)], None, tmp_path, fetch=False, start="index.html")


def test_a_site_that_is_not_there_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PACKAGED, "no-such-doc", Packaged("no-such-doc", "usr/share/doc/no-such-doc"))
    with pytest.raises(SystemExit, match="--sites FOLDER --fetch"):
        choose_sites(["no-such-doc"], tmp_path, tmp_path, fetch=False, start="index.html")
    with pytest.raises(SystemExit, match="needs --sites FOLDER"):
        choose_sites(["no-such-doc"], None, tmp_path, fetch=True, start="index.html")


def test_the_generated_site_is_the_same_every_time_and_all_of_it_can_be_reached(tmp_path: Path) -> None:
    for name in ("one", "two"):
        generate(tmp_path / name, pages=120)
    assert len(walk(tmp_path / "one", "index.html").pages) == 120
    for file in sorted((tmp_path / "one").rglob("*.html")):
        assert file.read_bytes() == (tmp_path / "two" / file.relative_to(tmp_path / "one")).read_bytes()


def test_a_compressed_site_has_each_page_in_both_forms(tmp_path: Path) -> None:
    root = tmp_path / "site"
    (root / "below").mkdir(parents=True)
    (root / "index.html").write_bytes(b"<p>one</p>")
    (root / "below" / "two.htm").write_bytes(b"<p>two</p>")
    (root / "style.css").touch()
    served = compressed(Site("site", root), tmp_path)
    assert sorted(path.name for path in served.root.rglob("*") if path.is_file()) == [
        *("index.html", "index.html.gz", "style.css", "two.htm", "two.htm.gz")
    ]
    assert gzip.decompress((served.root / "below" / "two.htm.gz").read_bytes()) == b"<p>two</p>"
