"""What the lab says of topics, on pages whose links are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.core.errors import UserError
from parcahyd.lab.topic_accuracy import accuracy_table
from parcahyd.lab.topic_links import fetches_table, hashed, locality_table, orders_table
from parcahyd.lab.topic_speed import html_of_words, language_table, read_pages, speed_table
from parcahyd.topics.linear import train_linear
from tests.topics.small_corpus import COMMON, OWN, corpus


def test_accuracy_has_each_method_and_the_papers_figures() -> None:
    table = accuracy_table(corpus(12), (), "even", least=50, command="c", seed=1)
    assert table.heading == ("trained with even", "language first", "other splits")
    rows = {(row.name, row.whose): row.figures["accuracy"] for row in table.rows}
    assert rows["linear", "ours"] == rows["Lewis", "ours"] == 1.0
    assert rows["Naive Bayes", "paper"] == 0.607
    assert rows["always the most frequent topic", "rival"] == pytest.approx(1 / 3)
    by_chance = accuracy_table(corpus(12), (), "", least=50, command="c", seed=1)
    assert by_chance.runs == 5
    assert all(len(row.cells) == 1 for row in by_chance.rows)


def test_locality_is_the_share_of_links_within_a_topic() -> None:
    table = locality_table({"linear": ["a", "a", "b"]}, ["a", "b", "b"], [[1, 2], [0], []], (), "c")
    linear, true, *_ = table.rows
    assert linear.figures["locality"] == pytest.approx(2 / 3)
    assert linear.figures["chance"] == pytest.approx(2 / 3)
    assert true.figures["locality"] == 0.0


def test_parts_with_their_own_links_order_their_pages_better_than_a_hash() -> None:
    # Two topics of sixty pages; page n of a topic links to the pages before it in its own topic.
    said = ["a"] * 60 + ["b"] * 60
    links = [[start + target for target in range(page)] for start in (0, 60) for page in range(60)]
    pages = corpus(40)
    table = orders_table({"model": said}, pages, links, (), "c", 1)
    taus = {row.name: row.figures.get("tau") for row in table.rows}
    assert taus["a (60 pages), model"] == taus["b (60 pages), model"] == 1.0
    assert taus["hash, 2 parts"] is not None
    assert taus["hash, 2 parts"] < 1.0
    assert [row.cells for row in table.rows[-2:]] == [("2 of 2",), ("2 of 2",)]
    assert set(hashed(pages, 2, 1)) == {"hash 0", "hash 1"}
    assert hashed(pages, 2, 1) != hashed(pages, 2, 2)


def test_a_page_is_fetched_by_each_topic_that_links_to_it() -> None:
    table = fetches_table({"model": ["a", "b", "a", "c"]}, [[3, 1], [3], [3, 1], []], (), "c")
    assert table.rows[0].cells[:3] == ("1", "1", "0")
    assert table.rows[0].figures["overlap"] == 0.5


def test_speed_is_of_pages_of_five_to_fifty_kilobytes(tmp_path: Path) -> None:
    long = [page._replace(words=dict.fromkeys(page.words, 40)) for page in corpus(2)]
    pages = html_of_words(long)
    assert len(pages) == 6
    assert all(5_000 <= len(page) <= 50_000 for page in pages)
    assert html_of_words(corpus(2)) == []
    table = speed_table(train_linear(corpus(), "en"), pages, (), "c")
    assert table.rows[0].figures["MB a second"] > 0
    assert [row.figures["MB a second"] for row in table.rows[-3:]] == [30.0, 47.0, pytest.approx(0.150891)]
    (tmp_path / "a.html").write_bytes(b"short")
    with pytest.raises(UserError, match="has no HTML files"):
        read_pages(tmp_path)
    (tmp_path / "b.html").write_bytes(pages[0])
    assert read_pages(tmp_path) == [pages[0]]


def test_language_is_that_of_the_folder(tmp_path: Path) -> None:
    model = train_linear(corpus(), "en")
    english = b" ".join([*COMMON, *OWN["trains"]] * 3)
    german = " ".join(
        [
            "der",
            "die",
            "und",
            "in",
            "den",
            "von",
            "zu",
            "das",
            "mit",
            "sich",
            "des",
            "auf",
            "für",
            "ist",
            "im",
            "dem",
            "nicht",
            "ein",
            "eine",
            "als",
        ]
        * 4
    )
    for name, content in (("en-US", english), ("de", german.encode()), ("fr", english)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.html").write_bytes(content)
    table = language_table(model, tmp_path, "c")
    assert [row.figures["right"] for row in table.rows] == [1.0, 0.5, 0.961, 0.902]
    (tmp_path / "en-US" / "page.html").unlink()
    with pytest.raises(UserError, match="needs pages in en"):
        language_table(model, tmp_path, "c")
