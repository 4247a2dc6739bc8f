"""How fresh the collection is, and how often a page changes, in words."""

from __future__ import annotations

from collections.abc import Iterator

from parcahyd.cli.wording import plural, span
from parcahyd.refresh.change_rate import ChangeRate
from parcahyd.storage.report_records import FreshnessReport

__all__ = ["change_words", "freshness_lines"]

_SUSPECTED = 0.5


def freshness_lines(report: FreshnessReport) -> Iterator[str]:
    """For `parcahyd status --freshness`."""
    if report.fresh is None or report.mean_age is None:
        yield "freshness  nothing is stored"
    else:
        yield (
            f"freshness  {report.fresh:.1%} of {plural(report.pages, 'page')} expected to be current, "
            f"mean age {span(report.mean_age)}; {report.overdue:,} overdue"
        )
        yield f"  checked  {report.rechecked:,} more than once, {report.changed:,} found changed"
    if report.kept:
        yield f"  kept     {plural(report.kept, 'document')} of URLs that failed, are gone or refused now"


def change_words(rate: ChangeRate | None, seconds: float) -> str:
    """For `parcahyd explain`: how often a page changes, and whether its copy is current, so many seconds after its check."""
    if rate is None:
        return "how often it changes is not known: it was not checked again yet"
    now = f"{rate.unchanged_for(seconds):.0%} likely to be current"
    if rate.restless > _SUSPECTED:
        return f"changes with every visit, as it seems; {now}"
    return f"changes about every {span(1 / rate.per_second)}; {now}"
