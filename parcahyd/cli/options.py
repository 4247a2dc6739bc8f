"""Options and arguments that commands share (`--conf`, `--set`, `--db`, `--port`, a time), and the configuration of them."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from click.shell_completion import CompletionItem
from msgspec.structs import fields

from parcahyd.cli.missing_database import require_database
from parcahyd.cli.wording import one_line
from parcahyd.config.schema import MapConf, WorkConf
from parcahyd.core.errors import UserError

if TYPE_CHECKING:
    from parcahyd.config.schema import Configuration
    from parcahyd.storage.reports import Reports

__all__ = [
    "complete_key",
    "crawl_options",
    "default_folder",
    "open_reports",
    "port_option",
    "print_hint",
    "read_configuration",
    "time_argument",
]

_Command = TypeVar("_Command", bound=Callable[..., object])


def crawl_options(command: _Command) -> _Command:
    """Give a command `--conf`, `--set` and `--db`; it receives them as `folder`, `overrides` and `database`."""
    database = click.option(
        "--db",
        "database",
        metavar="FILE",
        help="The crawl's database: an SQLite file, looked for from the current folder, or postgresql://USER@HOST/NAME. It "
        "wins over DbUrl.",
    )
    overrides = click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="Map.KEY=VALUE",
        shell_complete=_complete_setting,
        help="Change one setting: Map.KEY=VALUE or Work.KEY=VALUE, the value as in TOML (a bare word is a string). May be "
        "repeated. A run that goes on remembers most of them. `parcahyd config` lists the settings.",
    )
    folder = click.option(
        "--conf",
        "folder",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="The folder with MapConf.toml and WorkConf.toml. Without it ./conf is read if it has one of them, else the "
        "built-in defaults hold and the database is crawl.db in the current folder.",
    )
    return folder(overrides(database(command)))


def _complete_setting(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    # The tables of Host are not for --set.
    return [CompletionItem(f"{name}=") for name in _settings(incomplete) if name != "Work.Host"]


def complete_key(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The settings that begin as the word does, for completion."""
    return [CompletionItem(name) for name in _settings(incomplete)]


def _settings(incomplete: str) -> list[str]:
    names = [f"{part}.{field.name}" for part, conf in (("Map", MapConf), ("Work", WorkConf)) for field in fields(conf)]
    return [name for name in names if name.lower().startswith(incomplete.lower())]


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


def time_argument(text: str, *, is_begin: bool = False) -> float:
    """Seconds since the epoch, of a date, a time as ISO 8601 has it (UTC where no zone is given), or such seconds.

    A day, hour, minute or second stands for its last instant: what was received in it was there. With `is_begin` it stands for
    its first.
    """
    given = text.strip()
    if _SECONDS.fullmatch(given):
        return float(given) + (0.0 if is_begin or "." in given else 1 - _INSTANT)
    try:
        time = datetime.fromisoformat(given)
        at = (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise UserError(
            f'"{text}" is not a time', "write 2026-03-04, 2026-03-04T05:06:07Z, or seconds since the epoch"
        ) from None
    parts = _TIME.search(given)
    if is_begin or (parts is not None and parts["fraction"]):
        return at
    unit = 86400 if parts is None else 1 if parts["second"] else 60 if parts["minute"] else 3600
    return at + unit - _INSTANT


# --- the configuration that a command works with, and what is stored under it -------------------------------------------


_FILES = ("MapConf.toml", "WorkConf.toml")


def default_folder() -> str | None:
    """`./conf` if there is a configuration in it; None stands for the built-in defaults."""
    folder = "conf"
    try:
        return folder if any(_is_file(os.path.join(folder, name)) for name in _FILES) else None
    except OSError as error:
        what = f"the folder conf cannot be read: {error.strerror}"
        raise UserError(what, "make it readable, or name another with --conf") from None


def _is_file(path: str) -> bool:
    """As `os.path.isfile`, but a folder that may not be read raises OSError instead of meaning no."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def read_configuration(
    folder: str | os.PathLike[str] | None, overrides: Sequence[str], database: str | None = None
) -> Configuration:
    """What `--conf`, `--set` and `--db` make; hints for its author go to standard error."""
    from parcahyd.config.loading import load

    hints: list[str] = []
    configuration = load(folder if folder is not None else default_folder(), overrides, hints=hints, database=database)
    for hint in hints:
        print_hint(hint)
    return configuration


def print_hint(sentence: str) -> None:
    """A line on standard error that is no error."""
    sys.stderr.write(f"parcahyd: hint: {one_line(sentence)}\n")


def open_reports(configuration: Configuration) -> Reports:
    """The reading side of the crawl that is configured, to be used in a `with` block."""
    from parcahyd.config.database_url import database_url
    from parcahyd.storage.reports import Reports

    url = database_url(configuration)
    require_database(url, configuration.folder)
    return Reports.open(url)
