"""The live display of real runs, on a usual terminal and on a small one: they crawl, wait for a retry, or wait for a disk.

The states are those that the runs report. Frames are compared with the terminal's size, and with what a watcher must know.
With `PARCAHYD_FRAMES=DIR` every frame is written there, to be looked at.
"""

from __future__ import annotations

import io
import os
import re
import resource
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from parcahyd.cli.live_display import draw
from parcahyd.core.progress import Progress
from tests.support.crawl import CrawlFactory, Running
from tests.support.generated_site import generated_site
from tests.support.processes import process_of_kind, wait_until
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Site, html

SIZES = [(110, 40), (60, 15)]
_TELLING = ["--interval", "0"]


def _snapshots(running: Running) -> list[Progress]:
    lines = [line for line in running.said().splitlines(keepends=True) if line.startswith('{"event":"progress"')]
    return [msgspec.json.decode(line, type=Progress) for line in lines if line.endswith("\n")]


def _until(running: Running, is_right: Callable[[Progress], bool]) -> Progress:
    """The first state that is right."""
    assert wait_until(lambda: any(map(is_right, _snapshots(running))), pause=0.1), running.said()
    return next(filter(is_right, _snapshots(running)))


def _frames(name: str, snapshot: Progress) -> dict[int, str]:
    """What is drawn for a state, by the width of the terminal; it fits in each."""
    drawn = {}
    for width, height in SIZES:
        console = Console(
            file=io.StringIO(), width=width, height=height, highlight=False, force_terminal=True, color_system=None
        )
        with console.capture() as capture:
            console.print(draw(snapshot, console))
        lines = [line.rstrip() for line in capture.get().splitlines()]
        drawn[width] = "\n".join(lines)
        if folder := os.environ.get("PARCAHYD_FRAMES"):
            Path(folder, f"{name}-{width}x{height}.txt").write_text(drawn[width] + "\n")
        assert len(lines) < height, drawn[width]
        assert max(map(cell_len, lines)) <= width
    return drawn


def _both_workers_crawl(state: Progress) -> bool:
    return state.stored > 0 and [worker.requests > 0 and worker.waiting > 0 for worker in state.workers] == [True, True]


def test_crawling(server: SiteServer, crawl: CrawlFactory) -> None:
    listeners = [server.listen(f"127.0.0.{number}") for number in range(1, 8)]
    server.put("", generated_site(400, size=3000, latency=0.02))
    several = crawl({"Work.MaxInstances": 2, "Work.HostConnections": 2, "Work.HostDelay": 0.02})
    with several.start(*[listener.url() for listener in listeners], options=_TELLING) as running:
        state = _until(running, _both_workers_crawl)
    for text in _frames("crawling", state).values():
        assert re.search(r"^run +\d.* s, crawling$", text, re.MULTILINE)
        assert re.search(r"^pages +\d+ stored", text, re.MULTILINE)
        assert re.search(r"^left +[\d,]+ URLs?, about [\d.]+ ", text, re.MULTILINE)
        assert "http://127.0.0." in text


def test_waiting_for_a_retry(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", Site({"/": html("Root", ["/busy"]), "/busy": Answer(status=503, headers=(("Retry-After", "90"),))}))
    waits = crawl({"Work.WaitForRetries": 3600, "Work.RetryDelay": 60})
    with waits.start(listener.url(), options=_TELLING) as running:
        state = _until(running, lambda one: one.phase == "waiting" and one.failed > 0)
    for text in _frames("waiting", state).values():
        (line,) = re.findall(r"^run +.*", text, re.MULTILINE)
        assert "waiting: " in line
        assert re.search(r"in \d+ (s|min)", text)
        assert re.search(r"\d{2}:\d{2}:\d{2}Z", text)


@pytest.mark.skipif(sys.platform != "linux", reason="bounds the files of another process")
def test_held_up_by_a_full_disk(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(300, size=20_000))
    on_disk = crawl({"Work.MaxSize": 5, "Work.HostDelay": 0.02, "Work.HostConnections": 2})
    with on_disk.start(listener.url(), options=_TELLING) as running:
        assert wait_until(lambda: len(server.targets()) > 20), running.said()
        writer = process_of_kind(on_disk.mark, "update database")
        assert writer is not None
        resource.prlimit(writer.pid, resource.RLIMIT_FSIZE, (1000, resource.prlimit(writer.pid, resource.RLIMIT_FSIZE)[1]))
        state = _until(running, lambda one: one.unstored > 5)
    for text in _frames("full-disk", state).values():
        said = " ".join(text.split())
        assert "held up until the database takes records; the next try is within 10 s" in said
        assert "the database takes nothing: its disk cannot be written to; look at the disk" in said
        assert not re.search(r"crawling|about \d", text)
