"""What the torture tests tried and what came of it: a line for each point in a file, and a table of them.

    python -m tests.torture.outcomes FILE

PARCAHYD_TORTURE_LOG names the file; without it nothing is written. `make torture` prints the table at its end.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

__all__ = ["CLASSES", "KILLED", "OUTCOMES", "STOPPED", "WENT_ON", "WRONG", "Tried", "table", "write"]

WENT_ON = "went on"
STOPPED = "stopped with a message"
KILLED = "was killed"
WRONG = "wrong"
OUTCOMES = (WENT_ON, STOPPED, KILLED, WRONG)

CLASSES = ("database", "disk", "processes", "DNS", "network", "crash")


class Tried(msgspec.Struct, frozen=True):
    """A point at which a call failed or processes were killed, and what came of it."""

    kind: str
    """One of CLASSES."""
    call: str
    """What failed, and where; at a crash, the moment."""
    how: str
    number: int
    """The first, second, ... of these calls of a run."""
    outcome: str
    """One of OUTCOMES."""


def write(tried: Tried) -> None:
    """Append a line to the file, if there is one. Several processes may do so at once."""
    path = os.environ.get("PARCAHYD_TORTURE_LOG")
    if path:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, msgspec.json.encode(tried) + b"\n")
        finally:
            os.close(file)


def table(tried: Iterable[Tried]) -> str:
    """The points by class, call and manner, in Markdown; the last line has the sums."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for one in tried:
        counts.setdefault((one.kind, one.call, one.how), Counter())[one.outcome] += 1
    head = [_line("class", "call", "how", "tried", *OUTCOMES), _line(*["---"] * 3, *["--:"] * (1 + len(OUTCOMES)))]
    keys = sorted(counts, key=lambda key: (CLASSES.index(key[0]), key))
    rows = [_line(*key, *_numbers(counts[key])) for key in keys]
    return "\n".join([*head, *rows, _line("all", "", "", *_numbers(sum(counts.values(), Counter())))])


def _numbers(outcomes: Counter[str]) -> list[int]:
    return [outcomes.total(), *(outcomes[outcome] for outcome in OUTCOMES)]


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    print(table(msgspec.json.Decoder(Tried).decode_lines(Path(sys.argv[1]).read_bytes())))
