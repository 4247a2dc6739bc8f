"""What `parcahyd run` says after a run that brought nothing: why no seed could be fetched, or that nothing is due."""

from __future__ import annotations

from collections.abc import Sequence

from parcahyd.cli.exit_codes import print_error
from parcahyd.cli.url_report import remedy
from parcahyd.cli.wording import due
from parcahyd.core.errors import UserError
from parcahyd.core.progress import RunSummary
from parcahyd.core.states import Reason, State
from parcahyd.rules.urls.canonical_url import split
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.records import SeedOutcome

__all__ = ["did_nothing", "print_outcome"]

_FAILED = 1
_MOST = 10
_NOT_FETCHED = frozenset(state.word for state in (State.FAILED, State.REFUSED, State.GONE))


def print_outcome(reports: Reports, seeds: Sequence[str], now: float, *, did_nothing: bool, quiet: bool) -> int:
    """The exit code of a run that brought nothing, after the lines that say why.

    `seeds` are those of this run; without any, all seeds of the crawl count. `did_nothing`: it sent no request, and no URL
    changed its state. The code is 1 if each seed failed, was refused or is gone. That nothing is due is no failure: a run that
    is started every hour must not alarm anybody.
    """
    bad = _not_fetched(reports, seeds)
    for outcome in bad[:_MOST]:
        print_error(_line(outcome), _FAILED)
    if len(bad) > _MOST:
        print_error(f"{len(bad) - _MOST:,} more seeds could not be fetched", _FAILED)
    if not quiet and did_nothing:
        print_error(_nothing_due(reports.next_due(), now), 0)
    return _FAILED if bad else 0


def _not_fetched(reports: Reports, seeds: Sequence[str]) -> list[SeedOutcome]:
    """The outcomes of the seeds if none was fetched; empty if one was, or is still to be."""
    outcomes = []
    for outcome in reports.seed_outcomes(seeds or None):
        if outcome.state not in _NOT_FETCHED and outcome.reason != Reason.REDIRECT.word:
            return []
        outcomes.append(outcome)
    return outcomes


def _line(outcome: SeedOutcome) -> str:
    if outcome.reason == Reason.REDIRECT.word:
        return f"{outcome.seed} could not be fetched: Its redirects lead to no document."
    leads = "" if outcome.url.rstrip("/") == outcome.seed.rstrip("/") else f", which leads to {outcome.url},"
    why = f"{outcome.sentence.rstrip('.')}: {outcome.detail}" if outcome.detail else outcome.sentence
    advice = remedy(Reason.of(outcome.reason), split(outcome.url)[1]) if outcome.reason else ""
    # The advice ends with a full stop, as `explain` shows it.
    return str(UserError(f"{outcome.seed}{leads} could not be fetched: {why}", advice.rstrip(".")))


def did_nothing(summary: RunSummary) -> bool:
    """Whether a run sent no request and changed no URL's state."""
    return not (summary.requests or summary.stored or summary.failed or summary.refused or summary.gone)


def _nothing_due(at: float | None, now: float) -> str:
    if at is None:
        return "nothing is due, and nothing will be before a seed or a setting is changed"
    return f"nothing is due before {due(at, now)}; --refresh asks again now"
