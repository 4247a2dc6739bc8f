"""The configuration that a command works with, and what is stored under it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from parcahyd.cli.wording import one_line
from parcahyd.core.errors import UserError

if TYPE_CHECKING:
    from parcahyd.config.schema import Configuration
    from parcahyd.storage.reports import Reports

__all__ = ["default_folder", "open_reports", "read_configuration"]

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


def read_configuration(folder: str | os.PathLike[str] | None, overrides: Sequence[str]) -> Configuration:
    """What `--conf` and `--set` make; hints for its author go to standard error."""
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
