"""What is counted of a checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.reading import code_lines, repeated_pairs, sizes_of, trace

ROOT = Path(__file__).resolve().parents[2]

_MODULE = '''\
"""A docstring
of two lines."""

from __future__ import annotations

import os

__all__ = ["f"]


def f() -> str:
    """What it does."""
    # Why.
    return os.sep
'''


def test_only_code_can_repeat_itself() -> None:
    assert code_lines(_MODULE) == ["def f() -> str:", "return os.sep"]


@pytest.mark.parametrize(
    ("modules", "pairs"),
    [
        (["abcdef", "abcdef"], 1),
        (["abcdefghi", "xabcdefghi"], 1),
        (["abcde", "abcde"], 0),
        (["abcdef", "abcdef", "abcdef"], 3),
        (["abcdef--abcdef"], 1),
        (["abcdef--uvwxyz", "uvwxyz++abcdef"], 2),
    ],
)
def test_a_run_of_equal_lines_is_one_pair_however_long(modules: list[str], pairs: int) -> None:
    assert repeated_pairs(modules) == pairs


def test_sizes(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    for name, lines in (("a.py", 10), ("inner/b.py", 70), ("c.py", 50), ("d.txt", 900)):
        (tmp_path / name).write_text("x\n" * lines)
    sizes = sizes_of(tmp_path)
    assert (sizes.files, sizes.lines, sizes.median, sizes.small) == (3, 130, 50, 1)
    assert (sizes.largest, sizes.largest_name) == (70, "inner/b.py")


def test_the_trace_sees_every_process_of_a_crawl() -> None:
    files = {file for file, _ in trace(ROOT)}
    # The coordinator, a Crawl Worker and Update Database.
    assert {"topology.py", "net/downloader_curl.py", "pipeline/update_database.py"} <= files
