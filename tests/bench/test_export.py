from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.export import numbers_in
from tests.storage.desk import Desk

ROOT = Path(__file__).parents[2]


def test_the_numbers_of_a_sentence() -> None:
    said = "4,000 exchanges, of which 3 had the same bytes as another, in 8,001 records: 1 file in out (28.3 MB).\n"
    assert numbers_in(said) == {"exchange": 4000, "record": 8001, "file": 1}
    assert numbers_in("2 files (3.0 kB) in out.\n") == {"file": 2}


def test_every_form_is_measured(tmp_path: Path) -> None:
    desk = Desk(f"sqlite:///{tmp_path / 'crawl.db'}")
    desk.begin()
    desk.seed("http://a.example/")
    desk.crawl(desk.visit())
    desk.close()
    command = [sys.executable, str(ROOT / "bench" / "export.py"), str(tmp_path / "crawl.db"), "--rounds", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines()[2:]]
    assert [(row[0], row[1], row[2]) for row in rows] == [("| warc", "1", "3"), ("| wacz", "1", "3"), ("| files", "1", "0")]
