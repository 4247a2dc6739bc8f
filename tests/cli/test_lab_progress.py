"""`parcahyd lab progress`: tables of a tree of HTML files, of a recorded crawl and its hosts, and errors in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parcahyd.cli.application import run_command
from parcahyd.cli.lab_progress import command

Output = pytest.CaptureFixture[str]
PROGRESS = ["lab", str(command.name)]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A page that leads to 200 others, of which each leads back and to the next."""
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "index.html").write_text("".join(f'<a href="{number}.html">x</a>' for number in range(200)))
    for number in range(200):
        (folder / f"{number}.html").write_text(f'<a href="index.html">up</a> <a href="{(number + 1) % 200}.html">on</a>')
    return folder


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    folder = tmp_path / "graph"
    folder.mkdir()
    urls = [f"http://{host}.example/{number}" for host, pages in (("a", 120), ("b", 60)) for number in range(pages)]
    (folder / "pages.tsv").write_text("#url\n" + "".join(f"{url}\n" for url in urls))
    (folder / "links.txt").write_text("".join(f"{(row + 1) % 180} {(2 * row) % 180}\n" for row in range(180)))
    return folder


def test_a_tree_of_html_files_is_judged(tree: Path, capsys: Output) -> None:
    assert run_command([*PROGRESS, str(tree), "--runs", "1"]) == 0
    shown = capsys.readouterr().out
    assert "### Estimates of a crawl's size" in shown
    assert "| tree | ours | 201 " in shown
    assert "not known yet" in shown
    assert "Of 1 crawls, 4 stops." in shown
    assert "tree (sha256 " in shown


def test_hosts_are_crawls_of_their_own(graph: Path, tree: Path, tmp_path: Path, capsys: Output) -> None:
    words = [*PROGRESS, str(graph), str(tree), "--hosts", "2", "--runs", "2", "--json", "--report", str(tmp_path)]
    assert run_command(words) == 0
    estimates, methods = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in estimates["rows"]] == ["graph", "graph, a.example", "graph, b.example", "tree"]
    assert estimates["rows"][0]["figures"]["truth"] == 180
    assert methods["runs"] == 2
    page = (tmp_path / "progress.md").read_text()
    assert "<!-- progress begin -->" in page
    assert "<!-- methods begin -->" in page


def test_a_folder_without_a_crawl_is_one_line(tmp_path: Path, capsys: Output) -> None:
    assert run_command([*PROGRESS, str(tmp_path)]) == 2
    assert "there are no HTML files" in capsys.readouterr().err
