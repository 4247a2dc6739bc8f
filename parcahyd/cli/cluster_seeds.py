"""`parcahyd cluster start` and `seed`: a run begins, and is given URLs.

Tested in tests/cli/test_cluster.py.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from parcahyd.cli.cluster_beginning import agreed_settings, begin_run, canonical_seeds, seed_mistakes, sower
from parcahyd.cli.cluster_connection import connected
from parcahyd.cli.options import crawl_options, read_configuration
from parcahyd.cli.seed_list import GivenSeed, print_seed_errors, read_seeds
from parcahyd.cli.wording import plural
from parcahyd.cluster.identity import ClusterIdentity
from parcahyd.cluster.planning import nodes_of
from parcahyd.cluster.runs import Runs
from parcahyd.core.errors import UserError

__all__ = ["seed", "start"]


@click.command("start")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--seeds",
    "files",
    multiple=True,
    metavar="FILE",
    help="A file with URLs to start from, one per line; # opens a comment, and - is standard input. May be repeated.",
)
@click.option(
    "--as-configured",
    is_flag=True,
    help="Begin without what the last run was given and no database may say: classes, files, networks, secrets.",
)
@crawl_options
def start(
    folder: Path | None,
    overrides: tuple[str, ...],
    database: str | None,
    urls: tuple[str, ...],
    files: tuple[str, ...],
    as_configured: bool,
) -> int:
    """Begin a run; the agents do the work.

    It has the settings of this configuration. Each URL is a seed, besides Seeds in WorkConf.toml. A run that is under way
    is given them and keeps its settings. The same command may always be repeated.

    \b
    Examples:
      parcahyd cluster start --conf conf/ https://www.example.org/
      parcahyd cluster start --conf conf/ --set Work.MaxPages=100000
    """
    configuration = read_configuration(folder, overrides, database)
    seeds = [*map(GivenSeed, configuration.work.Seeds), *read_seeds(urls, files)]
    if errors := seed_mistakes(configuration, seeds):
        return print_seed_errors(errors)
    with connected(configuration) as hub:
        facts = ClusterIdentity(hub).read()
        texts = [seed.text for seed in seeds]
        _, lines = begin_run(hub, facts, configuration, texts, as_configured=as_configured, tell=partial(click.echo, err=True))
        if not nodes_of(hub):
            lines.append("No node has joined yet: start the agent of each machine, parcahyd node.")
    for line in lines:
        click.echo(line)
    return 0


@click.command("seed")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@crawl_options
def seed(folder: Path | None, overrides: tuple[str, ...], database: str | None, urls: tuple[str, ...]) -> int:
    """Give URLs to the run under way. Their sites join its scope.

    \b
    Example:
      parcahyd cluster seed --conf conf/ https://www.example.net/
    """
    configuration = read_configuration(folder, overrides, database)
    seeds = read_seeds(urls, ())
    if errors := seed_mistakes(configuration, seeds):
        return print_seed_errors(errors)
    with connected(configuration) as hub:
        facts = ClusterIdentity(hub).read()
        if Runs(hub).last_settings() is None:
            raise UserError("no run has begun yet", "parcahyd cluster start URL")
        agreed = agreed_settings(hub, configuration, as_configured=True).configuration
        new = sower(hub, facts, agreed).sow(canonical_seeds(agreed, urls))
    known = f"; {len(set(urls)) - new:,} it had before" if new < len(set(urls)) else ""
    click.echo(f"The run is given {plural(new, 'new seed')}{known}.")
    return 0
