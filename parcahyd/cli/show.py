"""`parcahyd show`: a stored document, or an exchange with its server, byte for byte."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from shlex import quote

import click

from parcahyd.cli.not_on_record import no_document, no_exchange
from parcahyd.cli.options import crawl_options, open_reports, print_hint, read_configuration, time_argument
from parcahyd.cli.wording import utc_time, version_line
from parcahyd.core.errors import UserError
from parcahyd.rules.urls.canonical_url import archive_of
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.records import StoredExchange

__all__ = ["command"]

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")


@click.command()
@click.argument("url")
@click.option("--headers", is_flag=True, help="Write the status line and the response headers first, as `curl -i` does.")
@click.option("--request", is_flag=True, help="Write the head of the request of the last exchange instead.")
@click.option("--exchange", is_flag=True, help="Write the last exchange instead: request, head, and body as transferred.")
@click.option("--at", metavar="TIME", help="As it was then: a date, an ISO 8601 time, or seconds since the epoch.")
@click.option("--versions", is_flag=True, help="List the stored versions, newest first, instead.")
@crawl_options
def command(
    folder: Path | None,
    overrides: tuple[str, ...],
    database: str | None,
    url: str,
    headers: bool,
    request: bool,
    exchange: bool,
    at: str | None,
    versions: bool,
) -> None:
    """Write a stored document to standard output, byte for byte.

    These are the bytes that the server sent, content codings removed. A URL may be given in any spelling that leads to the
    stored one. With --at it is the version that was the newest at that time, as far as versions are kept (KeepVersions); a
    time without a zone is UTC, and a date stands for the end of that day.

    --request and --exchange are about the last exchange with the URL, or the last one by --at: also one that brought a
    redirect, an error or nothing new, where such are kept (KeepErrors, KeepChecks; `parcahyd history` lists them). The body is
    as it was transferred, in its content coding. What was not kept, or is not as it was, is said on standard error.

    \b
    Examples:
      parcahyd show https://www.example.org/ > page.html
      parcahyd show https://www.example.org/logo.png | sha256sum
      parcahyd show --headers https://www.example.org/ | less
      parcahyd show --versions https://www.example.org/
      parcahyd show --at 2026-03-04T12:00Z https://www.example.org/
      parcahyd show --exchange --at 2026-03-04 https://www.example.org/ > exchange.http
    """
    if headers + request + exchange + versions > 1:
        raise UserError("--headers, --request, --exchange and --versions exclude each other", "give one of them")
    wanted_at = None if at is None else time_argument(at)
    configuration = read_configuration(folder, overrides, database)
    with open_reports(configuration) as reports:
        if versions:
            _list_versions(reports, url)
            return
        if request or exchange:
            output = _exchanged(_found_exchange(reports, url, wanted_at), is_whole=exchange)
        else:
            output = _document(reports, url, wanted_at, with_head=headers)
    if sys.stdout.isatty() and _CONTROLS.search(output):
        raise UserError(
            "the document has control characters that could upset your terminal",
            f"parcahyd show {quote(url)} > FILE, or | less",
        )
    sys.stdout.buffer.write(output)


def _document(reports: Reports, url: str, at: float | None, *, with_head: bool) -> bytes:
    document = reports.document(url, at)
    if document is None:
        raise no_document(url, reports.url_details(url), at)
    if not with_head:
        return document.body
    _print_notes(document.notes)
    return document.head + document.body


def _list_versions(reports: Reports, url: str) -> None:
    details = reports.url_details(url)
    if details is None or not details.fetches:
        raise no_document(url, details)
    for version in details.fetches:
        click.echo(version_line(version))


def _found_exchange(reports: Reports, url: str, at: float | None) -> StoredExchange:
    found = reports.exchange(url, at)
    if found is None:
        history = reports.history(url)
        raise no_exchange(url, reports.url_details(url), [] if history is None else history[1], at)
    archive = archive_of(found.url)
    if archive is not None:
        raise UserError(f"{url} was never sent by itself: it is in an archive", f"parcahyd show --exchange {quote(archive)}")
    if not found.url.startswith(("http:", "https:")):
        raise UserError(f"{url} did not come by HTTP: there are no heads", f"parcahyd show {quote(url)} writes the document")
    return found


def _exchanged(found: StoredExchange, *, is_whole: bool) -> bytes:
    """The bytes of an exchange, or of its request; what is not as it was goes to standard error."""
    if not is_whole:
        if found.request is None:
            raise UserError(f"the request for {found.url} of {utc_time(found.report.at)} was not kept", "show --exchange URL")
        _print_notes(found.request_notes)
        return found.request
    _print_notes((*found.request_notes, *found.notes))
    if found.report.version_at is not None:
        print_hint(f'nothing new came; --at "{utc_time(found.report.version_at)}" shows how the stored version came')
    return (found.request or b"") + found.head + found.body


def _print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        print_hint(note)
