"""`parcahyd import`: read archives that others have made into a crawl."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec

from parcahyd.cli.exit_codes import print_error
from parcahyd.cli.options import crawl_options, print_hint, read_configuration
from parcahyd.cli.progress_line import progress_line
from parcahyd.cli.wording import one_line, plural
from parcahyd.config.database_url import database_url
from parcahyd.config.presets import ARCHIVE
from parcahyd.config.remembered import take_over
from parcahyd.config.schema import Configuration
from parcahyd.importing.archive_files import ArchiveFile
from parcahyd.importing.importer import Importer, ImportReport, Listener
from parcahyd.importing.warc_reader import require_fastwarc
from parcahyd.runtime.run_lock import RunLock
from parcahyd.runtime.stop_signals import interrupt_on_signals

__all__ = ["command"]

_MOST_UNRESOLVED = 10
"""Lines about records that refer to others; archives in parts have many."""


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--archive",
    is_flag=True,
    help="Keep all that is in the files: errors, checks, every version as it was sent. --set goes before it.",
)
@click.option("--ignore-digests", is_flag=True, help="Take records, too, whose bytes do not have the digest that they state.")
@click.option(
    "--as-configured",
    is_flag=True,
    help="Go on without what the last run was given and no database may say: classes, files, networks, secrets.",
)
@click.option("--json", "as_json", is_flag=True, help="The summary as one JSON object.")
@crawl_options
def command(
    folder: Path | None,
    overrides: tuple[str, ...],
    database: str | None,
    files: tuple[Path, ...],
    archive: bool,
    ignore_digests: bool,
    as_configured: bool,
    as_json: bool,
) -> int:
    """Read WARC, WACZ and ARC files into the crawl.

    Their documents, redirects and heads are stored with the times at which they were received, and their links as far as the
    scope admits them. The files may be compressed with gzip, and may come from any program, or from `parcahyd export`. Where
    there is no database yet, one is made. docs/import.md says what becomes of each kind of record.

    What is imported is marked as that. It is never taken for a robots.txt, brings no site into the scope and is no seed:
    `parcahyd run URL` goes on from there. A damaged record is named and left out, and the exit code is then 1.

    It needs the crawl for itself. After an interruption, give the same command again: what is there already is not stored
    twice.

    \b
    Examples:
      parcahyd import example.wacz
      parcahyd import --archive crawl-*.warc.gz --db old.db
      parcahyd import old.arc.gz --json
    """
    with interrupt_on_signals():
        configuration = read_configuration(folder, (*ARCHIVE, *overrides) if archive else overrides, database)
        require_fastwarc()
        archives = [ArchiveFile(file) for file in files]
        lines = _Lines()
        with progress_line("bytes") as shown:
            listener = Listener(shown or (lambda _done, _total: None), lines.damaged, lines.unresolved)
            try:
                report = _import(configuration, archives, listener, ignore_digests, as_configured)
            except KeyboardInterrupt:
                print_hint("interrupted: the same command takes the import up again")
                raise
    if as_json:
        sys.stdout.buffer.write(msgspec.json.encode(_figures(report)) + b"\n")
    else:
        _print_report(report, archive=archive)
    return 1 if report.damaged else 0


class _Lines:
    """The lines on standard error about single records."""

    def __init__(self) -> None:
        self._unresolved = 0

    def damaged(self, file: str, at: int, sentence: str) -> None:
        sys.stderr.write(f"parcahyd: {one_line(f'{file}, at byte {at}: left out: {sentence}')}\n")

    def unresolved(self, file: str, at: int, sentence: str) -> None:
        self._unresolved += 1
        if self._unresolved <= _MOST_UNRESOLVED:
            self.damaged(file, at, sentence)


def _import(
    configuration: Configuration, archives: list[ArchiveFile], listener: Listener, ignore_digests: bool, as_configured: bool
) -> ImportReport:
    from parcahyd.document_tools import DocumentTools
    from parcahyd.plugin_manager import PluginManager
    from parcahyd.storage.reports import Reports
    from parcahyd.storage.store import Store

    url = database_url(configuration)
    lock = RunLock(url)
    try:
        with Store.open(url) as store:
            store.claim(wait=0.0)
            agreed = take_over(configuration, store.last_settings(), as_configured=as_configured)
            for line in agreed.told:
                print_error(line, 0)
            work = agreed.configuration.work
            plugins = PluginManager.load(agreed.configuration)
            store.set_order(plugins.order())
            store.set_local_schemes(plugins.local_schemes)
            store.begin_run(agreed.configuration, time.time(), is_import=True)
            tools = DocumentTools(plugins, work, _print_notice)
            report = ImportReport()
            try:
                with Reports.open(url) as reports:
                    schemes = plugins.local_schemes
                    importer = Importer(store, reports, work, tools, schemes, time.time, listener, ignore_digests)
                    report = importer.report
                    importer.run(archives)
            finally:
                store.end_import(_counts(report), time.time())
            return report
    finally:
        lock.release()


def _print_notice(sentence: str) -> None:
    print_error(sentence, 0)


def _counts(report: ImportReport) -> dict[str, int]:
    return {"stored": report.written.versions, "unchanged": report.written.checks}


def _figures(report: ImportReport) -> dict[str, Any]:
    return {
        "files": report.files,
        "records": dict(sorted(report.records.items())),
        **msgspec.structs.asdict(report.written),
        "unresolved": report.unresolved + report.written.unresolved,
        "damaged": report.damaged,
        "ignored": dict(sorted(report.ignored.items())),
        "sites": report.sites,
        "sites_in_scope": report.sites_in_scope,
    }


def _print_report(report: ImportReport, *, archive: bool) -> None:
    written = report.written
    stored = f"{plural(written.versions, 'version')}, {plural(written.checks, 'check')} and {plural(written.errors, 'error')}"
    click.echo(f"{stored} stored, from {plural(report.files, 'file')}.")
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(report.records.items()))
    click.echo(f"  records read: {kinds or 'none'}")
    say: Callable[[int, str], None] = lambda number, words: click.echo(f"  {number:,} {words}") if number else None  # noqa: E731
    say(written.present, "were there already")
    remedy = "" if archive else "; --archive keeps them"
    say(written.not_kept, f"not kept, as KeepVersions, KeepChecks and KeepErrors say{remedy}")
    say(report.unresolved + written.unresolved, "left out: they refer to an answer that is not here")
    for words, number in sorted(report.ignored.items()):
        say(number, f"ignored: {words}")
    say(report.damaged, "left out as damaged")
    if report.sites and not report.sites_in_scope:
        print_hint("no site of the files is in the scope of this crawl: parcahyd run URL goes on with one")
