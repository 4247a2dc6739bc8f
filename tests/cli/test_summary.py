from __future__ import annotations

import msgspec

from parcahyd.cli.summary import summary_lines
from parcahyd.core.progress import RunSummary

QUIET = RunSummary("done", 61.0, 25, 21, 0, 0, 0, 1, 18_200, {}, {}, None)


def test_a_run_without_events_is_one_line() -> None:
    assert summary_lines(QUIET, now=0.0) == [
        "Done after 1 min 1 s: 25 requests, 21 stored (18.2 kB), 0 unchanged, 0 failed, 0 refused, 1 gone."
    ]


def test_reasons_and_what_is_still_waiting() -> None:
    summary = msgspec.structs.replace(
        QUIET, reasons={"missing": 1, "robots": 4}, waiting={"failed": 2, "known": 0}, next_due=1_700_000_060.0
    )
    assert summary_lines(summary, now=1_700_000_000.0)[1:] == [
        "Reasons: robots 4, missing 1.",
        "Still waiting: failed 2; next due 2023-11-14 22:14:20Z (in 1 min).",
    ]


def test_what_can_be_gone_on_with_says_so() -> None:
    for outcome, words in (("interrupted", "Interrupted"), ("limit", "Stopped at MaxPages"), ("failed", "Failed")):
        lines = summary_lines(msgspec.structs.replace(QUIET, outcome=outcome), now=0.0)
        assert lines[0].startswith(words + " after")
        assert lines[1] == "The same command goes on where this one stopped."


def test_notes_come_last_and_harmless() -> None:
    lines = summary_lines(msgspec.structs.replace(QUIET, notes=("plugin \x1b[31mevil raised",)), now=0.0)
    assert lines[-1] == "Note: plugin \\x1b[31mevil raised"
