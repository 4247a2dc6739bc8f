"""`parcahyd fetch`: one visit with every detail printed, and nothing stored.

Tested in tests/end_to_end/test_fetch.py.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

import click

from parcahyd.cli.exit_codes import NO_ROOM
from parcahyd.cli.options import crawl_options, read_configuration
from parcahyd.cli.single_fetch import Exchange, SingleFetch
from parcahyd.cli.wording import plain, plural, size, span, utc_time
from parcahyd.config.explaining import secret_headers
from parcahyd.core.errors import UserError
from parcahyd.core.records import BadRecord, PageRecord, PauseRecord, RobotsStatus, SiteRecord
from parcahyd.core.states import Reason
from parcahyd.rules.robots.robots_file import Robots, product_token
from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.storage.packing import document_of

__all__ = ["command"]

_LINKS = 20


@click.command()
@click.argument("url")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the document there.")
@click.option("--links", "all_links", is_flag=True, help=f"List every link of the document, not only the first {_LINKS}.")
@crawl_options
def command(
    folder: Path | None, overrides: tuple[str, ...], database: str | None, url: str, output: Path | None, all_links: bool
) -> None:
    """Visit one URL and print everything; nothing is stored.

    The host is resolved and its addresses are vetted, robots.txt is asked for and obeyed, and the document is read as a crawl
    would read it. Redirects are shown, not followed to other sites. It knows nothing of a crawl that may be running, nor of the
    delays that this one keeps.

    \b
    Examples:
      parcahyd fetch https://www.example.org/
      parcahyd fetch --output page.html --set Work.UserAgent=mybot/1.0 https://www.example.org/
    """
    configuration = read_configuration(folder, overrides, database)
    text = canonical(url)
    if text is None:
        raise UserError(f"{url!r} is not the URL of a document on a server", "write it in full, such as https://example.org/")
    _print("url", text)
    if text != url:
        _print("given as", url)
    visit = SingleFetch(text, configuration, partial(_print_exchange, secret_headers(configuration.work)))
    resolved = visit.resolve()
    if resolved.reason:
        _print("address", f"none: {resolved.detail}. {Reason.of(resolved.reason).sentence}")
        sys.exit(1)
    for address in resolved.addresses:
        _print("address", f"{address}, holds until {utc_time(resolved.expires_at)}")
    visit.visit(resolved)
    for label, line in _outcome(text, visit, all_links):
        _print(label, line)
    document = next((record for record in visit.records if isinstance(record, PageRecord) and not record.redirect), None)
    if output is not None and document is not None:
        _write(output, document_of(document))
        _print("written", str(output))
    sys.exit(0 if any(isinstance(record, PageRecord) for record in visit.records) else 1)


def _write(file: Path, data: bytes) -> None:
    try:
        file.write_bytes(data)
    except OSError as failure:
        if failure.errno in NO_ROOM:
            raise
        raise UserError(f"{str(file)!r} cannot be written: {failure.strerror}", "give another with --output") from failure


def _print(label: str, text: str) -> None:
    click.echo(f"{label:10} {plain(text)}")


def _print_exchange(secret: Collection[str], exchange: Exchange) -> None:
    request, result = exchange.request, exchange.result
    _print("GET", f"{request.url} at {request.address} port {request.port}")
    for name, value in request.headers:
        _print("", f"> {name}: {'***' if name.lower() in secret else value}")
    if result.failure is not None:
        _print("", f"< {result.failure.value} after {span(exchange.seconds)}: {result.detail}")
        return
    _print("", f"< {result.status}, {size(len(result.body))} in {span(exchange.seconds)}")
    for name, value in result.headers:
        _print("", f"< {name}: {value}")


def _outcome(url: str, visit: SingleFetch, all_links: bool) -> Iterator[tuple[str, str]]:
    for record in visit.records:
        if isinstance(record, SiteRecord):
            yield from _robots(url, record, visit.user_agent, visit.ignores_robots)
        elif isinstance(record, BadRecord):
            yield "outcome", f"{record.reason}: {Reason.of(record.reason).sentence}"
            if record.detail:
                yield "", record.detail
        elif isinstance(record, PauseRecord):
            yield "pause", f"the server wants to be left alone until {utc_time(record.not_before)}"
        elif isinstance(record, PageRecord):
            yield from _page(record, all_links)
    for sentence in visit.plugin_errors:
        yield "plugin", sentence


def _robots(url: str, record: SiteRecord, user_agent: str, is_ignored: bool) -> Iterator[tuple[str, str]]:
    fact = record.robots
    if fact is None:
        return
    if fact.status is not RobotsStatus.FOUND:
        yield "robots", f"{fact.status.value} ({fact.detail})"
        if fact.status is RobotsStatus.AWAITED:
            yield "outcome", "robots.txt lies on another site. A crawl would ask there; this command asks this site only."
        return
    robots = Robots.parse(fact.text, user_agent)
    token = product_token(user_agent)
    rule = robots.line_for(url)
    verdict = "allowed" if robots.allows(url) else "forbidden"
    ignored = ", which IgnoreRobots overrides" if is_ignored and verdict == "forbidden" else ""
    yield "robots", f"{verdict} for {token}" + (f" by {rule}" if rule else ", no rule speaks about it") + ignored
    if robots.crawl_delay is not None:
        yield "", f"asks for {span(robots.crawl_delay)} between two requests"
    for sitemap in robots.sitemaps:
        yield "sitemap", sitemap


def _page(record: PageRecord, all_links: bool) -> Iterator[tuple[str, str]]:
    if record.redirect:
        yield "outcome", f"redirect to {record.redirect}"
        return
    kind = "; charset=".join(word for word in (record.media_type, record.charset) if word)
    body = document_of(record)
    yield "outcome", f"document of {plural(len(body), 'byte')}, {kind or 'of unknown type'}"
    yield "sha-256", sha256(body).hexdigest()
    if record.etag or record.modified:
        yield "validators", " and ".join(word for word in (record.etag, record.modified) if word)
    yield "links", f"{len(record.internal):,} to this site, {plural(len(record.external), 'link')} to others"
    found = (*record.internal, *record.external)
    for link in found if all_links else found[:_LINKS]:
        yield "", link
    if len(found) > _LINKS and not all_links:
        yield "", f"and {len(found) - _LINKS:,} more (--links lists them)"
