"""`parcahyd lab crawl`: a simulated crawl by several agents with the strategies of a cluster, and an agent that fails.

Tested in tests/cli/test_lab_graph.py.
"""

from __future__ import annotations

from pathlib import Path

import click

from parcahyd.builtin_plugins import parcahyd_partitioners
from parcahyd.cli.lab_output import lab_options, show_tables, this_command
from parcahyd.lab.crawl import crawl_table
from parcahyd.lab.link_graph import read_graph, synthetic_graph

__all__ = ["command"]

_STRATEGIES = ("hash", "dynamic_size", "superpage")
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command("crawl")
@click.option("--data", type=_FOLDER, help="Folder with pages.tsv and links.txt: a recorded crawl. Without it, a web is made.")
@click.option("--runs", type=click.IntRange(1, 100), default=2, show_default=True, help="Crawls that begin differently.")
@click.option("--k", "agents", type=click.IntRange(2, 100), default=8, show_default=True, help="Number of agents.")
@lab_options
def command(data: Path | None, runs: int, agents: int, seed: int, json_output: bool, report: Path | None) -> None:
    """What comes of a crawl by several agents?

    Each strategy crawls a recorded graph on a simulated clock, once undisturbed and once with an agent that fails at half time.

    \b
    Examples:
      parcahyd lab crawl --runs 1
      parcahyd lab crawl --data ../shared/data/lab/graph-uci --report docs/lab
    """
    graph = synthetic_graph(seed) if data is None else read_graph(data)
    offered = parcahyd_partitioners()
    strategies = {name: offered[name] for name in _STRATEGIES if name in offered}
    table = crawl_table(graph, agents, runs, seed, this_command(), strategies)
    pictures = [(table.name, figure) for figure in ("efficiency", "posts", "top")]
    show_tables([table], json_output=json_output, report=report, page="crawl", pictures=pictures)
