"""The two options of every command that reads a crawl, `--conf` and `--set`, and the configuration that they make."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from parcahyd.cli.wording import one_line
from parcahyd.core.errors import UserMistake

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from parcahyd.config.schema import Configuration
    from parcahyd.storage.reports import Reports

__all__ = ["crawl_options", "default_folder", "open_reports", "read_configuration"]

_Command = TypeVar("_Command", bound=Callable[..., object])
_FILES = ("MapConf.toml", "WorkConf.toml")


def crawl_options(command: _Command) -> _Command:
    """Give a command `--conf` and `--set`; it receives them as `folder` and `overrides`."""
    overrides = click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="Map.KEY=VALUE",
        shell_complete=_complete_setting,
        help="Change one setting for this command: Map.KEY=VALUE or Work.KEY=VALUE, the value as in TOML (a bare word is a "
        "string). May be repeated. `parcahyd config` lists the settings.",
    )
    folder = click.option(
        "--conf",
        "folder",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="The folder with MapConf.toml and WorkConf.toml. Without it ./conf is read if it has one of them, else the "
        "built-in defaults hold and the database is crawl.db in the current folder.",
    )
    return folder(overrides(command))


def default_folder() -> Path | None:
    """`./conf` if there is a configuration in it; None stands for the built-in defaults."""
    folder = Path("conf")
    try:
        return folder if any((folder / name).is_file() for name in _FILES) else None
    except PermissionError:
        raise UserMistake("the folder conf cannot be read", "make it readable, or name another with --conf") from None


def read_configuration(folder: Path | None, overrides: Sequence[str]) -> Configuration:
    """The configuration that a command works with; hints for its author go to standard error."""
    from parcahyd.config.loading import load

    hints: list[str] = []
    configuration = load(folder if folder is not None else default_folder(), overrides, hints=hints)
    for hint in hints:
        sys.stderr.write(f"parcahyd: hint: {one_line(hint)}\n")
    return configuration


def open_reports(configuration: Configuration) -> Reports:
    """The reading side of the crawl that is configured, to be used in a `with` block."""
    from parcahyd.config.database_url import database_url
    from parcahyd.storage.reports import Reports

    return Reports.open(database_url(configuration))


def _complete_setting(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem
    from msgspec.structs import fields

    from parcahyd.config.schema import MapConf, WorkConf

    names = [f"{part}.{field.name}=" for part, conf in (("Map", MapConf), ("Work", WorkConf)) for field in fields(conf)]
    names.remove("Work.Host=")  # Its tables are not for --set.
    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]
