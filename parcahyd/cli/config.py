"""`parcahyd config`: every setting in force, and where its value comes from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from parcahyd.cli.options import complete_key, crawl_options, open_reports, print_hint, read_configuration
from parcahyd.config.checking import nearest
from parcahyd.config.database_url import shown_database_url, sqlite_file
from parcahyd.config.explaining import SettingLine, explain
from parcahyd.config.remembered import take_over
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import UserError

__all__ = ["command"]

_WIDEST = 60
"""Longer values are not padded, so that one of them does not move all sources to the right."""


@click.command()
@click.argument("keys", nargs=-1, metavar="[KEY]...", shell_complete=complete_key)
@click.option("--json", "as_json", is_flag=True, help="One JSON object, with each setting's default, type and meaning.")
@crawl_options
def command(
    folder: Path | None, overrides: tuple[str, ...], database: str | None, keys: tuple[str, ...], as_json: bool
) -> None:
    """Show every setting in force, and where its value comes from.

    With a KEY, such as HostDelay or Work.HostDelay, only that setting, with its default, its type and its meaning.

    The source is the file and line, `--set`, `--db`, `default`, or the `last run`, whose settings a run takes over that goes on
    with its crawl. Passwords are hidden. docs/settings.md explains all of them.

    \b
    Examples:
      parcahyd config HostDelay
      parcahyd config --conf conf/
      parcahyd config --set Work.HostDelay=0.5 | grep -v 'default$'
      parcahyd config --json
    """
    configuration = _as_a_run_has_it(read_configuration(folder, overrides, database))
    lines = _chosen(list(explain(configuration)), keys)
    shown_url = shown_database_url(configuration)
    if as_json:
        report = {"folder": configuration.folder, "database": shown_url, "settings": lines}
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
        return
    if keys:
        for line in lines:
            for text in _in_full(line):
                click.echo(text)
        return
    names = max(len(line.name) for line in lines)
    values = min(max(len(line.value) for line in lines), _WIDEST)
    click.echo(f"# folder    {configuration.folder}")
    click.echo(f"# database  {shown_url}")
    for line in lines:
        click.echo(f"{line.name:{names}}  {line.value:{values}}  {line.source}")


def _as_a_run_has_it(configuration: Configuration) -> Configuration:
    """With what a run would take over from the last one, where there was one and its database can be read."""
    file = sqlite_file(shown_database_url(configuration))
    if file is not None and not os.path.lexists(file):
        return configuration
    try:
        with open_reports(configuration) as reports:
            last = reports.last_settings()
    except UserError as error:
        print_hint(f"settings of the last run are not shown: {error}")
        return configuration
    try:
        return take_over(configuration, last).configuration
    except UserError as error:
        print_hint(f"a run would stop: {error}")
        return take_over(configuration, last, as_configured=True).configuration


def _chosen(lines: list[SettingLine], keys: Sequence[str]) -> list[SettingLine]:
    """The settings of these keys, written `HostDelay` or `Work.HostDelay`; all of them where no key is given."""
    chosen = []
    for key in keys:
        found = [line for line in lines if key.lower() in (line.name.lower(), line.name.partition(".")[2].lower())]
        if not found:
            names = {line.name.partition(".")[2]: line.name for line in lines}
            near = names.get(nearest(key.rpartition(".")[2], names))
            raise UserError(f'there is no setting "{key}"', f"did you mean {near}?" if near else "`parcahyd config` lists them")
        chosen += found
    return chosen if keys else lines


def _in_full(line: SettingLine) -> Iterator[str]:
    yield f"{line.name} = {line.value}"
    yield f"  source   {line.source}"
    yield f"  default  {line.default}"
    yield f"  takes    {line.kind}"
    yield f"  meaning  {line.sentence}"
