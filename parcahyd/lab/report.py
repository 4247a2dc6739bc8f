"""What an experiment found, as a table that says how to repeat it: for a terminal, as JSON, and as a section of a page.

A page of `docs/lab/` has text that people wrote and tables that commands wrote. A table stands between two comments:

    <!-- NAME begin -->
    <!-- NAME end -->
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.lab.data import DataFile

__all__ = ["LabRow", "LabTable", "Spread", "as_json", "as_text", "spread", "write_section"]


class Spread(msgspec.Struct, frozen=True):
    """Several measurements of one thing."""

    mean: float
    low: float
    high: float
    runs: int
    median: float

    def text(self, form: str = "{:.3f}") -> str:
        """The mean, and the range where there are several."""
        mean = form.format(self.mean)
        return mean if self.runs == 1 else f"{mean} ({form.format(self.low)} to {form.format(self.high)})"


def spread(values: Iterable[float]) -> Spread:
    """Of one value at least."""
    found = list(values)
    return Spread(statistics.fmean(found), min(found), max(found), len(found), statistics.median(found))


class LabRow(msgspec.Struct, frozen=True):
    """One way of doing the thing."""

    name: str
    whose: str
    """`ours`, `paper`, `rival`, `goal`: whose way or figure it is."""
    cells: tuple[str, ...]
    """As the table's heading has them, after the name and whose it is."""
    figures: dict[str, float] = {}
    """The bare numbers, for JSON and for pictures."""


class LabTable(msgspec.Struct, frozen=True):
    """What one experiment found."""

    name: str
    """Of the section: one word."""
    title: str
    heading: tuple[str, ...]
    """Of the cells."""
    rows: tuple[LabRow, ...]
    command: str
    """The command line that makes this table."""
    seed: int | None
    runs: int
    """How often each row was tried, with other chances."""
    data: tuple[DataFile, ...] = ()
    """Empty: the data were synthetic, and the table says so."""
    notes: tuple[str, ...] = ()
    """Sentences on what the figures mean, and what limits them."""


def as_text(table: LabTable) -> str:
    """Markdown, which a terminal shows well enough: columns are padded."""
    cells = [("", "", *table.heading), *((row.name, row.whose, *row.cells) for row in table.rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    head, *body = (_row(row, widths) for row in cells)
    ruled = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([f"### {table.title}", "", head, ruled, *body, "", *_foot(table)])


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.replace("|", "/").ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"


def _foot(table: LabTable) -> Iterator[str]:
    seed = "" if table.seed is None else f", seed {table.seed}"
    yield f"`{table.command}`{seed}, {table.runs} run{'s' * (table.runs != 1)} a row."
    yield f"Data: {', '.join(file.label for file in table.data) or 'synthetic, made from the seed'}."
    yield from table.notes


def as_json(tables: Sequence[LabTable]) -> str:
    """All of it."""
    return msgspec.json.format(msgspec.json.encode(list(tables), enc_hook=str), indent=2).decode()


def write_section(page: Path, table: LabTable) -> None:
    """Puts a table into a page, between its comments; a page that has none gets the section at its end."""
    begin, end = f"<!-- {table.name} begin -->", f"<!-- {table.name} end -->"
    section = f"{begin}\n{as_text(table)}\n{end}"
    try:
        text = page.read_text(encoding="utf-8") if page.exists() else f"# {page.stem.capitalize()}\n"
        if begin not in text:
            text = f"{text.rstrip()}\n\n{begin}\n{end}\n"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(pattern.sub(lambda _: section, text, count=1), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{page} cannot be written: {error.strerror}", "name another folder with --report") from error
