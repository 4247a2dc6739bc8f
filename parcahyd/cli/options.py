"""Options and arguments that commands share: `--conf`, `--set`, `--port` and a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click
from click.shell_completion import CompletionItem
from msgspec.structs import fields

from parcahyd.config.schema import MapConf, WorkConf
from parcahyd.core.errors import UserError

__all__ = [
    "crawl_options",
    "port_option",
    "time_argument",
]

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
    names = [f"{part}.{field.name}=" for part, conf in (("Map", MapConf), ("Work", WorkConf)) for field in fields(conf)]
    names.remove("Work.Host=")  # Its tables are not for --set.
    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]


port_option = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8090,
    show_default=True,
    help="The port on 127.0.0.1; 0 takes any free one.",
)

_TIME = re.compile(r"[T ]\d{2}(?P<minute>:?\d{2})?(?P<second>:?\d{2})?(?P<fraction>[.,]\d+)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)?$")
_SECONDS = re.compile(r"\d+(?:\.\d+)?")
_INSTANT = 1e-5


def time_argument(text: str) -> float:
    """Seconds since the epoch, of a date, a time as ISO 8601 has it (UTC where no zone is given), or such seconds.

    A day, hour, minute or second stands for its last instant: what was received in it was there.
    """
    given = text.strip()
    if _SECONDS.fullmatch(given):
        return float(given) + (0.0 if "." in given else 1 - _INSTANT)
    try:
        time = datetime.fromisoformat(given)
        at = (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise UserError(
            f'"{text}" is not a time', "write 2026-03-04, 2026-03-04T05:06:07Z, or seconds since the epoch"
        ) from None
    parts = _TIME.search(given)
    if parts is not None and parts["fraction"]:
        return at
    unit = 86400 if parts is None else 1 if parts["second"] else 60 if parts["minute"] else 3600
    return at + unit - _INSTANT
