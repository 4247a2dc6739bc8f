"""The options that all experiments of the lab have, and where their tables go: the terminal, JSON, or a page with pictures.

Tested in tests/cli/test_lab.py.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click

from parcahyd.lab.bars import write_bars
from parcahyd.lab.report import LabTable, as_json, as_text, write_section

__all__ = ["lab_options", "show_tables", "this_command"]

_Function = TypeVar("_Function", bound=Callable[..., object])


def lab_options(function: _Function) -> _Function:
    """`--seed`, `--json` and `--report`."""
    function = click.option("--seed", default=1, show_default=True, help="Where chance begins: the same seed, the same table.")(
        function
    )
    function = click.option("--json", "json_output", is_flag=True, help="Write the tables as JSON.")(function)
    folder = click.Path(path_type=Path, file_okay=False)
    return click.option("--report", type=folder, help="Put the tables into FOLDER/NAME.md, too, with pictures.")(function)


def this_command() -> str:
    """The command line as the user gave it, without what only says where the tables go."""
    given = sys.argv[1:]
    kept = [word for place, word in enumerate(given) if word != "--report" and (place == 0 or given[place - 1] != "--report")]
    return shlex.join(["parcahyd", *(word for word in kept if word != "--json")])


def show_tables(
    tables: Sequence[LabTable], *, json_output: bool, report: Path | None, page: str, pictures: Sequence[tuple[str, str]] = ()
) -> None:
    """Writes the tables. `pictures` are pairs of a table's name and the figure that is drawn."""
    click.echo(as_json(tables) if json_output else "\n\n".join(as_text(table) for table in tables))
    if report is None:
        return
    for table in tables:
        write_section(report / f"{page}.md", table)
        for name, figure in pictures:
            if name == table.name:
                write_bars(report, table, figure)
