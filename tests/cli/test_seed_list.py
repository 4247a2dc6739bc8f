"""Seeds from the command line, from files and from standard input."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from parcahyd.cli.seed_list import GivenSeed, read_seeds, seed_errors
from parcahyd.core.errors import UserError


def test_a_file_has_one_url_per_line_and_comments(tmp_path: Path) -> None:
    file = tmp_path / "urls.txt"
    file.write_bytes(b"\xef\xbb\xbf# mine\r\nhttp://a.example/#part  # the first\r\n\r\n   http://b.example/ \r\n")
    assert read_seeds(["http://c.example/"], [str(file)]) == [
        GivenSeed("http://c.example/"),
        GivenSeed("http://a.example/#part", f"{file}, line 2"),
        GivenSeed("http://b.example/", f"{file}, line 4"),
    ]


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"http://a.example/\nhtp://b/\n")))
    seeds = read_seeds([], ["-"])
    assert seeds == [
        GivenSeed("http://a.example/", "standard input, line 1"),
        GivenSeed("htp://b/", "standard input, line 2"),
    ]
    (error,) = seed_errors(seeds)
    assert str(error) == 'standard input, line 2: "htp://b/": "htp" is no scheme (did you mean http://b/?)'


def test_a_file_without_urls_and_one_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("# nothing\n")
    with pytest.raises(UserError, match=r"empty\.txt has no URL in it"):
        read_seeds([], [str(tmp_path / "empty.txt")])
    with pytest.raises(UserError, match=r"none\.txt cannot be read: No such file"):
        read_seeds([], [str(tmp_path / "none.txt")])
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        read_seeds([], [str(tmp_path)])


def test_bytes_that_are_no_text_are_an_error_of_their_line(tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_bytes(b"http://a.example/\nhttp://b.example/\xe4\n")
    (error,) = seed_errors(read_seeds([], [str(tmp_path / "urls.txt")]))
    assert "line 2" in error.message
    assert "not UTF-8" in error.message


def test_a_file_or_folder_in_place_of_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "urls.txt").write_text("http://a.example/\n")
    (tmp_path / "crawl.db").write_bytes(b"SQLite format 3\0")
    (tmp_path / "conf").mkdir()
    remedies = [error.remedy for error in seed_errors(map(GivenSeed, ["urls.txt", "crawl.db", "conf", "other.txt"]))]
    assert remedies == [
        "did you mean --seeds urls.txt?",
        "did you mean --db crawl.db?",
        "did you mean --conf conf?",
        "did you mean https://other.txt/?",
    ]
