"""`parcahyd run`: crawl until nothing is due."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import click

from parcahyd.cli.options import crawl_options, read_configuration
from parcahyd.cli.reporters import JsonLines, NullReporter, Reporter, ReporterThread

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
@click.option(
    "--seed",
    "seeds",
    multiple=True,
    metavar="URL",
    help="A URL to start from, besides Seeds in WorkConf.toml. May be repeated.",
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
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary; only errors are written.")
@crawl_options
def command(
    folder: Path | None,
    overrides: tuple[str, ...],
    seeds: tuple[str, ...],
    forever: bool,
    interval: float,
    quiet: bool,
) -> int:
    """Crawl until nothing is due; go on where a run stopped.

    The links of every stored page are followed within the scope (by default the seeds' own sites), as robots.txt
    allows, one request per second and host. A page that is stored and fresh is not asked for again.

    On a terminal a display shows how it goes; elsewhere one line of JSON is written per interval, and one at the end.

    Ctrl-C ends the run cleanly: what is on the wire is finished and stored (exit code 130). A second Ctrl-C ends it at
    once. Either way nothing is lost, and the same command goes on.

    With --forever it goes on when everything is stored: pages are asked for again as often as they change, between
    RevisitMin and RevisitMax, and no more than RevisitsPerDay in all.

    \b
    Examples:
      parcahyd run --seed https://www.example.org/
      parcahyd run --seed https://www.example.org/ --set Work.MaxPages=100
      parcahyd run --conf conf/
      parcahyd run --conf conf/ --forever --set Work.RevisitsPerDay=5000
      parcahyd run --seed http://192.168.7.9/ --set 'Map.AllowAddresses=["192.168.7.0/24"]'
    """
    from parcahyd.net.certificate_authorities import authorities_file
    from parcahyd.topology import crawl  # With it comes most of the program, which `parcahyd run --help` can do without.

    configuration = read_configuration(folder, overrides)
    if configuration.work.CaFile:
        authorities_file(configuration.work.CaFile)  # For its error, which every worker would report in its own way.
    observer = ReporterThread(_reporter(interval, quiet))
    try:
        return crawl(configuration, seeds, forever=forever, observer=observer)
    finally:
        observer.close()


def _reporter(interval: float, quiet: bool) -> Reporter:
    if quiet:
        return NullReporter()
    if sys.stdout.isatty():
        from rich.console import Console  # Only a terminal needs it.

        from parcahyd.cli.live_display import LiveDisplay

        console = Console(highlight=False)
        if console.is_interactive:
            return LiveDisplay(console)
    return JsonLines(sys.stdout.buffer, interval)
