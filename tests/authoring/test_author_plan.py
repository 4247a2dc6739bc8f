"""The line of robots.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.authoring.author_plan import declared, make_plan

PLAN = make_plan(Path("site"))
LINE = PLAN.robots_line.encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", LINE + b"\n"),
        (b"User-agent: *", b"User-agent: *\n" + LINE + b"\n"),
        (b"# Augment: 1; scope=/\r\nUser-agent: *\r\n", LINE + b"\r\nUser-agent: *\r\n"),
        (b"Augment: 1\nAugment: 1; tol={path}.TOL\n", LINE + b"\n"),
        (b"# Augment: 1; scope=/other/\n", b"# Augment: 1; scope=/other/\n" + LINE + b"\n"),
        (LINE, LINE),
    ],
)
def test_the_line_takes_its_place(before: bytes, after: bytes) -> None:
    assert declared(PLAN, before) == after
    assert declared(PLAN, after) == after
