"""`parcahyd export`: take what is stored away, for other programs and for browsers."""

from __future__ import annotations

import errno
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click

from parcahyd.cli.exit_codes import NO_ROOM
from parcahyd.cli.missing_database import require_database
from parcahyd.cli.options import crawl_options, print_hint, read_configuration, time_argument
from parcahyd.cli.progress_line import progress_line
from parcahyd.cli.site_name import site_name
from parcahyd.cli.wording import one_line, plural, size
from parcahyd.config.database_url import database_url
from parcahyd.core.errors import ExportFailure, UserError
from parcahyd.core.states import State
from parcahyd.export.archive import ExportReport, Listener, export_wacz, export_warc
from parcahyd.export.selection import Selection
from parcahyd.export.site_files import export_files
from parcahyd.storage.reports.reader import Reader

__all__ = ["command"]

_MEGABYTE = 1_000_000


@click.command()
@click.argument("form", type=click.Choice(["warc", "wacz", "files"]), metavar="warc|wacz|files")
@click.argument("place", type=click.Path(path_type=Path), metavar="OUT")
@click.option("--site", metavar="HOST", help="Only URLs of this site: a host, or scheme://host[:port].")
@click.option("--since", metavar="TIME", help="Only what was received then or later: a date, or an ISO 8601 time.")
@click.option("--until", metavar="TIME", help="Only what was received then or earlier.")
@click.option(
    "--type", "types", multiple=True, metavar="TYPE", help="Only this media type: text/html, image/*. May be repeated."
)
@click.option(
    "--state",
    type=click.Choice([state.word for state in State]),
    metavar="STATE",
    help="Only URLs that are now in this state: known, stored, failed, refused or gone.",
)
@click.option("--match", metavar="PATTERN", help="Only URLs that fit: * stands for any text. Quote it from the shell.")
@click.option(
    "--split",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="MB",
    help="Begin another WARC file after so many megabytes.",
)
@crawl_options
def command(
    folder: Path | None,
    overrides: tuple[str, ...],
    database: str | None,
    form: str,
    place: Path,
    site: str | None,
    since: str | None,
    until: str | None,
    types: tuple[str, ...],
    state: str | None,
    match: str | None,
    split: int,
) -> int:
    """Write what is stored as WARC, WACZ, or files to browse.

    `warc` writes WARC files and their index into a folder, `wacz` writes one file that ReplayWeb.page opens, and `files` writes
    the newest version of every document into a folder that a browser opens without a network. The folder has to be empty,
    or not to exist. docs/export.md says what is in them.

    It only reads, and may be asked while a crawl runs. After an interruption the same command goes on (warc, wacz) or begins
    anew (files); nothing unfinished lies under a final name.

    \b
    Examples:
      parcahyd export warc archive/
      parcahyd export wacz example.wacz --site www.example.org
      parcahyd export files offline/ --match 'https://www.example.org/docs/*'
      parcahyd export warc march/ --since 2026-03-01 --until 2026-03-31 --type text/html
    """
    begin = None if since is None else time_argument(since, is_begin=True)
    end = None if until is None else time_argument(until)
    configuration = read_configuration(folder, overrides, database)
    url = database_url(configuration)
    require_database(url, configuration.folder)
    damaged: list[str] = []

    def report_damage(damaged_url: str, what: str) -> None:
        damaged.append(damaged_url)
        sys.stderr.write(f"parcahyd: {one_line(f'{damaged_url} is left out: its stored document is damaged: {what}')}\n")

    def export(progress: Callable[[int, int], None]) -> ExportReport:
        listener = Listener(progress, report_damage, _print_resumed)
        with closing(Reader(url)) as reader:
            selection = Selection(reader, None if site is None else site_name(site), begin, end, types, state, match)
            if form == "files":
                return export_files(reader, selection, place, listener)
            write = export_warc if form == "warc" else export_wacz
            return write(reader, selection, place, time.time(), split * _MEGABYTE, listener)

    with progress_line("stored versions") as shown:
        try:
            report = export(shown or (lambda _done, _total: None))
        except OSError as failure:
            raise _not_written(place, failure) from failure
        except KeyboardInterrupt:
            print_hint("interrupted: the same command takes the export up again")
            raise
    _print_report(report, form)
    return 1 if damaged else 0


def _print_resumed(exchanges: int) -> None:
    if exchanges:
        print_hint(f"an interrupted export goes on: {plural(exchanges, 'exchange')} of it had been written")
    else:
        print_hint("an interrupted export begins anew")


def _print_report(report: ExportReport, form: str) -> None:
    if form == "files":
        click.echo(f"{plural(report.files, 'file')} ({size(report.size)}) in {report.place}.")
        return
    counts = report.counts
    revisits = f", of which {counts.revisits:,} had the same bytes as another" if counts.revisits else ""
    where = f"{plural(report.files, 'file')} in {report.place}" if form == "warc" else str(report.place)
    exchanges, records = plural(counts.exchanges, "exchange"), plural(counts.records, "record")
    click.echo(f"{exchanges}{revisits}, in {records}: {where} ({size(report.size)}).")


def _not_written(place: Path, failure: OSError) -> ExportFailure | UserError:
    if failure.errno in NO_ROOM or failure.errno == errno.EFBIG:
        return ExportFailure(f"{place} could not be written: {failure.strerror} (make room, and give the same command again)")
    what = failure.strerror or str(failure)
    return UserError(f"{failure.filename or place} cannot be written: {what}", "name another place, or make this one writable")
