"""`parcahyd config`: every setting in force, and where its value comes from."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from parcahyd.cli.options import crawl_options, read_configuration
from parcahyd.config.database_url import shown_database_url
from parcahyd.config.explaining import explain

__all__ = ["command"]

_WIDEST = 60
"""Longer values are not padded, so that one of them does not move all sources to the right."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object, with each setting's default, type and meaning.")
@crawl_options
def command(folder: Path | None, overrides: tuple[str, ...], database: str | None, as_json: bool) -> None:
    """Show every setting in force, and where its value comes from.

    The source is the file and line, `--set`, `--db`, or `default`. Passwords are hidden. docs/settings.md explains all of
    them.

    \b
    Examples:
      parcahyd config --conf conf/
      parcahyd config --set Work.HostDelay=0.5 | grep -v 'default$'
      parcahyd config --json
    """
    configuration = read_configuration(folder, overrides, database)
    lines = list(explain(configuration))
    shown_url = shown_database_url(configuration)
    if as_json:
        report = {"folder": configuration.folder, "database": shown_url, "settings": lines}
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
        return
    names = max(len(line.name) for line in lines)
    values = min(max(len(line.value) for line in lines), _WIDEST)
    click.echo(f"# folder    {configuration.folder}")
    click.echo(f"# database  {shown_url}")
    for line in lines:
        click.echo(f"{line.name:{names}}  {line.value:{values}}  {line.source}")
