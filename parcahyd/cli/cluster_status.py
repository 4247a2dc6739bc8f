"""`parcahyd cluster status`: the run, the machines and the partitions of a cluster.

Tested in tests/cli/test_cluster_status.py.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from parcahyd.cli.cluster_connection import connected
from parcahyd.cli.options import crawl_options, read_configuration
from parcahyd.cli.wording import outcome_words, plain, plural, size, span, utc_time
from parcahyd.cluster.deadline import boot_time
from parcahyd.cluster.overview import ClusterNow, NodeNow, Overview, PartitionNow, RunNow
from parcahyd.config.database_url import shown_database_url
from parcahyd.core.errors import UserError
from parcahyd.runtime.stop_signals import interrupt_on_signals

__all__ = ["BETWEEN_LOOKS", "draw", "status", "status_lines", "status_object"]

BETWEEN_LOOKS = 1.0
_NONE = "-"


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with everything, for programs.")
@click.option("--watch", is_flag=True, help="Look again every second until Ctrl-C; with --json, one object per line.")
@crawl_options
def status(folder: Path | None, overrides: tuple[str, ...], database: str | None, as_json: bool, watch: bool) -> None:
    """Show the run, the machines and the partitions.

    How far the run is, which machines take part, and how each partition is doing. It only reads. It looks twice, a second
    apart, because rates and the age of what was last heard need two looks.

    \b
    Examples:
      parcahyd cluster status --conf conf/
      parcahyd cluster status --conf conf/ --watch
      parcahyd cluster status --conf conf/ --json
    """
    configuration = read_configuration(folder, overrides, database)
    place = shown_database_url(configuration)
    if watch and not as_json and not sys.stdout.isatty():
        raise UserError("--watch needs a terminal", "add --json for one line of JSON a second, or leave it out")
    with connected(configuration) as hub, interrupt_on_signals():
        looks = _looks(Overview(hub, boot_time))
        if not watch:
            next(looks)
            _print(next(looks), place, as_json)
        elif as_json:
            for now in looks:
                sys.stdout.buffer.write(msgspec.json.encode(status_object(now, place)) + b"\n")
                sys.stdout.buffer.flush()
        else:
            draw(looks, place)


def _looks(overview: Overview) -> Iterator[ClusterNow]:
    while True:
        yield overview.look()
        time.sleep(BETWEEN_LOOKS)


def _print(now: ClusterNow, place: str, as_json: bool) -> None:
    if as_json:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(status_object(now, place))) + b"\n")
        return
    for line in status_lines(now, place):
        click.echo(line)


def draw(looks: Iterator[ClusterNow], place: str) -> None:
    """Shows each look on the terminal in the place of the last one."""
    from rich.console import Console  # Only a terminal needs it.
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(highlight=False), auto_refresh=False, vertical_overflow="crop") as live:
        for now in looks:
            live.update(Text("\n".join(status_lines(now, place)), no_wrap=True, overflow="ellipsis"), refresh=True)


def status_object(now: ClusterNow, place: str) -> dict[str, Any]:
    """The cluster for programs."""
    return {"database": place, **msgspec.structs.asdict(now)}


# --- for people ---------------------------------------------------------------------------------------------------------


def status_lines(now: ClusterNow, database: str) -> Iterator[str]:
    """The cluster for people, the most important first."""
    yield f"cluster    {now.id} in {database}"
    settled = "" if now.settled else "; nothing is taken for one lease, because the hub was restored or replaced"
    planner = f"{plain(now.planner)} makes the plans" if now.planner is not None else "nobody makes plans"
    yield f"           {plural(len(now.partitions), 'partition')}, lease {span(now.lease)}, {planner}{settled}"
    yield from _run_lines(now.run, now.at)
    yield ""
    if now.nodes:
        yield from _table(_NODE_HEADINGS, [_node_row(node) for node in now.nodes])
    else:
        yield "no node has joined yet: start the agent of each machine, parcahyd node"
    yield ""
    yield from _table(_PARTITION_HEADINGS, [_partition_row(one, now.run) for one in now.partitions])


def _run_lines(run: RunNow | None, now: float) -> Iterator[str]:
    if run is None:
        yield "run        none yet: parcahyd cluster start URL"
        return
    began = f"run        number {run.id}, started {utc_time(run.started_at)}"
    if run.outcome is None:
        yield f"{began}, {run.wanted} after {span(now - run.started_at)}"
    else:
        yield f"{began}, {outcome_words(run.outcome)} after {span((run.ended_at or run.started_at) - run.started_at)}"
    rate = f", {run.pages_per_second:,.1f} per second" if run.pages_per_second is not None and run.outcome is None else ""
    left = f"; MaxPages leaves {run.max_pages_left:,} of {run.max_pages:,}" if run.max_pages is not None else ""
    yield f"pages      {run.pages:,} stored{rate}{left}"
    if run.blocked:
        yield f"blocked    {', '.join(map(plain, run.blocked))}"


_NODE_HEADINGS = ("node", "address", "#seen", "#cores", "#load", "#memory", "partitions")
_PARTITION_HEADINGS = (
    *("partition", "node", "wanted", "state", "#heard", "#pages", "#per s"),
    *("#requests", "#queued", "#mail", "#outbox", "#claims", "#owned", "#hosts", "#moving", "#waiting"),
)


def _node_row(node: NodeNow) -> tuple[str, ...]:
    held = " ".join(map(str, node.partitions)) or _NONE
    return (
        *(plain(node.name), plain(node.address), f"{span(node.seen)} ago"),
        *(_number(node.cores, 0), _number(node.load, 1), _NONE if node.memory is None else size(int(node.memory))),
        f"{held} (drained)" if node.draining else held,
    )


def _partition_row(one: PartitionNow, run: RunNow | None) -> tuple[str, ...]:
    return (
        *(str(one.id), _name(one.node), f"{_name(one.wanted)}{' (moved)' if one.pinned else ''}", _state(one, run)),
        *(_NONE if one.node is None else f"{span(one.silent)} ago", f"{one.pages:,}", _number(one.pages_per_second, 1)),
        *(_figure(one.report, "requests"), _figure(one.report, "queued")),
        *(f"{count:,}" for count in (one.mail, one.outbox, one.claims_waiting, one.subjects, one.hosts)),
        *(f"{count:,}" for count in (one.coming + one.leaving, one.waiting)),
    )


def _state(one: PartitionNow, run: RunNow | None) -> str:
    """What its pipeline does; its own word for it where it has given one."""
    if one.node is None:
        return "free"
    if run is not None and run.outcome is None and one.confirmed < run.version:
        return "not yet obeying"
    if one.wanting:
        return "wants pages"
    if one.idle:
        return "idle"
    phase = one.report.get("phase")
    return plain(phase) if isinstance(phase, str) and phase else "held"


def _figure(report: dict[str, Any], key: str) -> str:
    found = report.get(key)
    return f"{found:,}" if isinstance(found, int) else _NONE


def _number(value: float | None, digits: int) -> str:
    return _NONE if value is None else f"{value:,.{digits}f}"


def _name(node: str | None) -> str:
    return _NONE if node is None else plain(node)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of columns; a heading that begins with # stands over numbers."""
    names = [heading.lstrip("#") for heading in headings]
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    for row in (names, *rows):
        cells = zip(headings, row, widths, strict=True)
        yield "  ".join(
            text.rjust(width) if head.startswith("#") else text.ljust(width) for head, text, width in cells
        ).rstrip()
