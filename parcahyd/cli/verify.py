"""`parcahyd verify`: check that everything in the database is as it must be."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec

from parcahyd.cli.exit_codes import give_up_standard_output
from parcahyd.cli.options import crawl_options, open_reports, read_configuration
from parcahyd.cli.wording import plain
from parcahyd.config.database_url import database_url
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import CrawlBusy, DatabaseUnusable
from parcahyd.runtime.run_lock import RunLock
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.records import Finding

__all__ = ["command"]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object per finding and line; nothing where nothing was found.")
@crawl_options
def command(folder: Path | None, overrides: tuple[str, ...], database: str | None, as_json: bool) -> int:
    """Check that everything in the database is as it must be.

    Every document is unpacked and compared with its SHA-256, every state with its reason, every count with what it counts,
    and every reference must lead somewhere. One line is written for each finding, and the exit code is then 1.

    It only reads, and may be asked while a crawl runs. When none runs it checks more, and a run that is started meanwhile
    has to wait. The partitions of a cluster are checked one after the other, then with each other and with the hub.

    \b
    Examples:
      parcahyd verify
      parcahyd verify --json | head
    """
    configuration = read_configuration(folder, overrides, database)
    with open_reports(configuration) as reports, _without_a_run(configuration, reports) as no_run:
        findings = _findings(reports, no_run)
        if reports.reader.partitions:
            from parcahyd.cli.cluster_database import findings_of_cluster  # With it come the plugins.

            findings = findings_of_cluster(reports, findings, configuration)
        first = next(findings, None)
        if first is None:
            if not as_json:
                click.echo("Nothing was found: the database is as it must be.")
            return 0
        try:
            _print_finding(first, as_json)
            for finding in findings:
                _print_finding(finding, as_json)
            sys.stdout.flush()
        except BrokenPipeError:
            give_up_standard_output()
        return 1


@contextmanager
def _without_a_run(configuration: Configuration, reports: Reports) -> Iterator[bool]:
    """Whether no run works on the database; then none can start inside the `with` block, but for one of a cluster."""
    if reports.reader.partitions:
        from parcahyd.cluster.verification import finished_run

        yield finished_run(reports.reader) is not None
        return
    try:
        lock = RunLock(database_url(configuration), wait=0)
    except (CrawlBusy, DatabaseUnusable):
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def _findings(reports: Reports, no_run: bool) -> Iterator[Finding]:
    """The findings, without open visits after a run that was killed: that run could not close them, and the next run will."""
    last_run = reports.status(time.time(), top=0).last_run if no_run else None
    killed = last_run is not None and last_run.ended_at is None
    return (finding for finding in reports.verify(running=not no_run) if finding.kind != "visit" or not killed)


def _print_finding(finding: Finding, as_json: bool) -> None:
    if as_json:
        sys.stdout.buffer.write(msgspec.json.encode(finding) + b"\n")
    else:
        place = "" if finding.partition is None else f"partition {finding.partition}: "
        sys.stdout.write(f"{finding.kind}: {place}{plain(finding.subject)}: {plain(finding.sentence)}\n")
