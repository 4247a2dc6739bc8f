from __future__ import annotations

import io

import pytest

from parcahyd.cli.progress_line import progress_line


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_count_that_is_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress_line("pages") as show:
        assert show is not None
        show(1, 2000)
        show(2000, 2000)
    assert terminal.getvalue() == "\r1 of 2,000 pages\r2,000 of 2,000 pages\r\x1b[K"


def test_nothing_where_nobody_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with progress_line("pages") as show:
        assert show is None
    monkeypatch.setattr("sys.stderr", _Terminal())
    with progress_line("pages", quiet=True) as show:
        assert show is None
