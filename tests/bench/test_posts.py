"""What is posted on a graph of three hosts, counted by hand."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from bench.posts import Graph, main, outcome, read_graph, walk, ways
from parcahyd.partition.by_hash import ByHash

PAGES = ["http://a.example/", "http://a.example/1", "http://a.example/2", "http://b.example/", "http://c.example/x"]
LINKS = [[1, 2, 3, 3], [0, 3, 4], [3, 3, 1], [0], []]
OWNERS = [0, 0, 0, 1, 1]
GRAPH = Graph(PAGES, LINKS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with lzma.open(tmp_path / "pages.tsv.xz", "wt", encoding="utf-8") as pages:
        pages.write("#url\tbytes\n" + "".join(f"{url}\t100\n" for url in PAGES))
    with lzma.open(tmp_path / "links.txt.xz", "wt", encoding="utf-8") as links:
        links.write("".join(f"{' '.join(map(str, line))}\n" for line in LINKS))
    return tmp_path


class _Forgetful:
    def count(self, url: str) -> None:
        pass

    def is_posted(self, owner: int, url: str) -> bool:  # noqa: ARG002 - the signature of a way
        return False

    def commit(self, posts: object) -> None:
        pass


def test_a_graph_is_read(folder: Path) -> None:
    assert read_graph(folder) == GRAPH


def test_the_walk_is_breadth_first_and_reaches_every_page() -> None:
    assert list(walk(GRAPH)) == [0, 1, 2, 3, 4]
    assert list(walk(Graph(PAGES, [[3, 1], [2], [], [], []]))) == [0, 3, 1, 2, 4]


@pytest.mark.parametrize(
    ("batch", "per_page", "posts"),
    [
        (0, False, 7),  # b twice, b, c, b twice, and a from b
        (0, True, 5),  # b, b, c, b, a
        (2, True, 4),  # the first two pages are a batch: b, c, b, a
        (100, True, 3),
    ],
)
def test_what_is_posted_without_a_table(batch: int, per_page: bool, posts: int) -> None:
    found = outcome(GRAPH, OWNERS, _Forgetful, batch, per_page)
    assert (found.pages, found.links, found.crossing, found.posts) == (5, 11, 7, posts)


def test_every_table_saves_what_was_posted_in_an_earlier_batch() -> None:
    for _name, make in ways([1024], [10]):
        found = outcome(GRAPH, OWNERS, make, batch=1)
        assert (found.posts, found.bytes) == (3, sum(len(PAGES[page]) for page in (3, 4, 0)))


def test_a_table_that_is_too_small_posts_again() -> None:
    pages = [f"http://{name}.example/" for name in "abcdefg"]
    graph = Graph(pages, [[1], [2], [3], [4], [5], [1], [0]])
    posts = {name: outcome(graph, [0, 1, 1, 1, 1, 1, 0], make, batch=1).posts for name, make in ways([64, 1024], [1, 100])}
    assert posts["hot 1"] >= posts["hot 100"]
    assert posts["posted 0.0625 kB"] >= posts["posted 1 kB"]


def test_the_table_is_printed(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ByHash, "place", lambda self, host: 0 if host == "a.example" else self.routing.partitions - 1)
    main([str(folder), "--partitions", "1", "2", "--batch", "1", "--posted", "1", "--hot", "10"])
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert rows[2] == ["1", "every link", "0", "0.0000", "0.0", "0.00 %"]
    two = {row[1]: row[2:] for row in rows if row[0] == "2"}
    assert two["every link"] == ["7", "1.4000", "24.0", "100.00 %"]
    assert two["once a page"][0] == "5"
    assert two["once"] == two["hot 10"] == two["posted 1 kB"] == ["3", "0.6000", "10.4", "42.86 %"]
    assert "posted 1 kB + hot 10" in two
