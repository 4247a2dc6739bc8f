"""The results as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bench.figures import ratios, spread
from bench.others import TOLERATED_CORES
from bench.results import Results, SiteResults
from bench.rounds import Outcome, Outcomes

__all__ = ["DISTURBED", "INCOMPLETE", "label", "markdown", "ratio_table", "site_table"]

DISTURBED, INCOMPLETE = "\\*", "†"
_OURS = "parcahyd"
_LIMIT = "limit"
_LEGEND = f"""\
Each cell is the median over the rounds, with the smallest and the largest value in brackets.

- pages: different HTML documents in the server's log that were sent whole, of those that a walk over the files finds from the
  start page; missing: pages of the walk that were not fetched; outside: fetched, but not in the walk.
- CPU: user and system time of all processes of a contender. peak: the largest sum of proportional set sizes over its process
  tree. output: bytes of the files that it left.
- {DISTURBED} in at least one of its rounds other processes used more than a tenth of a core, also when the crawl was repeated.
- {INCOMPLETE} it did not fetch all pages, so its speed is not that of a whole crawl."""


def markdown(results: Results, plot: str | None) -> str:
    """The whole section; `plot` is the name of the picture's file beside the page."""
    parts = [
        "## Whole crawls against other crawlers",
        _introduction(results),
        "\n".join(_table(("machine", ""), results.machine)),
        "\n".join(_contender_table(results)),
        *([f"![Pages per second of each contender on each site]({plot})"] if plot else []),
        *_ratios(results),
        *(part for site in results.sites for part in _site(site, results)),
        _LEGEND,
    ]
    return "\n\n".join(parts)


def _introduction(results: Results) -> str:
    verified = (
        f" `parcahyd verify` found nothing wrong after any of PARCAHYD's {results.verified} crawls." if results.verified else ""
    )
    return (
        "Written by `bench/crawl.py`; [bench/README.md](../bench/README.md) says how it measures and how to read this.\n"
        f"nginx served the sites on loopback. The contenders took turns; rounds: {results.rounds}, with outputs on "
        f"{results.memory_file_system}.\nA crawl during which other processes used more than {TOLERATED_CORES:g} of a core was "
        f"disturbed; repeats of such a crawl, at most: {results.repeats}.{verified}\n\n    {results.command}"
    )


def _contender_table(results: Results) -> Iterator[str]:
    rows = [(f"{one.name} {one.version}", one.work) for one in results.contenders]
    rows += [(name, f"left out: {reason}") for name, reason in results.left_out.items()]
    return _table(("contender", "what it does with a page"), rows)


def label(runs: Sequence[Outcome]) -> str:
    """A contender's name with the marks that its crawls earned."""
    return runs[0].contender + _marks(runs)


def _marks(runs: Sequence[Outcome]) -> str:
    disturbed = DISTURBED if any(run.disturbed for run in runs) else ""
    return disturbed + (INCOMPLETE if any(run.coverage.missing for run in runs) else "")


def _ratios(results: Results) -> Iterator[str]:
    if any(_OURS in site.memory for site in results.sites):
        yield "### PARCAHYD against each other contender"
        yield "Pages per second of PARCAHYD divided by those of the other in the same round; above 1, PARCAHYD is faster."
        yield "\n".join(ratio_table(results.sites))


def ratio_table(sites: Sequence[SiteResults]) -> Iterator[str]:
    """One line for each contender, one column for each site; the limit's line is PARCAHYD's share of it."""
    names = list(dict.fromkeys(name for site in sites for name in site.memory if name != _OURS))
    rows = []
    for name in names:
        cells = [_ratio_cell(site.memory.get(_OURS, ()), site.memory.get(name, ())) for site in sites]
        rows.append(("share of the limit" if name == _LIMIT else f"x {name}", *cells))
    return _table(("", *(site.name for site in sites)), rows)


def _ratio_cell(ours: Sequence[Outcome], others: Sequence[Outcome]) -> str:
    found = ratios(ours, others)
    return spread(found, "{:.2f}") + _marks([*ours, *others]) if found else ""


def _site(site: SiteResults, results: Results) -> Iterator[str]:
    mean = site.page_bytes / max(site.pages, 1) / 1000
    yield f"### {site.name}"
    yield f"{site.pages:,} pages of {mean:.0f} kB on average."
    yield "\n".join(site_table(site.memory))
    if site.not_crawled:
        yield "\n".join(f"- {name}: {reason}" for name, reason in site.not_crawled.items())
    if site.disk:
        yield f"The same with outputs on a disk ({results.disk_file_system}), where the writing back of files weighs too:"
        yield "\n".join(_disk_table(site.disk))
    elif results.no_disk:
        yield f"No rounds with outputs on a disk: {results.no_disk}."


def site_table(outcomes: Outcomes) -> Iterator[str]:
    """One line for each contender."""
    speed = ("contender", "rounds", "pages", "missing", "outside", "requests", "seconds", "pages/s")
    cost = ("CPU s", "CPU ms/page", "peak MB", "output MB")
    return _table((*speed, *cost), (_site_row(runs) for runs in outcomes.values()))


def _site_row(runs: Sequence[Outcome]) -> tuple[str, ...]:
    return (
        label(runs),
        str(len(runs)),
        f"{spread([run.coverage.covered for run in runs], '{:.0f}')} of {runs[0].coverage.expected}",
        spread([len(run.coverage.missing) for run in runs], "{:.0f}"),
        spread([len(run.coverage.outside) for run in runs], "{:.0f}"),
        spread([run.requests for run in runs], "{:.0f}"),
        spread([run.usage.seconds for run in runs], "{:.2f}"),
        spread([run.pages_per_second for run in runs], "{:.0f}"),
        spread([run.usage.cpu_seconds for run in runs], "{:.2f}"),
        spread([1000 * run.usage.cpu_seconds / max(run.pages, 1) for run in runs], "{:.2f}"),
        spread([run.usage.peak_bytes / 1e6 for run in runs], "{:.0f}"),
        spread([run.output_bytes / 1e6 for run in runs], "{:.1f}"),
    )


def _disk_table(outcomes: Outcomes) -> Iterator[str]:
    ours = outcomes.get(_OURS, ())
    head = ("contender", "rounds", "seconds", "pages/s", "PARCAHYD / it", "seconds of `sync` afterwards")
    rows = []
    for name, runs in outcomes.items():
        against = spread(ratios(ours, runs), "{:.2f}") if ours and name != _OURS else ""
        speed = spread([run.pages_per_second for run in runs], "{:.0f}")
        sync = spread([run.sync_seconds or 0.0 for run in runs], "{:.2f}")
        rows.append((label(runs), str(len(runs)), spread([run.usage.seconds for run in runs], "{:.2f}"), speed, against, sync))
    return _table(head, rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |"
