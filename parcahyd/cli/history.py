"""`parcahyd history`: every exchange with one URL that is on record."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from parcahyd.cli.not_on_record import no_exchange
from parcahyd.cli.options import crawl_options, open_reports, print_hint, read_configuration
from parcahyd.cli.wording import plain, plural, size, span, utc_time
from parcahyd.storage.reports.records import ExchangeReport, UrlDetails

__all__ = ["command"]

_HEADING = f"{'time':20}  status  {'on the wire':>11}  {'took':>10}  http  {'address':15}  brought"


@click.command()
@click.argument("url")
@click.option("--jsonl", is_flag=True, help="One JSON object per line, with every field.")
@crawl_options
def command(folder: Path | None, overrides: tuple[str, ...], database: str | None, url: str, jsonl: bool) -> None:
    """List every exchange with one URL, and what it brought.

    Newest first: when the answer was read, its status, its bytes on the wire with the head, how long it took from the request
    to the last byte, the version of HTTP, the address, and what it brought: a version, a redirect, nothing new, or an error. A
    dash stands for "not known".

    Versions are on record as far as KeepVersions keeps them. Answers that found nothing new, and errors, are on record only
    where KeepChecks and KeepErrors, or `run --archive`, keep them; a hint says how many visits are not.

    \b
    Examples:
      parcahyd history https://www.example.org/
      parcahyd history https://www.example.org/robots.txt
      parcahyd history --jsonl https://www.example.org/ | jq .seconds
    """
    configuration = read_configuration(folder, overrides, database)
    with open_reports(configuration) as reports:
        found = reports.history(url)
        details = reports.url_details(url)
    if found is None or not found[1]:
        raise no_exchange(url, details, [])
    text, exchanges = found
    if jsonl:
        encode = msgspec.json.Encoder().encode
        sys.stdout.buffer.writelines(encode(exchange) + b"\n" for exchange in exchanges)
        return
    if sys.stdout.isatty():
        click.echo(_HEADING)
    for exchange in exchanges:
        click.echo(_line(exchange))
    for hint in _not_on_record(text, details, exchanges):
        print_hint(hint)


def _line(exchange: ExchangeReport) -> str:
    wire = "-" if exchange.received is None else size(exchange.received)
    took = "-" if exchange.seconds is None else _took(exchange.seconds)
    known = (f"{exchange.protocol or '-':4}", f"{exchange.address or '-':15}", _brought(exchange))
    return plain("  ".join((f"{utc_time(exchange.at):20}", f"{exchange.status:6}", f"{wire:>11}", f"{took:>10}", *known)))


def _took(seconds: float) -> str:
    """Most answers take less than the tenth of a second that `span` has as its smallest part."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else span(seconds)


def _brought(exchange: ExchangeReport) -> str:
    if exchange.brought == "version":
        how = ", put together with a table of what changes" if exchange.merged else ""
        return f"a version of {plural(exchange.length or 0, 'byte')}{how}"
    if exchange.brought == "redirect":
        return f"a redirect to {exchange.redirect}"
    if exchange.brought == "unchanged":
        again = "the same redirect again" if exchange.redirect is not None else "the same bytes again"
        what = "not modified" if exchange.status == 304 else again
        return f"{what}: as of {utc_time(exchange.version_at or 0.0)}"
    return "robots.txt" if exchange.brought == "robots" else "an error"


def _not_on_record(url: str, details: UrlDetails | None, exchanges: list[ExchangeReport]) -> Iterator[str]:
    """What is known to have happened besides."""
    if details is None:
        return
    found = sum(exchange.brought in ("version", "redirect", "unchanged") for exchange in exchanges)
    if details.checks > found:
        yield (
            f"{plural(details.checks - found, 'more visit')} found {url} and left no record: KeepChecks and KeepVersions say "
            "how many do, and run --archive keeps all"
        )
    if details.checked_at is not None and details.state in ("failed", "gone") and exchanges[0].at < details.checked_at:
        yield (
            f"the last visit, {utc_time(details.checked_at)}, is not on record: {details.state}, {details.reason}; KeepErrors "
            "keeps answers with an error"
        )
