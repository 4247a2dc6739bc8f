"""`parcahyd urls`: the crawl's URLs, one per line, as they come out of the database."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import click
import msgspec

from parcahyd.cli.options import crawl_options, open_reports, read_configuration
from parcahyd.cli.site_name import site_name
from parcahyd.cli.wording import plain
from parcahyd.core.states import State
from parcahyd.storage.reports.records import UrlReport

__all__ = ["command"]

_ORDERS: dict[str, Callable[[UrlReport], Any]] = {
    "url": lambda url: url.url,
    "depth": lambda url: (url.depth, url.url),
    "checked": lambda url: (-(url.checked_at or 0.0), url.url),
}
_HEADING = "state    reason              status  depth  url"


@click.command()
@click.option(
    "--state",
    type=click.Choice([state.word for state in State]),
    metavar="STATE",
    help="Only URLs in this state: known, stored, failed, refused or gone.",
)
@click.option("--site", metavar="HOST", help="Only URLs of this site: a host, or scheme://host[:port].")
@click.option("--why", metavar="REASON", help="Only URLs with this reason, such as robots or missing.")
@click.option("--match", metavar="PATTERN", help="Only URLs that fit: * stands for any text. Quote it from the shell.")
@click.option("--topic", metavar="TOPIC", help="Only URLs whose documents are about this topic, as the setting Topics labels.")
@click.option(
    "--order",
    type=click.Choice(list(_ORDERS)),
    metavar="ORDER",
    help="By url, depth, or checked (the last looked at first). Without it they come site by site, as they are read.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="No more than so many URLs.")
@click.option("--jsonl", is_flag=True, help="One JSON object per line, with every field.")
@crawl_options
def command(
    folder: Path | None,
    overrides: tuple[str, ...],
    database: str | None,
    state: str | None,
    site: str | None,
    why: str | None,
    match: str | None,
    topic: str | None,
    order: str | None,
    limit: int | None,
    jsonl: bool,
) -> None:
    """List the URLs with their state, reason, status and depth.

    The list is written as it is read, however long it is, and may be asked for while a crawl runs; --order holds it in
    memory first, unless --limit bounds it. A dash stands for "none". docs/life-of-a-url.md explains states and reasons.

    \b
    Examples:
      parcahyd urls --state stored
      parcahyd urls --site www.example.org --jsonl > urls.jsonl
      parcahyd urls --why missing --match '*/news/*' --order url
      parcahyd urls --topic sports --jsonl
      parcahyd urls --order checked --limit 20
      parcahyd urls --state refused | awk '{print $2}' | sort | uniq -c
    """
    configuration = read_configuration(folder, overrides, database)
    with open_reports(configuration) as reports:
        found = _ordered(reports.urls(state, None if site is None else site_name(site), why, match, topic), order, limit)
        if jsonl:
            _write_json(found, sys.stdout.buffer)
            return
        if sys.stdout.isatty():
            click.echo(_HEADING)
        for url in found:
            sys.stdout.write(_line(url))


def _ordered(found: Iterator[UrlReport], order: str | None, limit: int | None) -> Iterable[UrlReport]:
    """In an order that the database does not keep, all URLs are held in memory; with a limit, only so many."""
    if order is None:
        return islice(found, limit)
    key = _ORDERS[order]
    return sorted(found, key=key) if limit is None else nsmallest(limit, found, key=key)


def _write_json(found: Iterable[UrlReport], output: BinaryIO) -> None:
    encode = msgspec.json.Encoder().encode
    for url in found:
        output.write(encode(url) + b"\n")


def _line(url: UrlReport) -> str:
    return f"{url.state:7}  {url.reason or '-':18}  {url.status or '-':>6}  {url.depth:>5}  {plain(url.url)}\n"
