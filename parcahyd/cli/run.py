"""`parcahyd run`: crawl until nothing is due."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from parcahyd.cli.exit_codes import print_error
from parcahyd.cli.missing_database import crawl_beside, require_database
from parcahyd.cli.options import crawl_options, open_reports, print_hint, read_configuration
from parcahyd.cli.reporters import JsonLines, NullReporter, Reporter, ReporterThread, SummaryKeeper
from parcahyd.cli.seed_list import GivenSeed, print_seed_errors, read_seeds, seed_errors
from parcahyd.cli.seed_schemes import scheme_errors
from parcahyd.cli.site_name import site_name
from parcahyd.cli.size_watch import SizeWatch
from parcahyd.config.database_url import database_url, sqlite_file
from parcahyd.config.presets import ARCHIVE
from parcahyd.config.remembered import take_over
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import UserError
from parcahyd.core.progress import RunSummary, SizeEstimate
from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.rules.urls.parameters import Canon
from parcahyd.runtime.run_lock import RunLock
from parcahyd.runtime.stop_signals import interrupt_on_signals

__all__ = ["command"]


class _Interval(click.FloatRange):
    """A number in a range; click takes "nan" for one in every range."""

    name = "number of seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        return number


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--seed",
    "seeds",
    multiple=True,
    metavar="URL",
    help="The same as an argument: a URL to start from, besides Seeds in WorkConf.toml. May be repeated.",
)
@click.option(
    "--seeds",
    "files",
    multiple=True,
    metavar="FILE",
    help="A file with URLs to start from, one per line; # opens a comment, and - is standard input. May be repeated.",
)
@click.option("--refresh", is_flag=True, help="Ask again now for what is stored: all of it, the URLs given, or --site HOST.")
@click.option("--site", metavar="HOST", help="With --refresh: only what is stored of this site.")
@click.option(
    "--archive",
    is_flag=True,
    help="Keep all that was exchanged: embedded resources, errors, checks, every version as it was sent. --set goes before it.",
)
@click.option("--forever", is_flag=True, help="Do not end when everything is stored: keep the documents fresh.")
@click.option(
    "--interval",
    type=_Interval(0, 1_000_000_000),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="How often a line of JSON is written where standard output is not a terminal; 0: twice a second.",
)
@click.option(
    "--as-configured",
    is_flag=True,
    help="Go on without what the last run was given and no database may say: classes, files, networks, secrets.",
)
@click.option(
    "--attached/--detached",
    default=None,
    help="On a cluster: whether Ctrl-C stops the crawl, or only this command. The first is the default on a terminal.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary; only errors are written.")
@crawl_options
def command(
    folder: Path | None,
    overrides: tuple[str, ...],
    database: str | None,
    urls: tuple[str, ...],
    files: tuple[str, ...],
    seeds: tuple[str, ...],
    refresh: bool,
    site: str | None,
    archive: bool,
    forever: bool,
    interval: float,
    as_configured: bool,
    attached: bool | None,
    quiet: bool,
) -> int:
    """Crawl until nothing is due; go on where a run stopped.

    Each URL is a seed: the crawl starts from it. The next run needs none, since the database has them.

    The links of every stored page are followed within the scope (by default the seeds' own sites), as robots.txt
    allows, one request per second and host. A page that is stored and fresh is not asked for again.

    On a terminal a display shows how it goes; elsewhere one line of JSON is written per interval, and one at the end.

    Ctrl-C ends the run cleanly: what is on the wire is finished and stored (exit code 130). A second Ctrl-C ends it at
    once. Either way nothing is lost, and the same command goes on. SIGTERM and SIGHUP do the same as Ctrl-C.

    A run that stores nothing because no seed could be fetched says why, and its exit code is 1. Where nothing is due, it says
    when something will be. With --refresh it does not wait for that: what is stored is asked for again now, and the URLs are no
    seeds but say which.

    With --forever it goes on when everything is stored: pages are asked for again as often as they change, between
    RevisitMin and RevisitMax, and no more than RevisitsPerDay in all.

    With LocalInstance = false in either file the crawl runs on the machines of ListIP: Ray starts an agent on each, and the
    whole crawl is shown here. Each machine has the configuration folder at the same path. Ray is told the database's address
    without its password, the machines' addresses and the folder's name. Passwords come from each machine's own files and
    environment.

    \b
    Examples:
      parcahyd run https://www.example.org/
      parcahyd run https://www.example.org/ --db example.db --set Work.MaxPages=100
      parcahyd run --seeds urls.txt
      parcahyd run --archive https://www.example.org/
      parcahyd run --refresh https://www.example.org/news.html
      parcahyd run --conf conf/
      parcahyd run --conf conf/ --forever --set Work.RevisitsPerDay=5000
      parcahyd run http://192.168.7.9/ --set 'Map.AllowAddresses=["192.168.7.0/24"]'
    """
    with interrupt_on_signals():
        configuration = read_configuration(folder, (*ARCHIVE, *overrides) if archive else overrides, database)
        if site is not None and not refresh:
            raise UserError("--site needs --refresh", "parcahyd run --refresh --site HOST")
        given = read_seeds((*urls, *seeds), files)
        every = (*map(GivenSeed, configuration.work.Seeds), *given)
        if configuration.is_cluster:
            if refresh:
                raise UserError("--refresh is not for a cluster", "leave it out: a page is asked for again when it falls due")
            from parcahyd.cli.run_on_cluster import RunOptions, crawl_on_cluster  # With it comes the whole cluster.

            return crawl_on_cluster(configuration, every, RunOptions(forever, as_configured, quiet, interval, attached))
        if attached is not None:
            raise UserError("--attached and --detached are for a cluster", "leave it out, or write LocalInstance = false")
        errors = seed_errors(every) or scheme_errors(configuration, [seed.text for seed in every])
        if errors:
            return print_seed_errors(errors)
        texts = [seed.text for seed in given]
        if refresh:
            _refresh(configuration, texts, site, as_configured=as_configured)
        else:
            _look_for_the_database(configuration, has_seeds=bool(texts or configuration.work.Seeds))
        told = None if quiet else _print_setting
        code, keeper = _crawl(
            configuration, [] if refresh else texts, forever, as_configured, told, _watched(configuration, interval, quiet)
        )
    if code == 0 and (summary := keeper.without_a_document()) is not None:
        return _say_why(configuration, summary, texts or configuration.work.Seeds, quiet)
    return code


def _print_setting(line: str) -> None:
    print_error(line, 0)


def _crawl(
    configuration: Configuration,
    seeds: Sequence[str],
    forever: bool,
    as_configured: bool,
    told: Callable[[str], None] | None,
    reporter: Reporter,
) -> tuple[int, SummaryKeeper]:
    from parcahyd.formats.topic_model import topic_model
    from parcahyd.net.certificate_authorities import authorities_file
    from parcahyd.rules.urls.host_rules import robots_warning
    from parcahyd.topology import crawl  # With it comes most of the program, which `parcahyd run --help` can do without.

    if configuration.work.CaFile:
        authorities_file(configuration.work.CaFile)  # For its error, which every worker would report in its own way.
    if configuration.work.Topics or configuration.work.FollowTopics:
        topic_model(configuration.work)  # The same.
    if warning := robots_warning(configuration.work):
        click.echo(f"parcahyd: warning: {warning}", err=True)
    observer = ReporterThread(reporter)
    keeper = SummaryKeeper(observer)
    try:
        return crawl(configuration, seeds, forever=forever, observer=keeper, as_configured=as_configured, told=told), keeper
    finally:
        observer.close()


def _say_why(configuration: Configuration, summary: RunSummary, seeds: Sequence[str], quiet: bool) -> int:
    from parcahyd.cli.run_outcome import did_nothing, print_outcome  # Most runs bring something.

    with open_reports(configuration) as reports:
        # The last run is this one, with all that it took over.
        canon = Canon.of(take_over(configuration, reports.last_settings(), as_configured=True).configuration.work)
        stored = [url if canon is None else canon.apply(url) for url in map(canonical, seeds) if url is not None]
        return print_outcome(reports, stored, time.time(), did_nothing=did_nothing(summary), quiet=quiet)


def _refresh(configuration: Configuration, texts: Sequence[str], site: str | None, *, as_configured: bool) -> None:
    """Makes what is stored due, before the run that asks for it."""
    from parcahyd.storage.edits import Edits

    if texts and site is not None:
        raise UserError("--refresh takes URLs or --site HOST, not both", "leave one of them out")
    url = database_url(configuration)
    require_database(url, configuration.folder)
    lock = RunLock(url)
    try:
        with Edits.open(url) as edits:
            name = None if site is None else site_name(site)
            agreed = take_over(configuration, edits.last_settings(), as_configured=as_configured).configuration
            edits.refresh(time.time(), list(dict.fromkeys(texts)), name, Canon.of(agreed.work))
    finally:
        lock.release()


def _look_for_the_database(configuration: Configuration, *, has_seeds: bool) -> None:
    """Before a run makes a new database: is that what the user expects?"""
    url = database_url(configuration)
    file = sqlite_file(url)
    if file is None or os.path.lexists(file):
        return
    beside = crawl_beside(file, configuration.folder)
    if has_seeds:
        if beside:
            print_hint(f"a new crawl begins in {file}; the one in {beside} is not used (--db {beside} goes on with that one)")
        return
    raise UserError(
        f"there is nothing to crawl: no seed is given, and there is no database {file} yet",
        f"parcahyd run URL, or --db {beside} to go on with that crawl" if beside else "parcahyd run URL starts a crawl",
    )


def _watched(configuration: Configuration, interval: float, quiet: bool) -> Reporter:
    def in_the_end() -> SizeEstimate | None:
        with open_reports(configuration) as reports:
            return reports.in_the_end()

    return NullReporter() if quiet else SizeWatch(_reporter(interval), in_the_end)


def _reporter(interval: float) -> Reporter:
    if sys.stdout.isatty():
        from rich.console import Console  # Only a terminal needs it.

        from parcahyd.cli.live_display import LiveDisplay

        console = Console(highlight=False)
        if console.is_interactive:
            return LiveDisplay(console)
    return JsonLines(sys.stdout.buffer, interval)
