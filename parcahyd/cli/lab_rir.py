"""`parcahyd lab rir`: makes the file of the registries' ranges by which the strategy "location" needs fewer probes.

Tested in tests/cli/test_lab_rir.py.
"""

from __future__ import annotations

import random
from pathlib import Path

import click

from parcahyd.core.errors import UserError
from parcahyd.lab.registries import Built, build, lookups_per_second

__all__ = ["command"]

_TRIED = 200_000


@click.command("rir")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The file that is made.")
def command(files: tuple[Path, ...], out: Path) -> None:
    """Make one file of what the five registries of addresses publish.

    Each registry publishes daily which ranges of addresses it delegated, and to whom, as delegated-REGISTRY-extended-latest.
    Give the files of all five, packed with xz, gzip or bzip2 or not, and name the result as Registries in WorkConf.toml.

    \b
    Examples:
      parcahyd lab rir delegated-*-extended-latest --out registries.bin
    """
    built = build(files)
    try:
        out.write_bytes(built.content)
    except OSError as error:
        raise UserError(f"{out} cannot be written: {error.strerror}", "name another file with --out") from error
    for line in _summary(built, out):
        click.echo(line)


def _summary(built: Built, out: Path) -> list[str]:
    hierarchy = built.hierarchy
    chance = random.Random(1)
    speed = lookups_per_second(hierarchy, [chance.randrange(1 << 24) for _ in range(_TRIED)])
    return [
        f"{out}: {len(built.content):,} bytes, {built.in_memory:,} in memory",
        f"{len(hierarchy.ipv4.first):,} ranges of IPv4, {len(hierarchy.ipv6.first):,} of IPv6, {built.deepest} deep at most",
        f"{hierarchy.holders:,} holders, {len(hierarchy.countries):,} countries, registries: {', '.join(hierarchy.registries)}",
        f"{speed:,.0f} look-ups a second",
    ]
