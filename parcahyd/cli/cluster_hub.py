"""`parcahyd cluster init`, `migrate`, `restored` and `lease`: the hub itself.

Tested in tests/cli/test_cluster.py.
"""

from __future__ import annotations

from pathlib import Path

import click

from parcahyd.cli.cluster_beginning import LEASE, PER_MACHINE, make_hub
from parcahyd.cli.cluster_connection import connected, open_hub
from parcahyd.cli.options import crawl_options, read_configuration
from parcahyd.cli.wording import plural, span
from parcahyd.cluster.identity import ClusterIdentity

__all__ = ["init", "lease", "migrate", "restored"]

_LEASES = click.FloatRange(2, 3600)
"""Seconds. In a tenth of it a request is given up and a lock waited for; what is silent longer than an hour is dead."""
_MOST_PARTITIONS = 1024


@click.command("init")
@click.option(
    "--partitions",
    type=click.IntRange(1, _MOST_PARTITIONS),
    metavar="N",
    help=f"Into how many partitions the crawl is divided, for good: {PER_MACHINE} for each machine of ListIP unless given.",
)
@click.option(
    "--lease",
    type=_LEASES,
    default=LEASE,
    show_default=True,
    metavar="SECONDS",
    help="After how long a machine that is silent loses its partitions to others.",
)
@crawl_options
def init(folder: Path | None, overrides: tuple[str, ...], database: str | None, partitions: int | None, lease: float) -> None:
    """Make a cluster in a PostgreSQL database.

    The database is that of DbUrl. Its server is checked before anything is made: that it has enough connections, that no
    connection pooler stands before it, and that the user has the rights that a cluster needs. Nothing is crawled yet.

    \b
    Examples:
      parcahyd cluster init --conf conf/
      parcahyd cluster init --db postgresql://crawler@db.example.org/crawl --partitions 8
    """
    configuration = read_configuration(folder, overrides, database)
    _, sentence = make_hub(configuration, partitions, lease)
    click.echo(f"{sentence} parcahyd cluster start URL begins a run.")


@click.command("migrate")
@crawl_options
def migrate(folder: Path | None, overrides: tuple[str, ...], database: str | None) -> None:
    """Bring the tables up to date after an update.

    Update PARCAHYD on every machine first. No partition may be held meanwhile: stop the run and the agents first.

    \b
    Example:
      parcahyd cluster migrate --conf conf/
    """
    with connected(read_configuration(folder, overrides, database)) as hub:
        identity = ClusterIdentity(hub)
        facts = identity.read(any_program=True)
        from parcahyd.cluster.all_partitions import migrate_partitions

        migrate_partitions(hub)
        identity.note_program()
    click.echo(f"The tables of {plural(facts.partitions, 'partition')} are those of this version.")


@click.command("restored")
@crawl_options
def restored(folder: Path | None, overrides: tuple[str, ...], database: str | None) -> None:
    """Say that a backup was restored.

    Machines that still work with what the database has forgotten end. Call it before any agent is started again.

    \b
    Example:
      parcahyd cluster restored --conf conf/
    """
    with open_hub(folder, overrides, database) as (hub, facts):
        ClusterIdentity(hub).restored()
    click.echo(
        f"Agents that run end their pipelines at once. Partitions are taken again {span(facts.lease)} after an agent has seen "
        "this, and every host then rests its delay once more."
    )


@click.command("lease")
@click.argument("seconds", metavar="SECONDS", type=_LEASES)
@crawl_options
def lease(folder: Path | None, overrides: tuple[str, ...], database: str | None, seconds: float) -> None:
    """Change how long a machine may be silent.

    A machine that is silent for so long loses its partitions to others. No partition may be held meanwhile.

    \b
    Example:
      parcahyd cluster lease 30 --conf conf/
    """
    with open_hub(folder, overrides, database) as (hub, _):
        ClusterIdentity(hub).set_lease(seconds)
    click.echo(f"The lease is {span(seconds)}.")
