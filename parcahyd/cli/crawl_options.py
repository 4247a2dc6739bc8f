"""The two options of every command that reads a crawl, `--conf` and `--set`; `configured.py` makes a configuration of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["crawl_options"]

_Command = TypeVar("_Command", bound=Callable[..., object])


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


def _complete_setting(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem
    from msgspec.structs import fields

    from parcahyd.config.schema import MapConf, WorkConf

    names = [f"{part}.{field.name}=" for part, conf in (("Map", MapConf), ("Work", WorkConf)) for field in fields(conf)]
    names.remove("Work.Host=")  # Its tables are not for --set.
    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]
