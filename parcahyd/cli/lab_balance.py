"""`parcahyd lab balance`: how evenly sites are divided among agents, by size, by hash and at random.

Tested in tests/cli/test_lab_balance.py.
"""

from __future__ import annotations

from pathlib import Path

import click

from parcahyd.cli.lab_output import lab_options, show_tables, this_command
from parcahyd.lab.balance import Experiment, balance_table, sweep_table
from parcahyd.lab.balance_changes import changes_table
from parcahyd.lab.site_sizes import read_site_sizes, synthetic_site_sizes

__all__ = ["command"]

_PICTURES = (("balance", "stdev"), ("balance", "late"), ("balance-agents", "split"))
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command("balance")
@click.option("--data", type=_FOLDER, help="Folder with pages.tsv: pages of sites by month. Without it, data are made.")
@click.option("--draws", type=click.IntRange(1, 10_000), default=348, show_default=True, help="Crawls that are drawn.")
@click.option("--sites", type=click.IntRange(2, 10_000), default=30, show_default=True, help="Sites of a crawl.")
@click.option("--k", "agents", type=click.IntRange(2, 1000), default=6, show_default=True, help="Agents that divide it.")
@lab_options
def command(data: Path | None, draws: int, sites: int, agents: int, seed: int, json_output: bool, report: Path | None) -> None:
    """How evenly are sites divided among agents?

    Paper 001's experiment with its four methods, the strategies `hash` and `dynamic_size`, and a rival: each agent crawls one
    site at a time with HostDelay kept, on a simulated clock. Sites are divided by their pages in one month, and crawled with
    those of the next. Then an agent fails, one joins, and agents differ; then there are 5 to 20 of them.

    \b
    Examples:
      parcahyd lab balance --draws 29
      parcahyd lab balance --data ../shared/data/lab/sitesizes-commoncrawl --report docs/lab
    """
    sizes = synthetic_site_sizes(seed) if data is None else read_site_sizes(data)
    experiment = Experiment(sizes, this_command(), seed=seed, draws=draws, sites=sites, agents=agents)
    tables = [balance_table(experiment), changes_table(experiment), sweep_table(experiment)]
    show_tables(tables, json_output=json_output, report=report, page="balance", pictures=_PICTURES)
