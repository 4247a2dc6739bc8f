"""The results as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bench.measuring import TOLERATED_CORES
from bench.report_page import spread, table
from bench.results import Results, SiteResults
from bench.rounds import Outcome, Outcomes

__all__ = ["DISTURBED", "INCOMPLETE", "label", "markdown", "ratio_table", "ratios", "site_table"]

DISTURBED, INCOMPLETE = "\\*", "†"
_OURS = "parcahyd"
_LEGEND = f"""\
Each cell is the median over the rounds, with the smallest and the largest value in brackets.

- pages: different HTML documents in the server's log that were sent whole, of those that a walk over the files finds from the
  start page; missing: pages of the walk that were not fetched; outside: fetched, but not in the walk.
- after the first second, after 1 s: from one second after the server's first answer to the last page, both by the server's log:
  the start of a contender and its work after the last page are left out. Empty where that is less than half a second.
- CPU: user and system time of all processes of a contender. peak: the largest sum of proportional set sizes over its process
  tree. output: bytes of the files that it left.
- {DISTURBED} in at least one of its rounds other processes used more than a tenth of a core, also when the crawl was repeated.
- {INCOMPLETE} it did not fetch all pages, so its speed is not that of a whole crawl."""


def markdown(results: Results, plot: str | None) -> str:
    """The whole section; `plot` is the name of the picture's file beside the page."""
    parts = [
        "## Whole crawls against other crawlers",
        _introduction(results),
        "\n".join(table(("machine", ""), results.machine)),
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
    return table(("contender", "what it does with a page"), rows)


def label(runs: Sequence[Outcome]) -> str:
    """A contender's name with the marks that its crawls earned."""
    return runs[0].contender + _marks(runs)


def _marks(runs: Sequence[Outcome]) -> str:
    disturbed = DISTURBED if any(run.disturbed for run in runs) else ""
    return disturbed + (INCOMPLETE if any(run.coverage.missing for run in runs) else "")


def _ratios(results: Results) -> Iterator[str]:
    rows = list(ratio_table(results.sites))
    if len(rows) > 2:
        yield "### PARCAHYD against each other contender"
        yield (
            "PARCAHYD's figure divided by that of the other in the same round. Above 1, PARCAHYD fetches more pages per "
            "second; below 1, it needs less CPU. The line of the limit is PARCAHYD's share of it."
        )
        yield "\n".join(rows)


def ratio_table(sites: Sequence[SiteResults]) -> Iterator[str]:
    """A line for each site, each row of this version of PARCAHYD and each contender that is not one."""
    head = ("site", "PARCAHYD", "divided by", "pages/s", "pages/s after the first second", "CPU/page")
    return table(head, (row for site in sites for row in _ratio_rows(site)))


def _ratio_rows(site: SiteResults) -> Iterator[tuple[str, ...]]:
    ours = [name for name in site.memory if _is_ours(name)]
    others = [name for name in site.memory if not _is_ours(name)]
    # What a setting costs: the rows of this version against its defaults.
    pairs = [(one, other) for one in ours for other in others] + [
        (one, _OURS) for one in ours if one != _OURS and _OURS in ours
    ]
    for one, other in pairs:
        runs, beside = site.memory[one], site.memory[other]
        cells = [_ratio_cell(runs, beside, figure) for figure in (_speed, _steady_speed, _cpu)]
        if cells[0]:
            yield (site.name, one, other + _marks([*runs, *beside]), *cells)


def _is_ours(name: str) -> bool:
    return name.startswith(_OURS) and "before" not in name


Figure = Callable[[Outcome], float | None]


def _speed(run: Outcome) -> float | None:
    return run.pages_per_second


def _steady_speed(run: Outcome) -> float | None:
    return run.steady_pages_per_second


def _cpu(run: Outcome) -> float | None:
    return run.cpu_ms_per_page


def ratios(runs: Sequence[Outcome], others: Sequence[Outcome], figure: Figure = _speed) -> list[float]:
    """A figure divided by another contender's in the same round, for each round in which both have one."""
    by_round = {other.number: value for other in others if (value := figure(other))}
    return [value / by_round[run.number] for run in runs if run.number in by_round and (value := figure(run))]


def _ratio_cell(ours: Sequence[Outcome], others: Sequence[Outcome], figure: Figure) -> str:
    found = ratios(ours, others, figure)
    return spread(found, "{:.2f}") if found else ""


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
    speed = ("contender", "rounds", "pages", "missing", "outside", "requests", "seconds", "pages/s", "pages/s after 1 s")
    cost = ("CPU s", "CPU ms/page", "peak MB", "output MB")
    return table((*speed, *cost), (_site_row(runs) for runs in outcomes.values()))


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
        _steady_cell(runs),
        spread([run.usage.cpu_seconds for run in runs], "{:.2f}"),
        spread([run.cpu_ms_per_page for run in runs], "{:.2f}"),
        spread([run.usage.peak_bytes / 1e6 for run in runs], "{:.0f}"),
        spread([run.output_bytes / 1e6 for run in runs], "{:.1f}"),
    )


def _steady_cell(runs: Sequence[Outcome]) -> str:
    found = [run.steady_pages_per_second for run in runs if run.steady_pages_per_second is not None]
    return spread(found, "{:.0f}") if found else ""


def _disk_table(outcomes: Outcomes) -> Iterator[str]:
    ours = outcomes.get(_OURS, ())
    head = ("contender", "rounds", "seconds", "pages/s", "PARCAHYD / it", "seconds of `sync` afterwards")
    rows = []
    for name, runs in outcomes.items():
        against = spread(ratios(ours, runs), "{:.2f}") if ours and name != _OURS else ""
        speed = spread([run.pages_per_second for run in runs], "{:.0f}")
        sync = spread([run.sync_seconds or 0.0 for run in runs], "{:.2f}")
        rows.append((label(runs), str(len(runs)), spread([run.usage.seconds for run in runs], "{:.2f}"), speed, against, sync))
    return table(head, rows)
