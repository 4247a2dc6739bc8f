from __future__ import annotations

import io

import msgspec
from rich.console import Console

from parcahyd.cli.live_display import LiveDisplay, draw
from parcahyd.core.progress import Progress, RunSummary, SiteProgress, WorkerProgress

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


def _text(snapshot: Progress, site_rows: int = 10) -> str:
    console = Console(file=io.StringIO(), width=120, highlight=False)
    with console.capture() as capture:
        console.print(draw(snapshot, site_rows))
    return capture.get()


def test_everything_a_watcher_wants_is_there() -> None:
    text = _text(SNAPSHOT)
    for words in (
        "1 min 15 s, crawling",
        "1,234 stored, 5 unchanged, 33.3 per second, 2.5 MB",
        "URL-IP 11, resolved 12, LocalQ 100, buffer 14 (1.5 kB), 13 open visits",
        "6 failed, 7 refused, 8 gone",
        "missing 8, robots 7",
        "http://s4.example",
        "4711",
    ):
        assert words in text


def test_the_busiest_sites_come_first_and_the_rest_is_left_out() -> None:
    text = _text(SNAPSHOT, site_rows=2)
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
