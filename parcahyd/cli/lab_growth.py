"""`parcahyd lab growth`: what a crawl costs the hub while it grows.

Tested in tests/lab/test_growth.py.
"""

from __future__ import annotations

from pathlib import Path

import click

from parcahyd.cli.lab_output import lab_options, show_tables, this_command
from parcahyd.cli.progress_line import progress_line
from parcahyd.config.schema import WorkConf
from parcahyd.lab.growth import Growth, growth_table

__all__ = ["command"]


@click.command("growth")
@click.option("--urls", type=click.IntRange(1000, 100_000_000), default=1_000_000, show_default=True, help="URLs in the end.")
@click.option("--partitions", type=click.IntRange(2, 1024), default=64, show_default=True, help="Partitions of the cluster.")
@lab_options
def command(urls: int, partitions: int, seed: int, json_output: bool, report: Path | None) -> None:
    """What do partitions post to each other while a crawl grows?

    A synthetic web is crawled by the strategy `hash`, with the tables of posted and of hot URLs that a partition has by
    default. A million URLs take about a quarter of a minute.

    \b
    Examples:
      parcahyd lab growth
      parcahyd lab growth --urls 10000000 --report docs/lab
    """
    work = WorkConf()
    growth = Growth(urls, partitions, work.PostedBytes, work.HotUrls, seed, this_command())
    with progress_line("URLs met") as progress:
        table = growth_table(growth, lambda met: progress(met, urls) if progress is not None else None)
    show_tables([table], json_output=json_output, report=report, page="growth", pictures=[("growth", "letters a page")])
