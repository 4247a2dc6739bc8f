"""`parcahyd lab locate`: how often, and after how many probes, the nearest machine is found.

Tested in tests/cli/test_lab_locate.py.
"""

from __future__ import annotations

from pathlib import Path

import click

from parcahyd.cli.lab_output import lab_options, show_tables, this_command
from parcahyd.core.errors import UserError
from parcahyd.lab.latencies import read_world, synthetic_world
from parcahyd.lab.locate import Experiment
from parcahyd.lab.locate_tables import known_tables, settings_table, unknown_table

__all__ = ["command"]

_PICTURES = (("locate", "optimal"), ("locate", "probes"), ("locate-unknown", "optimal"), ("locate-settings", "optimal"))
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("locate")
@click.option("--data", type=_FOLDER, help="Folder with servers.tsv, rtt.tsv and sites.tsv. Without it, data are made.")
@click.option("--registries", type=_FILE, help="The ranges of addresses that --data lies in: a file that lab rir reads.")
@click.option("--draws", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Draws of crawlers.")
@click.option("--crawlers", type=click.IntRange(2, 32), default=12, show_default=True, help="Crawlers of a draw.")
@click.option("--first", type=click.IntRange(1), default=650, show_default=True, help="Sites that all of them measure first.")
@lab_options
def command(
    data: Path | None,
    registries: Path | None,
    draws: int,
    crawlers: int,
    first: int,
    seed: int,
    json_output: bool,
    report: Path | None,
) -> None:
    """How often is the nearest machine found, and after how many probes?

    Paper 002's experiment: crawlers are drawn, the first sites are measured by all, and the crawler of each later site is to be
    found with few probes. The strategy `location` stands beside the paper's six steps and simple rivals; then for sites of
    cities that are not known, by what decided, and with other settings.

    \b
    Examples:
      parcahyd lab locate --draws 3
      parcahyd lab locate --data latency-wonderproxy --registries ip-rir2018/ipv4.tsv.xz --report docs/lab
    """
    if (data is None) != (registries is None):
        raise UserError("--data and --registries belong together", "give both, or neither")
    world = synthetic_world(seed) if data is None or registries is None else read_world(data, registries)
    experiment = Experiment(world, this_command(), seed, draws, crawlers, first)
    known, decided = known_tables(experiment)
    tables = [known, unknown_table(experiment), decided, settings_table(experiment)]
    show_tables(tables, json_output=json_output, report=report, page="locate", pictures=_PICTURES)
