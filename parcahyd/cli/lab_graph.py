"""`parcahyd lab graph`: how many links cross between partitions, with the whole graph known and learnt while crawling.

Tested in tests/cli/test_lab_graph.py.
"""

from __future__ import annotations

from pathlib import Path

import click

from parcahyd.builtin_plugins import parcahyd_partitioners
from parcahyd.cli.lab_output import lab_options, show_tables, this_command
from parcahyd.lab.graph_known import known_table
from parcahyd.lab.graph_online import online_table
from parcahyd.lab.link_graph import read_graph, synthetic_graph

__all__ = ["command"]

_STRATEGIES = ("hash", "superpage")
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command("graph")
@click.option("--data", type=_FOLDER, help="Folder with pages.tsv and links.txt: a recorded crawl. Without it, a web is made.")
@click.option("--orders", type=click.IntRange(1, 100), default=3, show_default=True, help="Random orders of the pages.")
@click.option("--crawls", type=click.IntRange(1, 100), default=1, show_default=True, help="Crawls that begin differently.")
@click.option("--k", "parts", type=click.IntRange(2, 100), multiple=True, help="Partitions; may be repeated.  [default: 8, 16]")
@click.option("--known/--no-known", default=True, show_default=True, help="With the whole graph known beforehand.")
@click.option("--online/--no-online", default=True, show_default=True, help="Learnt while crawling.")
@lab_options
def command(
    data: Path | None,
    orders: int,
    crawls: int,
    parts: tuple[int, ...],
    known: bool,
    online: bool,
    seed: int,
    json_output: bool,
    report: Path | None,
) -> None:
    """How many links cross between partitions?

    Hashes, the paper's Partition I and II, multilevel partition of superpages, and rivals divide the same graph. First all of
    it is known; then the strategies of the crawler learn it from a simulated crawl, and sites move.

    \b
    Examples:
      parcahyd lab graph --orders 1
      parcahyd lab graph --data ../shared/data/lab/graph-uci --report docs/lab
    """
    graph = synthetic_graph(seed) if data is None else read_graph(data)
    offered = parcahyd_partitioners()
    strategies = {name: offered[name] for name in _STRATEGIES}
    tables, pictures = [], []
    for count in parts or (8, 16):
        if known:
            tables.append(known_table(graph, count, orders, seed, this_command()))
            pictures.append((tables[-1].name, "cut"))
        if online:
            tables.append(online_table(graph, count, crawls, seed, this_command(), strategies))
            pictures.append((tables[-1].name, "cut"))
    show_tables(tables, json_output=json_output, report=report, page="graph", pictures=pictures)
