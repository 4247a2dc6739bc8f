"""A table's figure as a picture: one bar for each row, in plain SVG that is read on a light page and on a dark one.

Tested in tests/lab/test_report.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from parcahyd.core.errors import UserError
from parcahyd.lab.report import LabTable

__all__ = ["draw_bars", "write_bars"]

_WIDTH, _NAMES, _FIGURES, _ROW, _HEAD = 760, 270, 90, 24, 40
_STYLE = """
  .ground { fill: #ffffff; stroke: #d0d7de } .title { font-weight: 600 }
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .ours { fill: #0a69c7 } .paper { fill: #bf8700 } .rival { fill: #8c96a0 } .goal { fill: #2da44e }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #3d444d } text { fill: #f0f6fc } .ours { fill: #4493f8 }
  }
"""


def draw_bars(table: LabTable, figure: str, form: str = "{:.3f}") -> str:
    """The rows that have this figure, in their order."""
    rows = [(row.name, row.whose, row.figures[figure]) for row in table.rows if figure in row.figures]
    height = _HEAD + _ROW * len(rows) + 10
    frame = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    ground = f'<rect class="ground" width="{_WIDTH}" height="{height}"/>'
    title = f'<text class="title" x="12" y="24">{escape(table.title)}: {escape(figure)}</text>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {frame}><style>{_STYLE}</style>'
    return "\n".join([svg, ground, title, *_bars(rows, form), "</svg>\n"])


def _bars(rows: Sequence[tuple[str, str, float]], form: str) -> Iterator[str]:
    most = max((value for *_, value in rows), default=0.0) or 1.0
    for number, (name, whose, value) in enumerate(rows):
        top = _HEAD + number * _ROW
        long = max(1.0, (_WIDTH - _NAMES - _FIGURES) * max(value, 0.0) / most)
        yield f'<text x="12" y="{top + 15}">{escape(name[:42])}</text>'
        yield f'<rect class="{escape(whose)}" x="{_NAMES}" y="{top + 3}" width="{long:.1f}" height="16"/>'
        yield f'<text x="{_NAMES + long + 8:.1f}" y="{top + 15}">{form.format(value)}</text>'


def write_bars(folder: Path, table: LabTable, figure: str, form: str = "{:.3f}") -> Path:
    """Writes NAME-FIGURE.svg beside the page; returns its path."""
    path = folder / f"{table.name}-{figure.replace(' ', '-')}.svg"
    try:
        path.write_text(draw_bars(table, figure, form), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}", "name another folder with --report") from error
    return path
