"""The sizes of a crawl's rows, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.rows import HEADING, main, read_crawl
from tests.storage.desk import Desk
from tests.support.postgres import fresh_database


def crawled(url: str) -> None:
    desk = Desk(url)
    desk.begin()
    desk.seed("http://a.example/")
    pair = desk.visit()
    for number in range(50):
        desk.write(desk.page(pair, f"/{number}", b"page %d " % number * 100, internal=(f"/{number + 1}", f"/x{number}")))
    desk.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_every_table_is_measured(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind == "sqlite":
        database = str(tmp_path / "crawl.db")
        crawled(f"sqlite:///{database}")
        main([database])
        crawl = read_crawl(database)
    else:
        with fresh_database(request.getfixturevalue("postgres")) as url:
            crawled(url)
            main([url])
            crawl = read_crawl(url)
    sizes = {taken.name: taken for taken in crawl.tables}
    assert (crawl.pages, crawl.documents, sizes["urls"].rows) == (50, 50, 102)
    assert all(taken.size > 50 * taken.rows for taken in crawl.tables if taken.rows)
    assert 0 < crawl.packed < crawl.decoded
    shown = capsys.readouterr().out
    assert all(word in shown for word in HEADING)
    assert "102 URLs, 50 pages, 50 documents" in shown
    assert "of which the estimate 0." in shown
