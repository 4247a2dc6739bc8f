"""Pages whose topics are known, in the three forms."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from parcahyd.core.errors import UserError
from parcahyd.lab.labelled_pages import chosen, read_labelled, read_links


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content)
    return folder


COUNTS = {
    "pages_tsv": "#url\tclass\tuniversity\nhttp://a/1\tcourse\teast\nhttp://b/2\tfaculty\twest\n",
    "counts_txt": "0:2 1:1\n1:4\n",
    "vocabulary_txt": "exam\nprofessor\n",
    "links_txt": "1\n0 1\n",
}


def test_a_folder_of_folders_has_html_and_text(tmp_path: Path) -> None:
    (tmp_path / "cars" / "old").mkdir(parents=True)
    (tmp_path / "cars" / "old" / "a.html").write_text("<p>Two wheels <b>more</b></p>")
    (tmp_path / "boats").mkdir()
    (tmp_path / "boats" / "a.txt").write_text("a <sail> and a mast")
    boats, cars = read_labelled(tmp_path).pages
    assert (boats.topic, boats.words, boats.path) == ("boats", {b"a": 2, b"sail": 1, b"and": 1, b"mast": 1}, "/a.txt")
    assert (cars.topic, cars.words, cars.path) == ("cars", {b"two": 1, b"wheels": 1, b"more": 1}, "/old/a.html")


def test_a_table_has_a_line_for_each_page(tmp_path: Path) -> None:
    line = "news\thttp://a.example/x?y\tpress:2 it:is:3\n"
    (tmp_path / "sites.tsv.xz").write_bytes(lzma.compress(line.encode()))
    (tmp_path / "mine.tsv").write_text(line)
    for path in (tmp_path, tmp_path / "mine.tsv", tmp_path / "sites.tsv.xz"):
        (page,) = read_labelled(path).pages
        assert (page.topic, page.words, page.path) == ("news", {b"press": 2, b"it:is": 3}, "/x?y")


def test_counts_have_a_vocabulary_groups_and_links(tmp_path: Path) -> None:
    data = read_labelled(write(tmp_path, **COUNTS))
    assert [(page.topic, page.group, page.words) for page in data.pages] == [
        ("course", "east", {b"exam": 2, b"professor": 1}),
        ("faculty", "west", {b"professor": 4}),
    ]
    assert len(data.files) == 3
    assert read_links(tmp_path, 2)[0] == [(1,), (0, 1)]
    assert [page.topic for page in chosen(data.pages, ["west"])] == ["faculty"]
    assert [page.topic for page in chosen(data.pages, without=["faculty"])] == ["course"]
    with pytest.raises(UserError, match="no page is left"):
        chosen(data.pages, ["north"])


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("counts_txt", "0:2\n", "has 2 rows and"),
        ("counts_txt", "0:2\n7:1\n", "row 2 has the word number 7, of 2"),
        ("counts_txt", "0:2\n1\n", "where word:count should be"),
        ("counts_txt", "0:2\n1:x\n", "where word:count should be"),
        ("pages_tsv", "#\nhttp://a/1\nhttp://b\n", "row 1 has 1 fields"),
    ],
)
def test_damaged_counts_are_one_line(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    write(tmp_path, **{**COUNTS, name: content})
    with pytest.raises(UserError, match=sentence):
        read_labelled(tmp_path)


def test_data_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not there"):
        read_labelled(tmp_path / "nothing")
    with pytest.raises(UserError, match="holds no pages with a topic"):
        read_labelled(tmp_path)
