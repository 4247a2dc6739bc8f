"""`parcahyd diff`: what changed between two stored versions of a URL."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

import click

from parcahyd.augment.line_changes import compare_lines
from parcahyd.augment.markers import Span
from parcahyd.cli.not_on_record import no_document
from parcahyd.cli.options import crawl_options, open_reports, print_hint, read_configuration, time_argument
from parcahyd.cli.unified_diff import unified_lines
from parcahyd.cli.wording import plain, plural, utc_time
from parcahyd.core.errors import UserError
from parcahyd.rules.html.encodings import codec_of, decode
from parcahyd.rules.media_types.media_type import is_html
from parcahyd.storage.reports.records import DocumentVersion, UrlDetails, VolatileSpan

__all__ = ["command"]

_MARKUP = re.compile(r".*[/+]xml")
_TEXT = re.compile(r"text/.*|.*[/+](?:json|javascript|ecmascript|ndjson|yaml|toml|x-sh|sql)")
_UTF_16_MARKS = (b"\xfe\xff", b"\xff\xfe")


@click.command()
@click.argument("url")
@click.option("--at", metavar="TIME", help="The older version: the one that was the newest then, as for `show --at`.")
@click.option("--and", "and_at", metavar="TIME", help="The newer version, in the same way. Without it, the newest.")
@crawl_options
def command(
    folder: Path | None, overrides: tuple[str, ...], database: str | None, url: str, at: str | None, and_at: str | None
) -> None:
    """Show what changed between two stored versions of a URL.

    The last two versions, unless --at and --and name others; as many are stored as KeepVersions says. Text is compared line by
    line, in the form of `diff -u`, whatever its charset; lines that are too long to be read are cut at tags. Of other documents
    only sizes and digests are shown. A line that begins with a backslash says that the change before it is in a volatile
    place: one that the page's author marked, or one that was learned to change on most visits.

    The exit code is 0 whether or not something changed.

    \b
    Examples:
      parcahyd diff https://www.example.org/
      parcahyd diff --at 2026-03-04 https://www.example.org/ | less
      parcahyd diff --at 2026-03-04T12:00Z --and 2026-03-05 https://www.example.org/
    """
    if and_at is not None and at is None:
        raise UserError("--and needs --at", "--at A --and B compares the version of A with that of B")
    times = [None if text is None else time_argument(text) for text in (at, and_at)]
    configuration = read_configuration(folder, overrides, database)
    with open_reports(configuration) as reports:
        older, newer = reports.two_versions(url, *times)
        details = reports.url_details(url) if older is None or newer is None else None
    if newer is None:
        raise no_document(url, details, times[1])
    if older is None:
        raise no_document(url, details, times[0]) if at is not None else _only_one(details, newer)
    _print_difference(older, newer)


def _only_one(details: UrlDetails | None, newer: DocumentVersion) -> UserError:
    changes = f"it changed {plural(details.changes, 'time')}; " if details is not None and details.changes else ""
    return UserError(
        f"only one version of {newer.url} is stored, of {utc_time(newer.at)}: there is nothing to compare it with",
        f"{changes}KeepVersions says how many are kept, and parcahyd explain {quote(newer.url)} when it is visited next",
    )


def _print_difference(older: DocumentVersion, newer: DocumentVersion) -> None:
    if older.fetch == newer.fetch:
        click.echo(plain(f"Nothing differs: both are the version of {utc_time(older.at)}."))
        return
    if older.sha256 == newer.sha256:
        click.echo(
            plain(f"Nothing differs: the versions of {utc_time(older.at)} and {utc_time(newer.at)} have the same bytes.")
        )
        return
    if not (_is_text(older) and _is_text(newer)):
        _print_digests(older, newer, "The documents differ, and are not text.")
        return
    (old, old_places), (new, new_places) = _in_utf_8(older), _in_utf_8(newer)
    if old == new:
        _print_digests(older, newer, "The text does not differ, only its bytes.")
        return
    compared = compare_lines(old, new, old_places, new_places, is_markup=_is_markup(older) and _is_markup(newer))
    if compared is None:
        _print_digests(older, newer, "The documents differ, and are too large to be compared line by line.")
        return
    for sign, version in (("---", older), ("+++", newer)):
        click.echo(_heading(sign, version))
    is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    sys.stdout.writelines(unified_lines(old, new, compared, is_coloured=is_coloured))
    if compared.is_cut:
        print_hint("lines that are too long to be read are cut" + (" at tags" if _is_markup(newer) else ""))
    if all(block.is_volatile for block in compared.blocks):
        print_hint("only volatile places changed")


def _heading(sign: str, version: DocumentVersion) -> str:
    kind = "; charset=".join(word for word in (version.media_type, version.charset) if word) or "of unknown type"
    facts = (utc_time(version.at), str(version.status), kind, plural(len(version.body), "byte"))
    return plain(f"{sign} {version.url}  {'  '.join(facts)}")


def _print_digests(older: DocumentVersion, newer: DocumentVersion, sentence: str) -> None:
    for sign, version in (("---", older), ("+++", newer)):
        click.echo(f"{_heading(sign, version)}  SHA-256 {version.sha256}")
    click.echo(sentence)


def _is_markup(version: DocumentVersion) -> bool:
    return is_html(version.media_type) or _MARKUP.fullmatch(version.media_type) is not None


def _is_text(version: DocumentVersion) -> bool:
    """Whether a document is text, by its type and its bytes: no text but that in UTF-16 has zeros."""
    is_wide = version.body.startswith(_UTF_16_MARKS) or codec_of(version.charset).startswith("utf-16")
    if b"\0" in version.body and not is_wide:
        return False
    return not version.media_type or _is_markup(version) or _TEXT.fullmatch(version.media_type) is not None


def _place(place: VolatileSpan) -> str:
    if place.name:
        return f'"{place.name}", marked by the author'
    return f"learned, it had changed on {place.changes} of the last {plural(place.visits, 'visit')}"


def _in_utf_8(version: DocumentVersion) -> tuple[bytes, Sequence[Span]]:
    """The text of a document in UTF-8, and where its volatile places are in that."""
    body = version.body
    text = decode(body, version.charset).encode("utf-8", "replace")
    if not version.volatile:
        return text, ()
    pieces: list[bytes] = []
    spans: list[Span] = []
    position = length = 0
    for place in version.volatile:
        for start, end in ((position, place.start), (place.start, place.end)):
            pieces.append(decode(body[start:end], version.charset).encode("utf-8", "replace"))
            length += len(pieces[-1])
        spans.append(Span(_place(place), length - len(pieces[-1]), length))
        position = place.end
    pieces.append(decode(body[position:], version.charset).encode("utf-8", "replace"))
    # Where a place begins or ends within a character, nothing is known of places.
    return text, spans if b"".join(pieces) == text else ()
