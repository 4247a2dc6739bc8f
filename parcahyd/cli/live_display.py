"""Reports a run to people: a display that is redrawn on the terminal, and a summary that stays."""

from __future__ import annotations

import time

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from parcahyd.cli.wording import counts, due, outcome_words, plain, plural, size, span
from parcahyd.core.progress import Progress, RunSummary

__all__ = [
    "LiveDisplay",
    "draw",
    "summary_lines",
]

_OTHER_ROWS = 15
"""Lines that the head, the table headings and the workers' table take on a small machine."""


class LiveDisplay:
    """Draws every snapshot over the one before; when the run is over the summary takes its place."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._live: Live | None = None

    def progress(self, snapshot: Progress) -> None:
        if self._live is None:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        rows = self._console.height - _OTHER_ROWS - len(snapshot.workers)
        self._live.update(draw(snapshot, max(rows, 1)), refresh=True)

    def finished(self, summary: RunSummary) -> None:
        self.close()
        for line in summary_lines(summary, time.time()):
            self._console.print(Text(line))

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def draw(snapshot: Progress, site_rows: int) -> RenderableType:
    """What is drawn for a snapshot, with at most `site_rows` sites, those with the most waiting URLs first."""
    parts: list[RenderableType] = [_head(snapshot), Text(), _sites(snapshot, site_rows), Text(), _workers(snapshot)]
    return Group(*parts)


_PHASES = {
    "starting": "starting: the database is being opened",
    "stopping": "stopping: what is on the wire is finished and stored first",
    "finishing": "finishing: the last pages are being stored",
}


def _head(snapshot: Progress) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column()
    grid.add_row("run", _foreign(f"{span(snapshot.seconds)}, {_phase(snapshot)}"))
    grid.add_row(
        "pages",
        f"{snapshot.stored:,} stored, {snapshot.unchanged:,} unchanged, "
        f"{snapshot.pages_per_second:,.1f} per second, {size(snapshot.received)}",
    )
    grid.add_row("left", _left(snapshot))
    grid.add_row(
        "sites",
        f"{snapshot.open_visits:,} in work: {snapshot.url_ip_queue:,} wait for their address, "
        f"{snapshot.resolved_queue:,} for a worker",
    )
    grid.add_row("to write", f"{plural(snapshot.buffer_records, 'answer')} ({size(snapshot.buffer_bytes)})")
    grid.add_row("not stored", f"{snapshot.failed:,} failed, {snapshot.refused:,} refused, {snapshot.gone:,} gone")
    grid.add_row("reasons", counts(snapshot.reasons, most=5) or "none")
    if snapshot.note:
        grid.add_row("note", _foreign(snapshot.note))
    return grid


def _phase(snapshot: Progress) -> str:
    """What the run does, and where it waits, for what and until when."""
    if snapshot.phase != "waiting":
        return _PHASES.get(snapshot.phase, snapshot.phase)
    if snapshot.waits_until is None:
        return "waiting for the database"
    return f"waiting: the next URL falls due {due(snapshot.waits_until, snapshot.at)}"


def _left(snapshot: Progress) -> str:
    """What waits at the sites that are visited, and how long that takes at the rate of the run so far."""
    waiting = sum(worker.waiting for worker in snapshot.workers)
    done = snapshot.stored + snapshot.unchanged + snapshot.failed + snapshot.gone
    if not waiting or not done:
        return plural(waiting, "URL")
    return f"{plural(waiting, 'URL')}, about {span(waiting * snapshot.seconds / done)}; pages may bring more"


def _sites(snapshot: Progress, rows: int) -> RenderableType:
    table = _table("site", "address", "#pages", "#waiting", "#worker")
    sites = [site for worker in snapshot.workers for site in worker.sites]
    for site in sorted(sites, key=lambda site: (-site.waiting, -site.pages, site.site))[:rows]:
        table.add_row(_foreign(site.site), _foreign(site.address), f"{site.pages:,}", f"{site.waiting:,}", str(site.worker))
    return table


def _workers(snapshot: Progress) -> RenderableType:
    table = _table("worker", "#process", "#visits", "#on the wire", "#waiting", "#requests", "#received")
    for worker in snapshot.workers:
        table.add_row(
            str(worker.worker),
            str(worker.pid),
            f"{worker.visits:,}",
            f"{worker.on_the_wire:,}",
            f"{worker.waiting:,}",
            f"{worker.requests:,}",
            size(worker.received),
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
    if any(summary.waiting.values()):
        line = f"Still waiting: {counts(summary.waiting)}"
        lines.append(line + (f"; next due {due(summary.next_due, now)}." if summary.next_due is not None else "."))
    if summary.held_back:
        lines.append(f"MaxPagesPerSite holds back {plural(summary.held_back, 'URL')}; they are crawled when it is raised.")
    if summary.outcome != "done":
        lines.append("The same command goes on where this one stopped.")
    return [*lines, *(f"Note: {plain(note)}" for note in summary.notes)]
