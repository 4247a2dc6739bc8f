"""`parcahyd show`: a stored document, byte for byte."""

from __future__ import annotations

import re
import sys
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

import click

from parcahyd.cli.crawl_options import crawl_options, open_reports, read_configuration
from parcahyd.core.errors import UserMistake

if TYPE_CHECKING:
    from parcahyd.storage.report_records import StoredDocument
    from parcahyd.storage.reports import Reports

__all__ = ["command"]

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")


@click.command()
@click.argument("url")
@click.option("--headers", is_flag=True, help="Write the status line and the response headers first, as `curl -i` does.")
@crawl_options
def command(folder: Path | None, overrides: tuple[str, ...], url: str, headers: bool) -> None:
    """Write a stored document to standard output, byte for byte.

    These are the bytes that the server sent, content codings removed. A URL may be given in any spelling that leads to the
    stored one.

    \b
    Examples:
      parcahyd show https://www.example.org/ > page.html
      parcahyd show https://www.example.org/logo.png | sha256sum
      parcahyd show --headers https://www.example.org/ | less
    """
    configuration = read_configuration(folder, overrides)
    with open_reports(configuration) as reports:
        document = reports.document(url)
        if document is None:
            raise _nothing_stored(reports, url)
    output = (_head(document) if headers else b"") + document.body
    if sys.stdout.isatty() and _CONTROLS.search(output):
        raise UserMistake(
            "the document has control characters that could upset your terminal", f"parcahyd show {url} > FILE, or | less"
        )
    sys.stdout.buffer.write(output)


def _head(document: StoredDocument) -> bytes:
    try:
        phrase = HTTPStatus(document.status).phrase
    except ValueError:
        phrase = ""
    return f"HTTP/1.1 {document.status} {phrase}".rstrip().encode() + b"\r\n" + document.headers + b"\r\n"


def _nothing_stored(reports: Reports, url: str) -> UserMistake:
    story = reports.story(url)
    if story is None:
        return UserMistake(f"{url} is not in this crawl", f"parcahyd explain {url} says whether it could be")
    if story.redirect is not None:
        return UserMistake(f"{url} is a redirect", f"parcahyd show {story.redirect}")
    return UserMistake(f"no document is stored for {url}: it is {story.state}", f"parcahyd explain {url} says why")
