"""What an export takes: records per second of CPU, and memory, of `parcahyd export warc`, `wacz` and `files`.

python bench/export.py crawl.db [--rounds 3] [--forms warc wacz files]

Each export is a process of its own, and its start is counted. Of several rounds the one with the least CPU time is shown.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

__all__ = ["Cost", "main", "measure", "numbers_in"]

_NUMBER = re.compile(r"([\d,]+) (exchange|record|file)s?\b")


class Cost(NamedTuple):
    """What one export took, and what it says that it wrote."""

    cpu_seconds: float
    peak_bytes: int
    written: dict[str, int]
    """By `exchange`, `record` and `file`."""


def numbers_in(sentence: str) -> dict[str, int]:
    """The numbers of the sentence that an export ends with."""
    return {noun: int(number.replace(",", "")) for number, noun in _NUMBER.findall(sentence)}


def measure(database: Path, form: str) -> Cost:
    """Runs one export into a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / ("out.wacz" if form == "wacz" else "out")
        command = [sys.executable, "-m", "parcahyd", "export", form, str(place), "--db", str(database)]
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(command, stdout=said)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            sentence = said.read().decode()
    if process.returncode:
        sys.exit(f"the export ended with exit code {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, numbers_in(sentence))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("database", type=Path, metavar="crawl.db")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--forms", nargs="+", choices=["warc", "wacz", "files"], default=["warc", "wacz", "files"])
    chosen = parser.parse_args()
    print("| form | exchanges or files | records | CPU s | records per CPU s | exchanges per CPU s | peak memory |")
    print("|---|---|---|---|---|---|---|")
    for form in chosen.forms:
        best = min((measure(chosen.database.resolve(), form) for _ in range(chosen.rounds)), key=lambda cost: cost.cpu_seconds)
        records = best.written.get("record", 0)
        documents = best.written.get("exchange", best.written.get("file", 0))
        speeds = f"{records / best.cpu_seconds:,.0f} | {documents / best.cpu_seconds:,.0f}"
        print(f"| {form} | {documents:,} | {records:,} | {best.cpu_seconds:.2f} | {speeds} | {best.peak_bytes / 1e6:.0f} MB |")


if __name__ == "__main__":
    main()
