from __future__ import annotations

import io

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from parcahyd.cli.live_display import LiveDisplay, draw, summary_lines
from parcahyd.core.progress import Progress, RunSummary, SiteProgress, SizeEstimate, WorkerProgress

SITES = tuple(SiteProgress(f"http://s{number}.example", "192.0.2.7", 1, number, 10 * number) for number in range(5))
SNAPSHOT = Progress(
    seconds=75.0,
    stored=1234,
    unchanged=5,
    failed=6,
    refused=7,
    gone=8,
    received=2_500_000,
    reasons={"robots": 7, "missing": 8},
    pages_per_second=33.3,
    url_ip_queue=11,
    resolved_queue=12,
    open_visits=13,
    buffer_records=14,
    buffer_bytes=1500,
    workers=(WorkerProgress(1, 4711, 5, 3, 100, 1300, 2_600_000, SITES),),
)


def _text(snapshot: Progress, width: int = 120, height: int = 40) -> str:
    console = Console(file=io.StringIO(), width=width, height=height, highlight=False)
    with console.capture() as capture:
        console.print(draw(snapshot, console))
    return capture.get()


def test_everything_a_watcher_wants_is_there() -> None:
    text = _text(SNAPSHOT)
    for words in (
        "1 min 15 s, crawling",
        "1,234 stored, 5 unchanged, 33.3 per second, 2.5 MB",
        "100 URLs, about 6.0 s; pages may bring more",
        "13 in work: 11 wait for an address, 12 wait for a worker",
        "14 answers (1.5 kB)",
        "6 failed, 7 refused, 8 gone",
        "missing 8, robots 7",
        "http://s4.example",
        "4711",
    ):
        assert words in text


def test_a_run_that_waits_says_for_what_and_until_when() -> None:
    waiting = msgspec.structs.replace(SNAPSHOT, phase="waiting", at=1_700_000_000.0, waits_until=1_700_000_040.0)
    assert "waiting: the next URL falls due 2023-11-14 22:14:00Z (in 40 s)" in _text(waiting)
    assert "waiting for the database" in _text(msgspec.structs.replace(waiting, waits_until=None))
    for phase, words in (("starting", "the database is being opened"), ("stopping", "what is on the wire is finished")):
        assert f"{phase}: {words}" in _text(msgspec.structs.replace(SNAPSHOT, phase=phase))


def test_a_frame_shows_the_moment_of_its_snapshot() -> None:
    """Drawn twice, it says the same, however late it is drawn."""
    waiting = msgspec.structs.replace(SNAPSHOT, phase="waiting", at=1_700_000_000.0, waits_until=1_700_000_040.0)
    assert _text(waiting) == _text(waiting)
    assert "(in 40 s)" in _text(waiting)


def test_how_far_the_crawl_has_come_is_shown_where_it_is_known() -> None:
    assert "in the end" not in _text(SNAPSHOT)
    known = msgspec.structs.replace(SNAPSHOT, in_the_end=SizeEstimate(1300, 1380, 2600, 4000))
    assert "in the end  about 2,600 (1,380 to 4,000) pages, 50% of them are stored" in _text(known)
    endless = msgspec.structs.replace(SNAPSHOT, in_the_end=SizeEstimate(1300, 1380, None, None))
    assert "in the end  1,380 at least, no end in sight" in _text(endless)


def test_nothing_is_foretold_before_the_first_page() -> None:
    assert "left        100 URLs\n" in "\n".join(
        line.rstrip() for line in _text(msgspec.structs.replace(SNAPSHOT, stored=0, unchanged=0, failed=0, gone=0)).split("\n")
    )


def test_a_run_that_the_database_holds_up_says_so_and_foretells_nothing() -> None:
    text = _text(msgspec.structs.replace(SNAPSHOT, unstored=14, note="the database takes nothing: its disk is full; make room"))
    assert "held up until the database takes records; the next try is within 10 s" in text
    assert "its disk is full; make room" in text
    assert "crawling" not in text
    assert "about" not in text


def test_what_there_is_nothing_to_say_of_is_left_out() -> None:
    quiet = Progress(1.0, 1, 0, 0, 0, 0, 96, {}, 2.0, 0, 0, 0, 0, 0, ())
    lines = [line.rstrip() for line in _text(quiet).splitlines()]
    assert lines == ["run         1.0 s, crawling", "pages       1 stored, 2.0 per second, 96 B", "left        0 URLs"]


@pytest.mark.parametrize(("width", "height"), [(110, 40), (60, 15), (60, 10), (40, 6), (200, 12)])
@pytest.mark.parametrize("workers", [1, 64])
def test_a_frame_fits_in_its_terminal(width: int, height: int, workers: int) -> None:
    crowded = msgspec.structs.replace(
        SNAPSHOT,
        workers=SNAPSHOT.workers * workers,
        note="a plugin said: " + "x y " * 500,
        in_the_end=SizeEstimate(1_234_567, 2_345_678, 3_456_789, None),
    )
    lines = _text(crowded, width, height).splitlines()
    assert len(lines) < height
    assert max(map(cell_len, lines)) <= width
    assert lines[0].startswith("run")


def test_where_there_is_little_room_the_run_comes_first_and_then_its_sites() -> None:
    text = _text(SNAPSHOT, 60, 15)
    assert "http://s4.example" in text
    assert "process" not in text
    assert "address" not in text.partition("http://s4")[0].splitlines()[-1]
    assert "run" in _text(SNAPSHOT, 60, 3)


def test_the_busiest_sites_come_first_and_the_rest_is_left_out() -> None:
    text = _text(SNAPSHOT, height=12)
    assert text.index("s4.example") < text.index("s3.example")
    assert "s2.example" not in text


def test_foreign_words_are_neither_markup_nor_control() -> None:
    hostile = SiteProgress("http://[bold]\x1b[2Jx.example", "192.0.2.1", 1, 1, 1)
    workers = (msgspec.structs.replace(SNAPSHOT.workers[0], sites=(hostile,)),)
    text = _text(msgspec.structs.replace(SNAPSHOT, workers=workers, note="[red]waits\x07"))
    assert "http://[bold]\\x1b[2Jx.example" in text
    assert "[red]waits\\x07" in text


def test_the_summary_stays_when_the_display_is_gone() -> None:
    output = io.StringIO()
    display = LiveDisplay(Console(file=output, force_terminal=True, width=100, height=30, highlight=False))
    display.progress(SNAPSHOT)
    display.progress(SNAPSHOT)
    display.finished(RunSummary("done", 80.0, 1, 1, 0, 0, 0, 0, 0, {}, {}, None))
    display.close()
    after = output.getvalue().rpartition("\x1b[?25h")[2]
    assert "Done after 1 min 20 s: 1 request, 1 stored" in after
    assert "crawling" not in after


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


def test_urls_that_max_pages_per_site_holds_back_are_told() -> None:
    summary = msgspec.structs.replace(QUIET, held_back=31)
    assert summary_lines(summary, now=0.0)[1:] == ["MaxPagesPerSite holds back 31 URLs; they are crawled when it is raised."]


def test_what_can_be_gone_on_with_says_so() -> None:
    outcomes = {"max-pages": "Ended by MaxPages", "max-seconds": "Ended by MaxSeconds"}
    for outcome, words in (("interrupted", "Interrupted"), *outcomes.items(), ("failed", "Failed")):
        lines = summary_lines(msgspec.structs.replace(QUIET, outcome=outcome), now=0.0)
        assert lines[0].startswith(words + " after")
        assert lines[1] == "The same command goes on where this one stopped."


def test_notes_come_last_and_harmless() -> None:
    lines = summary_lines(msgspec.structs.replace(QUIET, notes=("plugin \x1b[31mevil raised",)), now=0.0)
    assert lines[-1] == "Note: plugin \\x1b[31mevil raised"
