"""`parcahyd lab progress`: the estimate of a crawl's size, judged on recorded crawls.

Tested in tests/cli/test_lab_progress.py.
"""

from __future__ import annotations

from pathlib import Path

import click

from parcahyd.cli.lab_output import lab_options, show_tables, this_command
from parcahyd.lab.data import DataFile
from parcahyd.lab.progress import Stop, estimates_table, methods_table, stops
from parcahyd.lab.recorded_crawls import RecordedCrawl, largest_hosts, of_host, read_recorded
from parcahyd.lab.replay import replay

__all__ = ["command"]


@click.command("progress")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FOLDER...")
@click.option("--hosts", default=0, show_default=True, help="Also the largest hosts of each crawl by themselves, so many.")
@click.option(
    "--runs", default=3, show_default=True, type=click.IntRange(1), help="From how many starts each crawl is replayed."
)
@lab_options
def command(folders: tuple[Path, ...], hosts: int, runs: int, seed: int, json_output: bool, report: Path | None) -> None:
    """Judge the estimate of a crawl's size on recorded crawls.

    Each is replayed breadth first from a page that chance chooses, and stopped at 10, 25, 50 and 75 % of its pages. FOLDER has
    pages.tsv and links.txt (docs/lab/data.md), or is a tree of HTML files.

    \b
    Examples:
      parcahyd lab progress graph-uci --hosts 6
      parcahyd lab progress /usr/share/doc/python3/html --runs 5
    """
    found: list[Stop] = []
    data: list[DataFile] = []
    for folder in folders:
        crawl = read_recorded(folder)
        data += crawl.files
        for one in (crawl, *(of_host(crawl, host) for host in largest_hosts(crawl, hosts))):
            found += _stops(one, seed, runs)
    tables = (
        estimates_table(found, tuple(data), this_command(), seed),
        methods_table(found, tuple(data), this_command(), seed, runs),
    )
    show_tables(tables, json_output=json_output, report=report, page="progress")


def _stops(crawl: RecordedCrawl, seed: int, runs: int) -> list[Stop]:
    return [stop for start in range(seed, seed + runs) for stop in stops(crawl.name, start, replay(crawl, start))]
