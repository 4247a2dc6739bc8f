"""How fresh the collection is, in words."""

from __future__ import annotations

from collections.abc import Iterator

from parcahyd.cli.wording import plural, span
from parcahyd.storage.report_records import FreshnessReport

__all__ = ["freshness_lines"]


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
