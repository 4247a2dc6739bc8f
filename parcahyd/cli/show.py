"""`parcahyd show`: a stored document, byte for byte."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from shlex import quote

import click

from parcahyd.cli.options import crawl_options, open_reports, read_configuration, time_argument
from parcahyd.cli.wording import utc_time, version_line
from parcahyd.core.errors import UserError
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.records import UrlDetails

__all__ = ["command"]

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")


@click.command()
@click.argument("url")
@click.option("--headers", is_flag=True, help="Write the status line and the response headers first, as `curl -i` does.")
@click.option("--at", metavar="TIME", help="The document as it was then: a date, an ISO 8601 time, or seconds since the epoch.")
@click.option("--versions", is_flag=True, help="List the stored versions, newest first, instead.")
@crawl_options
def command(
    folder: Path | None,
    overrides: tuple[str, ...],
    database: str | None,
    url: str,
    headers: bool,
    at: str | None,
    versions: bool,
) -> None:
    """Write a stored document to standard output, byte for byte.

    These are the bytes that the server sent, content codings removed. A URL may be given in any spelling that leads to the
    stored one. With --at it is the version that was the newest at that time, as far as versions are kept (KeepVersions); a
    time without a zone is UTC, and a date stands for the end of that day.

    \b
    Examples:
      parcahyd show https://www.example.org/ > page.html
      parcahyd show https://www.example.org/logo.png | sha256sum
      parcahyd show --headers https://www.example.org/ | less
      parcahyd show --versions https://www.example.org/
      parcahyd show --at 2026-03-04T12:00Z https://www.example.org/
    """
    wanted_at = None if at is None else time_argument(at)
    configuration = read_configuration(folder, overrides, database)
    with open_reports(configuration) as reports:
        if versions:
            _list_versions(reports, url)
            return
        document = reports.document(url, wanted_at)
        if document is None:
            raise _nothing_stored(reports, url, wanted_at)
    output = (document.head if headers else b"") + document.body
    if sys.stdout.isatty() and _CONTROLS.search(output):
        raise UserError(
            "the document has control characters that could upset your terminal",
            f"parcahyd show {quote(url)} > FILE, or | less",
        )
    sys.stdout.buffer.write(output)


def _list_versions(reports: Reports, url: str) -> None:
    details = reports.url_details(url)
    if details is None or not details.fetches:
        raise _nothing_stored(reports, url, None)
    for version in details.fetches:
        click.echo(version_line(version))


def _nothing_stored(reports: Reports, url: str, at: float | None) -> UserError:
    details = reports.url_details(url)
    if details is None:
        return UserError(f"{url} is not in this crawl", f"parcahyd explain {quote(url)} says whether it could be")
    if at is not None and details.fetches:
        return _nothing_stored_then(details, at)
    if details.redirect is not None:
        return UserError(f"{url} is a redirect", f"parcahyd show {quote(details.redirect)}")
    # A page that does not want to be kept is "stored" without its document.
    why = f"its page asks for that ({details.reason})" if details.state == "stored" else f"it is {details.state}"
    return UserError(f"no document is stored for {url}: {why}", f"parcahyd explain {quote(url)} says why")


def _nothing_stored_then(details: UrlDetails, at: float) -> UserError:
    earlier = next((version for version in details.fetches if version.at <= at), None)
    if earlier is None:
        oldest = utc_time(details.fetches[-1].at)
        return UserError(
            f"{details.url} as it was at {utc_time(at)} is not stored: the oldest stored version is of {oldest}",
            f'parcahyd show --at "{oldest}" {quote(details.url)}',
        )
    return UserError(
        f"{details.url} was a redirect at {utc_time(at)}", f"parcahyd show {quote(earlier.redirect or details.url)}"
    )
