"""Building the tables of a site, again and again."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from parcahyd.augment.bundle import read_bundle
from parcahyd.augment.sidecars import resolve
from parcahyd.augment.site_offer import declarations_in, restricted_to_directory
from parcahyd.augment.skeleton import Parted, part_with_tvi, refreshed
from parcahyd.augment.tol import Tol, read_tol
from parcahyd.augment.tvi import Tvi, read_tvi
from parcahyd.authoring.atomic_files import write_atomically
from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.build import MANIFEST, augment_folder, build, page_element
from parcahyd.authoring.check import check
from parcahyd.core.errors import UserError
from tests.authoring.conftest import PAGES, files_of
from tests.support.privileges import command_without_privileges

TABLES = ["index.TOL", "kettle.TOL", "kettle.TVI", "sub/feed.TVI", "sub/index.TOL"]


def test_a_first_build(site: Path) -> None:
    before = files_of(site)
    report = build(make_plan(site, "https://www.example.org/"))
    after = files_of(site)
    assert sorted(report.written) == sorted([*TABLES, "site.TOL", "robots.txt"])
    assert set(after) - set(before) == {*report.written, MANIFEST}
    assert {path: after[path] for path in before} == before
    assert (report.pages, report.removed, report.errors, report.robots_line) == (4, [], [], "")
    assert report.table_bytes == sum(len(after[path]) for path in TABLES)
    assert after["robots.txt"] == (
        b"# Augment: 1; scope=/; tol={stem}.TOL; tvi={stem}.TVI; index=index.html; bundle=/site.TOL\n"
    )


def test_tvi_is_declared_only_where_a_page_has_regions(tmp_path: Path) -> None:
    robots, page = tmp_path / "robots.txt", tmp_path / "kettle.html"
    page.write_text("<p>Its price is volatile today; data-vol would mark it.</p>")
    plan = make_plan(tmp_path)
    assert build(plan).errors == []
    without = b"# Augment: 1; scope=/; tol={stem}.TOL; index=index.html; bundle=/site.TOL\n"
    assert (robots.read_bytes(), check(plan), (tmp_path / "kettle.TVI").exists()) == (without, [], False)
    page.write_text('<p>Its price is <span class="volatile" id="price">11</span> today.</p>')
    assert [str(error) for error in check(plan)][-1].startswith("robots.txt: it does not say: # Augment: 1; scope=/; tol=")
    assert build(plan).written == ["kettle.TOL", "kettle.TVI", "site.TOL", "robots.txt"]
    assert robots.read_bytes() == without.replace(b"index=", b"tvi={stem}.TVI; index=")
    assert check(plan) == []
    page.write_text("<p>Sold.</p>")
    assert build(plan).removed == ["kettle.TVI"]
    assert (robots.read_bytes(), check(plan)) == (without, [])
    assert build(plan).written == []


def test_the_tables_are_right(site: Path) -> None:
    build(make_plan(site))
    tol = read_tol((site / "kettle.TOL").read_bytes())
    assert isinstance(tol, Tol)
    assert (tol.is_complete, tol.follow, tol.head.document, tol.head.tvi) == (True, ["index.html"], "kettle.html", "kettle.TVI")
    tvi = read_tvi((site / "kettle.TVI").read_bytes())
    assert isinstance(tvi, Tvi)
    document = PAGES["kettle.html"].encode()
    parted = part_with_tvi(document, tvi)
    assert isinstance(parted, Parted)
    assert refreshed(parted.skeleton, tvi, parted.places) == document
    feed = read_tvi((site / "sub" / "feed.TVI").read_bytes())
    assert isinstance(feed, Tvi)
    assert [region.content for region in feed.regions] == [b"12"]


def test_the_bundle_speaks_from_where_it_is(site: Path) -> None:
    build(make_plan(site))
    tables, refusal = read_bundle((site / "site.TOL").read_bytes())
    assert refusal is None
    documents = [resolve("http://localhost/site.TOL", table.head.document) for table in tables]
    assert documents == [f"http://localhost/{path}" for path in ("index.html", "kettle.html", "sub/index.html")]
    assert tables[2].embedded == ["../a%20b.png"]
    assert tables[1].head.tvi == "kettle.TVI"


def test_a_second_build_writes_nothing(site: Path) -> None:
    build(make_plan(site))
    stamps = {path: os.stat(site / path).st_mtime_ns for path in files_of(site)}
    report = build(make_plan(site))
    assert (report.written, report.removed) == ([], [])
    assert {path: os.stat(site / path).st_mtime_ns for path in files_of(site)} == stamps


def test_one_changed_page_rewrites_its_own_files(site: Path) -> None:
    build(make_plan(site))
    (site / "kettle.html").write_text(PAGES["kettle.html"].replace("11.00", "12.00"), encoding="utf-8")
    assert build(make_plan(site)).written == ["kettle.TOL", "kettle.TVI", "site.TOL"]
    (site / "index.html").touch()
    assert build(make_plan(site)).written == []


def test_a_table_that_was_lost_or_changed_is_written_again(site: Path) -> None:
    build(make_plan(site))
    (site / "index.TOL").unlink()
    (site / "kettle.TVI").write_bytes(b"TVI/1\n")
    assert build(make_plan(site)).written == ["index.TOL", "kettle.TVI"]


def test_tables_that_were_changed_without_becoming_longer_are_written_again(site: Path) -> None:
    build(make_plan(site))
    table, bundle = site / "index.TOL", site / "site.TOL"
    table.write_bytes(table.read_bytes().replace(b"kettle", b"kettel"))
    assert build(make_plan(site)).written == ["index.TOL"]
    bundle.write_bytes(b"junk")
    assert build(make_plan(site)).written == ["site.TOL"]
    assert check(make_plan(site)) == []


@pytest.mark.parametrize("bundle", ["", "all.TOL"])
def test_the_bundle_of_another_plan_is_removed(bundle: str, site: Path) -> None:
    build(make_plan(site))
    assert build(make_plan(site, bundle=bundle), dry_run=True).removed == ["site.TOL"]
    assert build(make_plan(site, bundle=bundle)).removed == ["site.TOL"]
    assert check(make_plan(site, bundle=bundle)) == []


def test_a_bundle_that_somebody_has_changed_is_not_removed(site: Path) -> None:
    build(make_plan(site))
    (site / "site.TOL").write_bytes(b"mine")
    assert build(make_plan(site, bundle="")).removed == []


def test_tables_of_pages_that_are_gone_are_removed(site: Path) -> None:
    build(make_plan(site))
    (site / "kettle.html").unlink()
    (site / "sub" / "feed.xml").write_text("<feed/>", encoding="utf-8")
    (site / "others.TOL").write_bytes(b"not ours")
    report = build(make_plan(site))
    assert sorted(report.removed) == ["kettle.TOL", "kettle.TVI", "sub/feed.TVI"]
    assert (site / "others.TOL").exists()
    assert not (site / "kettle.TOL").exists()


def test_what_somebody_else_has_written_meanwhile_is_not_removed(site: Path) -> None:
    build(make_plan(site))
    (site / "kettle.html").unlink()
    (site / "kettle.TOL").write_bytes(b"mine")
    assert build(make_plan(site)).removed == ["kettle.TVI"]


def test_a_manifest_cannot_make_us_remove_other_files(site: Path, tmp_path: Path) -> None:
    build(make_plan(site))
    (tmp_path / "outside.TOL").write_bytes((site / "kettle.TOL").read_bytes())
    manifest = site / MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(b'"kettle.TOL"', b'"../outside.TOL"'))
    (site / "kettle.html").unlink()
    build(make_plan(site))
    assert (tmp_path / "outside.TOL").exists()


@pytest.mark.parametrize("name", ["../x.TOL", "/x.TOL", "x.html", "x\\u0000.TOL"])
def test_a_manifest_cannot_name_other_files(name: str, site: Path) -> None:
    build(make_plan(site))
    manifest = site / MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(b'"kettle.TOL"', f'"{name}"'.encode()))
    (site / "kettle.html").unlink()
    assert build(make_plan(site)).removed == ["kettle.TVI"]


@pytest.mark.parametrize("manifest", [b"", b"{}", b'{"make": 0, "declaration": ""}', b"\xff", b"[" * 100_000])
def test_a_manifest_that_cannot_be_read_is_no_manifest(site: Path, manifest: bytes) -> None:
    build(make_plan(site))
    (site / MANIFEST).write_bytes(manifest)
    assert build(make_plan(site)).written == []
    assert len((site / MANIFEST).read_bytes()) > 100


def test_a_dry_run_writes_nothing(site: Path) -> None:
    before = files_of(site)
    report = build(make_plan(site), dry_run=True)
    assert files_of(site) == before
    assert sorted(report.written) == sorted([*TABLES, "site.TOL", "robots.txt"])


def test_mistakes_have_file_line_and_column(site: Path) -> None:
    build(make_plan(site))
    (site / "kettle.html").write_text("<p>\n  <b data-vol=a>", encoding="utf-8")
    report = build(make_plan(site))
    assert [str(error) for error in report.errors] == ["kettle.html:2:3: region 'a' does not end"]
    assert report.removed == ["kettle.TVI"]
    again = build(make_plan(site))
    assert again.errors == report.errors


def test_a_form_for_documents_with_one_stem(site: Path) -> None:
    (site / "sub" / "index.xml").write_text("<feed><Vol1>1</Vol1></feed>", encoding="utf-8")
    with pytest.raises(UserError, match="--form path"):
        build(make_plan(site))
    report = build(make_plan(site, form="path"))
    assert "sub/index.xml.TVI" in report.written
    assert "sub/index.html.TOL" in report.written


def test_changing_the_form_moves_the_tables(site: Path) -> None:
    build(make_plan(site))
    report = build(make_plan(site, form="path"))
    assert sorted(report.removed) == TABLES
    assert "kettle.html.TOL" in report.written
    assert "form" not in (site / "robots.txt").read_text(encoding="utf-8")
    assert (site / "robots.txt").read_text(encoding="utf-8").count("Augment") == 1


def test_a_part_of_a_site_leaves_robots_to_its_author(site: Path) -> None:
    report = build(make_plan(site, "https://www.example.org/docs"))
    assert not (site / "robots.txt").exists()
    assert report.robots_line.startswith("# Augment: 1; scope=/docs/; ")
    assert report.robots_line.endswith("bundle=/docs/site.TOL")


def test_without_a_bundle(site: Path) -> None:
    report = build(make_plan(site, bundle=""))
    assert "site.TOL" not in report.written
    assert "bundle" not in (site / "robots.txt").read_text(encoding="utf-8")


def test_odd_file_names(site: Path) -> None:
    names = ["a b.html", "c:d.html", "100%.html", "é?#.html", "..html"]
    for name in names:
        (site / "sub" / name).write_text("<a href=x>", encoding="utf-8")
    report = build(make_plan(site))
    assert {"sub/a b.TOL", "sub/c:d.TOL", "sub/100%.TOL", "sub/é?#.TOL"} <= set(report.written)
    tables, refusal = read_bundle((site / "site.TOL").read_bytes())
    assert refusal is None
    urls = {resolve("http://localhost/site.TOL", table.head.document) for table in tables}
    assert {"http://localhost/sub/a%20b.html", "http://localhost/sub/c:d.html", "http://localhost/sub/100%25.html"} <= urls
    tol = read_tol((site / "sub" / "c:d.TOL").read_bytes())
    assert isinstance(tol, Tol)
    assert resolve("http://localhost/sub/c:d.TOL", tol.head.document) == "http://localhost/sub/c:d.html"


def test_processes_give_the_same(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parcahyd.authoring.site_folder._LEAST_PAGES", 100)
    for number in range(150):
        (site / f"page{number}.html").write_text(f"<a href={number}><b data-vol=n>{number}</b>", encoding="utf-8")
    seen: list[tuple[int, int]] = []
    build(make_plan(site), jobs=2, progress=lambda done, total: seen.append((done, total)))
    parallel = files_of(site)
    assert seen[-1] == (154, 154)
    for path in parallel:
        if path.endswith((".TOL", ".TVI", MANIFEST, "robots.txt")):
            (site / path).unlink()
    build(make_plan(site), jobs=1)
    assert files_of(site) == parallel


@pytest.mark.parametrize(
    ("base_url", "bundle"),
    [
        ("ftp://x/", "site.TOL"),
        ("nowhere", "site.TOL"),
        ("http://x/?q", "site.TOL"),
        ("http://x/", "../a.TOL"),
        ("http://x/", "a.txt"),
    ],
)
def test_plans_that_cannot_be_followed(site: Path, base_url: str, bundle: str) -> None:
    with pytest.raises(UserError):
        make_plan(site, base_url, bundle=bundle)


def test_a_page_that_is_called_like_the_bundle(site: Path) -> None:
    (site / "site.html").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="--bundle"):
        build(make_plan(site))


def test_file_names_that_are_no_text(site: Path) -> None:
    name = os.fsencode(site) + b"/caf\xe9"
    try:
        Path(os.fsdecode(name + b".html")).write_text("<a href=x>", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    assert os.fsdecode(b"caf\xe9.TOL") in build(make_plan(site)).written
    assert build(make_plan(site)).written == []
    assert check(make_plan(site)) == []
    os.remove(name + b".html")
    assert build(make_plan(site)).removed == [os.fsdecode(b"caf\xe9.TOL")]


def test_file_names_as_long_as_they_may_be(site: Path) -> None:
    (site / ("\u754c" * 83 + "a.html")).write_text("<a href=x>", encoding="utf-8")
    assert "\u754c" * 83 + "a.TOL" in build(make_plan(site)).written


def test_what_is_no_file_is_no_page(site: Path) -> None:
    (site / "nowhere.html").symlink_to("missing.html")
    (site / "nowhere.xml").symlink_to("missing.xml")
    os.mkfifo(site / "pipe.html")
    os.mkfifo(site / "pipe.xml")
    assert build(make_plan(site)).pages == 4


@pytest.mark.parametrize("name", ["index.TOL", "kettle.TVI", "site.TOL", "robots.txt", MANIFEST])
def test_a_folder_in_the_place_of_a_file_is_the_users_mistake(name: str, site: Path) -> None:
    (site / name).mkdir()
    with pytest.raises(UserError, match=re.escape(f"{name} cannot be read: Is a directory")):
        build(make_plan(site))


def test_nothing_is_left_of_a_file_that_could_not_be_written(site: Path) -> None:
    with pytest.raises(UserError, match="cannot be written: "):
        write_atomically(str(site / "sub"), b"")
    assert not list(site.glob(".augment.*.new"))


def test_a_folder_that_may_not_be_read_is_not_taken_for_an_empty_one(site: Path) -> None:
    (site / "sub").chmod(0)
    try:
        built = command_without_privileges("augment", "build", str(site), "--base-url", "https://host.example/")
    finally:
        (site / "sub").chmod(0o755)
    assert built.code == 2
    assert "sub cannot be read: Permission denied" in built.err


def test_a_whole_site_is_declared_in_its_robots_file(site: Path) -> None:
    report = augment_folder(site, "https://a.example/")
    assert "robots.txt" in report.written
    assert not (site / "augment.txt").exists()
    assert page_element("sub/index.html", "https://a.example/") == ""


def test_a_site_below_a_path_is_declared_by_a_file_that_its_pages_name(site: Path) -> None:
    url = "https://a.example/project/"
    report = augment_folder(site, url)
    assert "augment.txt" in report.written
    assert not (site / "robots.txt").exists()
    (declaration,) = declarations_in((site / "augment.txt").read_bytes())
    held = restricted_to_directory(declaration, f"{url}augment.txt")
    assert held is not None
    assert held.tol_of(f"{url}sub/") == f"{url}sub/index.TOL"
    assert held.bundle_of("https://a.example") == f"{url}site.TOL"
    assert check(make_plan(site, url)) == []
    assert augment_folder(site, url).written == []


@pytest.mark.parametrize(("page", "href"), [("index.html", ""), ("", ""), ("sub/index.html", "../"), ("a/b/", "../../")])
def test_a_page_names_the_file_from_where_it_is(page: str, href: str) -> None:
    assert page_element(page, "https://a.example/p") == f'<link rel="augment" href="{href}augment.txt">'
