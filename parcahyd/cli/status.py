"""`parcahyd status`: the crawl as a whole."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from parcahyd.cli.options import crawl_options, open_reports, read_configuration
from parcahyd.cli.wording import (
    counts,
    due,
    end_sentence,
    end_words,
    left_out_sentence,
    outcome_words,
    plain,
    plural,
    saved_sentence,
    size,
    span,
    utc_time,
)
from parcahyd.config.database_url import shown_database_url
from parcahyd.storage.reports.records import FreshnessReport, RunReport, SimilarReport, SiteReport, StatusReport

__all__ = [
    "command",
    "freshness_lines",
    "status_lines",
]

_TOP = 10


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object with everything, for programs.")
@click.option("--freshness", is_flag=True, help="Also how fresh the pages are; half a minute for a million URLs.")
@click.option("--similar", is_flag=True, help="Also how many documents are near-duplicates; a minute for a million documents.")
@click.option("--sites", "all_sites", is_flag=True, help=f"List all sites that have pages, not only the {_TOP} largest.")
@crawl_options
def command(
    folder: Path | None,
    overrides: tuple[str, ...],
    database: str | None,
    as_json: bool,
    freshness: bool,
    similar: bool,
    all_sites: bool,
) -> None:
    """Show what is stored, what waits, and how the last run went.

    It only reads, and may be asked while a crawl runs.

    \b
    Examples:
      parcahyd status
      parcahyd status --sites
      parcahyd status --freshness --similar
      parcahyd status --conf conf/ --json
    """
    configuration = read_configuration(folder, overrides, database)
    now = time.time()
    with open_reports(configuration) as reports:
        status = reports.status(now, top=None if all_sites else _TOP)
        fresh = reports.freshness(now, configuration.work) if freshness else None
        near = reports.similar(top=_TOP) if similar else None
    if as_json:
        report = {"database": shown_database_url(configuration), **msgspec.structs.asdict(status)}
        if fresh is not None:
            report["freshness"] = fresh
        if near is not None:
            report["similar"] = near
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
        return
    for line in status_lines(status, shown_database_url(configuration), now):
        click.echo(line)
    if fresh is not None:
        for line in freshness_lines(fresh):
            click.echo(line)
    if near is not None:
        for line in _similar_lines(near):
            click.echo(line)


def _similar_lines(report: SimilarReport) -> Iterator[str]:
    yield f"similar    {plural(report.documents, 'document')} in {plural(report.groups, 'group')} of nearly the same text"
    if report.taken_now:
        yield f"           {plural(report.taken_now, 'text')} read for it: Similarity was off when they were stored"
    for group in report.largest:
        yield f"  {group.documents:8,} {', '.join(plain(url) for url in group.urls)}"


def status_lines(status: StatusReport, database: str, now: float) -> Iterator[str]:
    """The report for people, the most important first."""
    yield f"database   {database}"
    yield f"urls       {sum(status.states.values()):,}: " + ", ".join(
        f"{number:,} {state}" for state, number in status.states.items()
    )
    for state, number in status.states.items():
        reasons = {reason.reason: reason.urls for reason in status.reasons if reason.state == state}
        if number and reasons:
            yield f"  {state:8} {counts(reasons, most=8)}"
    yield (
        f"documents  {status.documents:,} ({size(status.document_bytes)}, {size(status.stored_bytes)} compressed), "
        f"{plural(status.fetches, 'version')} of URLs"
    )
    if status.topics:
        yield f"topics     {counts(status.topics, most=12)}"
    yield f"sites      {status.sites:,}, {status.sites_in_scope:,} in scope; {plural(status.seeds, 'seed')}"
    yield from _waiting(status, now)
    if status.due_now or status.due_later:
        yield f"in the end {end_sentence(status.in_the_end)}"
    if status.last_run is not None:
        yield _run(status.last_run, now)
    yield from _top_sites(status.top_sites)
    if more := max(0, status.sites_with_pages - len(status.top_sites)):
        yield f"and {plural(more, 'more site')} (--sites lists all)"
    for left_out in status.left_out:
        yield f"left out   {plain(left_out_sentence(left_out))}"
    for spared in status.spared:
        yield f"spared     {plain(spared.site)} until {due(spared.until, now)}: {spared.sentence}"


def _waiting(status: StatusReport, now: float) -> Iterator[str]:
    if status.due_now or status.due_later:
        line = f"waiting    {status.due_now:,} due now, {status.due_later:,} later"
        yield line + (f"; next {due(status.next_due, now)}" if status.next_due is not None else "")
    else:
        yield "waiting    nothing"
    if status.next_again is not None:
        yield f"revisit    next {due(status.next_again, now)}"


def _run(run: RunReport, now: float) -> str:
    started = f"last run   number {run.run}, started {utc_time(run.started_at)}"
    if run.ended_at is None:
        return f"{started}, not ended after {span(now - run.started_at)}: it is running, or it was killed"
    seconds = max(run.ended_at - run.started_at, 0.001)
    answers = sum(run.counts.get(kind, 0) for kind in ("stored", "unchanged", "gone"))
    words = outcome_words(run.outcome or "")
    line = f"{started}, {words} after {span(seconds)}, {answers / seconds:,.1f} pages per second"
    if "received" not in run.counts:
        return line
    saved = {what.removeprefix("saved_by_"): number for what, number in run.counts.items() if what.startswith("saved_by_")}
    saved_words = saved_sentence(saved) if any(saved.values()) else ""
    return f"{line}\nreceived   {size(run.counts['received'])} on the wire in that run. {saved_words}".rstrip()


def _top_sites(sites: tuple[SiteReport, ...]) -> Iterator[str]:
    if not sites:
        return
    widest = max(len(plain(site.site)) for site in sites)
    ends = [end_words(site.in_the_end) for site in sites]
    longest = max(len(words) for words in ("in the end", *ends))
    heading = f"{'pages':>9}  {'urls':>9}  {'requests':>9}  {'received':>9}  {'in the end':{longest}}"
    yield f"\n{'site':{widest}}  {heading}".rstrip()
    for site, end in zip(sites, ends, strict=True):
        numbers = f"{site.pages:>9,}  {site.urls:>9,}  {site.requests:>9,}  {size(site.received):>9}  {end:{longest}}"
        yield f"{plain(site.site):{widest}}  {numbers}{'  being visited' if site.visiting else ''}".rstrip()


def freshness_lines(report: FreshnessReport) -> Iterator[str]:
    """How fresh the collection is, for `parcahyd status --freshness`."""
    if report.fresh is None or report.mean_age is None:
        yield "freshness  nothing is stored"
    else:
        yield (
            f"freshness  {report.fresh:.1%} of {plural(report.pages, 'page')} expected to be current, "
            f"mean age {span(report.mean_age)}; {report.overdue:,} overdue"
        )
        yield f"  checked  {report.rechecked:,} more than once, {report.changed:,} found changed"
    if report.kept:
        yield f"  kept     {plural(report.kept, 'document')} of URLs that failed, are gone or refused now"
