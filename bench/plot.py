"""Results as a picture: one panel for each site, one bar for each contender. It is plain SVG, written by hand."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from bench.results import SiteResults
from bench.rounds import Outcome

__all__ = ["Bar", "bars_of", "draw"]

_WIDTH, _MARGIN = 760, 24
_NAMES, _FIGURES = 150, 190
_ROW, _THICK = 26, 16
_PANEL_HEAD, _PANEL_FOOT = 44, 18
_LIMIT = "limit"
_OURS = "parcahyd"

# The picture brings its own ground, so that it can be read on a light page and on a dark one.
_STYLE = """
  .ground { fill: #ffffff; stroke: #d0d7de } .title { font-weight: 600; fill: #1f2328 } .name { fill: #1f2328 }
  .ours { font-weight: 600 } .figure { fill: #59636e } .bar { fill: #8c96a0 } .bar.ours { fill: #0a69c7 }
  .range { stroke: #1f2328; stroke-width: 1.5 } .axis { stroke: #d0d7de }
  text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #3d444d } .title, .name { fill: #f0f6fc } .figure { fill: #9198a1 }
    .bar { fill: #6b7580 } .bar.ours { fill: #4493f8 } .range { stroke: #f0f6fc } .axis { stroke: #3d444d }
  }
"""


@dataclass(frozen=True)
class Bar:
    """One contender's figure on one site, such as its pages per second."""

    name: str
    low: float
    middle: float
    high: float
    rounds: int
    form: str = ",.0f"
    """How its numbers are written."""

    @property
    def figure(self) -> str:
        low, middle, high = (format(value, self.form) for value in (self.low, self.middle, self.high))
        return middle + (f" ({low}-{high})" if self.rounds > 1 else "")


def bars_of(site: SiteResults) -> list[Bar]:
    """The contenders, fastest first."""
    bars = [_bar(name, runs) for name, runs in site.memory.items()]
    return sorted(bars, key=lambda bar: -bar.middle)


def _bar(name: str, runs: Sequence[Outcome]) -> Bar:
    speeds = [run.pages_per_second for run in runs]
    return Bar(name, min(speeds), statistics.median(speeds), max(speeds), len(speeds))


def draw(
    panels: Sequence[tuple[str, Sequence[Bar]]],
    *,
    title: str = "Pages per second of each contender on each site",
    measure: str = "pages per second, median (range)",
    ours: str = _OURS,
) -> str:
    """The picture of all sites, each with title and bars. The limit is written, not drawn: beside it all bars would be short.

    `ours` is the name that stands out.
    """
    top = float(_MARGIN)
    shapes: list[str] = []
    for site, bars in panels:
        shapes += _panel(site, bars, top, measure, ours)
        top += _PANEL_HEAD + _ROW * max(len([bar for bar in bars if bar.name != _LIMIT]), 1) + _PANEL_FOOT
    height = round(top + _MARGIN - _PANEL_FOOT)
    body = "\n".join(f"  {shape}" for shape in shapes)
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n"
        f'  <rect class="ground" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="6"/>\n{body}\n</svg>\n'
    )


def _panel(title: str, bars: Sequence[Bar], top: float, measure: str, ours: str) -> Iterator[str]:
    crawlers = [bar for bar in bars if bar.name != _LIMIT]
    limit = next((f"; the limit: {bar.figure}" for bar in bars if bar.name == _LIMIT), "")
    yield f'<text class="title" x="{_MARGIN}" y="{top + 14:g}">{escape(title)}</text>'
    yield f'<text class="figure" x="{_MARGIN}" y="{top + 32:g}">{escape(measure + limit)}</text>'
    longest = max((bar.high for bar in crawlers), default=1.0)
    left, first = _MARGIN + _NAMES, top + _PANEL_HEAD
    foot = first + _ROW * len(crawlers)
    for row, bar in enumerate(crawlers):
        yield from _row(bar, left, first + _ROW * row, longest, ours)
    yield f'<line class="axis" x1="{left}" x2="{left}" y1="{first:g}" y2="{foot:g}"/>'


def _row(bar: Bar, left: float, top: float, longest: float, ours: str) -> Iterator[str]:
    scale = (_WIDTH - _MARGIN - _FIGURES - left) / longest
    kind = " ours" if bar.name == ours else ""
    middle = top + _ROW / 2
    yield f'<text class="name{kind}" x="{left - 10:g}" y="{middle + 4.5:g}" text-anchor="end">{escape(bar.name)}</text>'
    yield (
        f'<rect class="bar{kind}" x="{left:g}" y="{middle - _THICK / 2:g}" width="{max(bar.middle * scale, 1):.1f}" '
        f'height="{_THICK}" rx="2"/>'
    )
    if bar.rounds > 1:
        low, high = left + bar.low * scale, left + bar.high * scale
        yield f'<line class="range" x1="{low:.1f}" x2="{high:.1f}" y1="{middle:g}" y2="{middle:g}"/>'
    yield f'<text class="figure" x="{left + bar.high * scale + 8:.1f}" y="{middle + 4.5:g}">{bar.figure}</text>'
