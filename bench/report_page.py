"""Parts of the pages that benchmarks write: tables, spreads, curves, and sections of a Markdown page.

A section stands between two comments, and the text outside of them stays as it is:

    <!-- NAME begin -->
    <!-- NAME end -->
"""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

__all__ = ["Curve", "chart", "machine", "publish", "quantiles", "replace_section", "spread", "table", "write_section"]

Curve = tuple[str, Sequence[tuple[float, float]]]
"""A name and its points."""

_PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 140, 70, 24
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")


def machine() -> str:
    """What the numbers were measured on."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end, Python {platform.python_version()}"


def quantiles(values: Sequence[float], form: str) -> str:
    """The smallest, the quartiles and the largest, in words."""
    if len(values) < 2:
        return ", ".join(form.format(value) for value in values) or "none"
    low, middle, high = statistics.quantiles(values, n=4)
    names = ("least", "quartiles", "", "", "most")
    written = [form.format(value) for value in (min(values), low, middle, high, max(values))]
    return ", ".join(f"{name} {value}".strip() for name, value in zip(names, written, strict=True))


def spread(values: Sequence[float], form: str) -> str:
    """The median, with the smallest and the largest value where they look different."""
    low, middle, high = (form.format(value) for value in (min(values), statistics.median(values), max(values)))
    return middle if low == high else f"{middle} ({low}-{high})"


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A Markdown table."""
    yield "| " + " | ".join(heading) + " |"
    yield "|" + "---|" * len(heading)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |"


def chart(axis: str, *panels: Sequence[Curve]) -> str:
    """An SVG picture: panels below each other over one horizontal axis, each with its own vertical one from 0."""
    right = max(x for panel in panels for _, points in panel for x, _ in points)
    height = len(panels) * (_HEIGHT + _BOTTOM) + _BOTTOM
    frame = f'viewBox="0 0 {_LEFT + _WIDTH + 20} {height}" font-family="sans-serif" font-size="12"'
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for number, panel in enumerate(panels):
        drawn += _panel(panel, right, _BOTTOM + number * (_HEIGHT + _BOTTOM))
    drawn.append(f'<text x="{_LEFT + _WIDTH}" y="{height - 8}" text-anchor="end">{axis}: 0 to {right:,.0f}</text>')
    return "\n".join([*drawn, "</svg>", ""])


def _panel(panel: Sequence[Curve], right: float, top: int) -> Iterator[str]:
    most = max(y for _, points in panel for _, y in points) or 1.0
    yield f'<rect x="{_LEFT}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#999"/>'
    yield f'<text x="{_LEFT - 6}" y="{top + 10}" text-anchor="end">{most:,.0f}</text>'
    yield f'<text x="{_LEFT - 6}" y="{top + _HEIGHT}" text-anchor="end">0</text>'
    for number, (name, points) in enumerate(panel):
        colour = _COLOURS[number % len(_COLOURS)]
        places = " ".join(f"{_LEFT + _WIDTH * x / right:.1f},{top + _HEIGHT * (1 - y / most):.1f}" for x, y in points)
        yield f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        yield f'<text x="{_LEFT + 8 + 150 * number}" y="{top - 6}" fill="{colour}">{name}</text>'


def publish(name: str, title: str, lines: Iterable[str], picture: str, page: Path = _PAGE) -> None:
    """Put lines and picture into the section of that name of docs/performance.md; the picture is a file beside it."""
    image = page.with_name(f"{page.stem}-{name}.svg")
    image.write_text(picture, encoding="utf-8")
    write_section(page, name, "\n".join([f"## {title}", "", *lines, "", f"![{title}]({image.name})"]), "Performance")


def replace_section(page: str, name: str, text: str) -> str:
    """The page with the section's text replaced; a section that is not there yet is put at the end."""
    begin, end = f"<!-- {name} begin -->", f"<!-- {name} end -->"
    section = f"{begin}\n\n{text.strip()}\n\n{end}"
    before, found_begin, rest = page.partition(begin)
    if not found_begin:
        return f"{page.rstrip()}\n\n{section}\n".lstrip()
    _, found_end, after = rest.partition(end)
    if not found_end:
        raise ValueError(f"the page has {begin} without {end}")
    return f"{before}{section}{after}"


def write_section(file: Path, name: str, text: str, title: str) -> None:
    """Replaces the section in a file, which starts with the title where it is new."""
    page = file.read_text(encoding="utf-8") if file.exists() else f"# {title}\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(replace_section(page, name, text), encoding="utf-8")
