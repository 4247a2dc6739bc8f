from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.torture.outcomes import KILLED, STOPPED, WENT_ON, WRONG, Tried, table, write


def test_points_are_written_one_by_one_and_counted_by_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tried.jsonl"
    monkeypatch.setenv("PARCAHYD_TORTURE_LOG", str(path))
    for number, outcome in enumerate((WENT_ON, STOPPED, WENT_ON, WRONG), 1):
        write(Tried("disk", "open in coordinator", "fail", number, outcome))
    write(Tried("crash", "commit in update-database", "kill-all-after", 1, KILLED))
    write(Tried("database", "connect in update-database", "fail", 1, STOPPED))
    assert table(msgspec.json.Decoder(Tried).decode_lines(path.read_bytes())).splitlines() == [
        "| class | call | how | tried | went on | stopped with a message | was killed | wrong |",
        "| --- | --- | --- | --: | --: | --: | --: | --: |",
        "| database | connect in update-database | fail | 1 | 0 | 1 | 0 | 0 |",
        "| disk | open in coordinator | fail | 4 | 2 | 1 | 0 | 1 |",
        "| crash | commit in update-database | kill-all-after | 1 | 0 | 0 | 1 | 0 |",
        "| all |  |  | 6 | 2 | 2 | 1 | 1 |",
    ]


def test_without_a_file_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARCAHYD_TORTURE_LOG", raising=False)
    monkeypatch.chdir(tmp_path)
    write(Tried("disk", "open in coordinator", "fail", 1, WENT_ON))
    assert not list(tmp_path.iterdir())
