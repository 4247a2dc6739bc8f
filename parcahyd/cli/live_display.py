"""Reports a run to people: a display that is redrawn on the terminal, and a summary that stays.

Tested in tests/cli/test_live_display.py, and with real runs in tests/end_to_end/test_display.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from parcahyd.cli.wording import counts, due, end_sentence, outcome_words, plain, plural, saved_sentence, size, span
from parcahyd.core.progress import Progress, RunSummary, SiteProgress, WorkerProgress

__all__ = [
    "LiveDisplay",
    "draw",
    "summary_lines",
]

_WIDE = 80
"""Columns from which on a terminal has room for all columns of the tables."""
_NOTE_LINES = 3


class LiveDisplay:
    """Draws every snapshot over the one before; when the run is over the summary takes its place."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._live: Live | None = None

    def progress(self, snapshot: Progress) -> None:
        if self._live is None:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(draw(snapshot, self._console), refresh=True)

    def finished(self, summary: RunSummary) -> None:
        self.close()
        for line in summary_lines(summary, time.time()):
            self._console.print(Text(line))

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def draw(snapshot: Progress, console: Console) -> RenderableType:
    """What is drawn for a snapshot, in fewer lines than the console has.

    Where there is little room, what is said of the run as a whole stays, and then the sites with the most waiting URLs.
    """
    rows = _rows(snapshot)
    lines = _lines(rows, console)
    while sum(lines.values()) >= console.height and len(rows) > 1:
        least = max(rows, key=list(_RANKS).index)
        del rows[least], lines[least]
    parts: list[RenderableType] = [_head(rows)]
    room = console.height - 1 - sum(lines.values())
    workers = snapshot.workers[: max(room - _ROOM_FOR_SITES, 0)]
    sites = _busiest(snapshot, room - _ABOVE_A_TABLE - (_ABOVE_A_TABLE + len(workers) if workers else 0))
    is_wide = console.width >= _WIDE
    parts += [Text(), _sites(sites, is_wide)] if sites else []
    parts += [Text(), _workers(workers, is_wide)] if workers else []
    return Group(*parts)


_PHASES = {
    "starting": "starting: the database is being opened",
    "stopping": "stopping: what is on the wire is finished and stored first",
    "finishing": "finishing: the last pages are being stored",
}

_RANKS = dict.fromkeys(("run", "note", "left", "pages", "in the end", "not stored", "reasons", "to write", "sites"))
"""What is said of the run as a whole, most important first."""


def _rows(snapshot: Progress) -> dict[str, str]:
    """What is said of the run as a whole, in the order in which it is drawn; what there is nothing to say of is left out."""
    rows = {
        "run": f"{span(snapshot.seconds)}, {_phase(snapshot)}",
        "note": snapshot.note,
        "pages": _pages(snapshot),
        "left": _left(snapshot),
        "in the end": "" if snapshot.in_the_end is None else end_sentence(snapshot.in_the_end),
        "sites": _in_work(snapshot),
        "to write": f"{plural(snapshot.buffer_records, 'answer')} ({size(snapshot.buffer_bytes)})"
        if snapshot.buffer_records
        else "",
        "not stored": _listed({"failed": snapshot.failed, "refused": snapshot.refused, "gone": snapshot.gone}),
        "reasons": counts(snapshot.reasons, most=5),
    }
    return {label: text for label, text in rows.items() if text}


def _lines(rows: dict[str, str], console: Console) -> dict[str, int]:
    """How many lines each row takes. A note that takes too many is cut."""
    width = max(console.width - _LABEL, 1)
    if "note" in rows and len(_foreign(rows["note"]).wrap(console, width)) > _NOTE_LINES:
        shown = _foreign(rows["note"]).wrap(console, width)[:_NOTE_LINES]
        rows["note"] = " ".join(line.plain.strip() for line in shown)[:-1] + "…"
    return {label: len(_foreign(text).wrap(console, width)) for label, text in rows.items()}


_LABEL = 12
"""Columns of the labels, and of the gap behind them."""


def _head(rows: dict[str, str]) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", width=_LABEL - 2)
    grid.add_column()
    for label, text in rows.items():
        grid.add_row(label, _foreign(text))
    return grid


def _phase(snapshot: Progress) -> str:
    """What the run does, and where it waits, for what and until when."""
    if snapshot.unstored:
        return "held up until the database takes records; the next try is within 10 s"
    if snapshot.phase != "waiting":
        return _PHASES.get(snapshot.phase, snapshot.phase)
    if snapshot.waits_until is None:
        return "waiting for the database"
    return f"waiting: the next URL falls due {due(snapshot.waits_until, snapshot.at)}"


def _pages(snapshot: Progress) -> str:
    unchanged = f", {snapshot.unchanged:,} unchanged" if snapshot.unchanged else ""
    rate = f", {snapshot.pages_per_second:,.1f} per second" if snapshot.phase == "crawling" and not snapshot.unstored else ""
    return f"{snapshot.stored:,} stored{unchanged}{rate}, {size(snapshot.received)}"


def _left(snapshot: Progress) -> str:
    """What waits at the sites that are visited, and how long that takes at the rate of the run so far."""
    waiting = sum(worker.waiting for worker in snapshot.workers)
    done = snapshot.stored + snapshot.unchanged + snapshot.failed + snapshot.gone
    if not waiting and snapshot.phase == "waiting":
        return ""  # The phase says until when.
    if not waiting or not done or snapshot.unstored:
        return plural(waiting, "URL")
    return f"{plural(waiting, 'URL')}, about {span(waiting * snapshot.seconds / done)}; pages may bring more"


def _in_work(snapshot: Progress) -> str:
    if not snapshot.open_visits:
        return ""
    waiting = [
        f"{number:,} {'waits' if number == 1 else 'wait'} for {what}"
        for number, what in ((snapshot.url_ip_queue, "an address"), (snapshot.resolved_queue, "a worker"))
        if number
    ]
    return f"{snapshot.open_visits:,} in work" + (f": {', '.join(waiting)}" if waiting else "")


def _listed(numbers: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {word}" for word, number in numbers.items() if number)


_ABOVE_A_TABLE = 2
"""An empty line and the headings."""
_ROOM_FOR_SITES = 10
"""Lines, with those above both tables, that workers leave to the sites where there is little room."""


def _busiest(snapshot: Progress, rows: int) -> list[SiteProgress]:
    sites = [site for worker in snapshot.workers for site in worker.sites]
    return sorted(sites, key=lambda site: (-site.waiting, -site.pages, site.site))[: max(rows, 0)]


def _sites(sites: Sequence[SiteProgress], is_wide: bool) -> RenderableType:
    table = _table("site", "#pages", "#waiting", *(("address", "#worker") if is_wide else ()))
    for site in sites:
        wide = (_foreign(site.address), str(site.worker)) if is_wide else ()
        table.add_row(_foreign(site.site), f"{site.pages:,}", f"{site.waiting:,}", *wide)
    return table


def _workers(workers: Sequence[WorkerProgress], is_wide: bool) -> RenderableType:
    table = _table(
        "worker", "#visits", "#on the wire", "#waiting", "#requests", "#received", *(("#process",) if is_wide else ())
    )
    for worker in workers:
        table.add_row(
            str(worker.worker),
            f"{worker.visits:,}",
            f"{worker.on_the_wire:,}",
            f"{worker.waiting:,}",
            f"{worker.requests:,}",
            size(worker.received),
            *((str(worker.pid),) if is_wide else ()),
        )
    return table


def _foreign(text: str) -> Text:
    """Text from servers and plugins. It is not read as rich's markup, and cannot control the terminal."""
    return Text(plain(text))


def _table(*headings: str) -> Table:
    """A table without lines; a heading that begins with # stands over numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(
            heading.lstrip("#"), justify="right" if heading.startswith("#") else "left", overflow="ellipsis", no_wrap=True
        )
    return table


def summary_lines(summary: RunSummary, now: float) -> list[str]:
    """The summary, most important line first; lines about what did not happen are left out."""
    outcome = outcome_words(summary.outcome)
    first = (
        f"{outcome[:1].upper()}{outcome[1:]} after {span(summary.seconds)}: {plural(summary.requests, 'request')}, "
        f"{summary.stored:,} stored ({size(summary.received)}), {summary.unchanged:,} unchanged, "
        f"{summary.failed:,} failed, {summary.refused:,} refused, {summary.gone:,} gone."
    )
    lines = [first]
    if any(summary.reasons.values()):
        lines.append(f"Reasons: {counts(summary.reasons)}.")
    if summary.saved:
        lines.append(f"{saved_sentence(summary.saved)}.")
    if any(summary.waiting.values()):
        line = f"Still waiting: {counts(summary.waiting)}"
        lines.append(line + (f"; next due {due(summary.next_due, now)}." if summary.next_due is not None else "."))
    if summary.held_back:
        lines.append(f"MaxPagesPerSite holds back {plural(summary.held_back, 'URL')}; they are crawled when it is raised.")
    if summary.outcome != "done":
        lines.append("The same command goes on where this one stopped.")
    return [*lines, *(f"Note: {plain(note)}" for note in summary.notes)]
