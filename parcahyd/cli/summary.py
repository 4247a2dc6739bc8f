"""A run's closing summary in words."""

from __future__ import annotations

from parcahyd.cli.wording import counts, due, plain, plural, size, span
from parcahyd.core.progress import RunSummary

__all__ = ["summary_lines"]

_OUTCOMES = {
    "done": "Done",
    "interrupted": "Interrupted",
    "limit": "Stopped at MaxPages",
    "failed": "Failed",
}


def summary_lines(summary: RunSummary, now: float) -> list[str]:
    """The summary, most important line first; lines about what did not happen are left out."""
    outcome = _OUTCOMES.get(summary.outcome, summary.outcome)
    first = (
        f"{outcome} after {span(summary.seconds)}: {plural(summary.requests, 'request')}, "
        f"{summary.stored:,} stored ({size(summary.received)}), {summary.unchanged:,} unchanged, "
        f"{summary.failed:,} failed, {summary.refused:,} refused, {summary.gone:,} gone."
    )
    lines = [first]
    if any(summary.reasons.values()):
        lines.append(f"Reasons: {counts(summary.reasons)}.")
    if any(summary.waiting.values()):
        line = f"Still waiting: {counts(summary.waiting)}"
        lines.append(line + (f"; next due {due(summary.next_due, now)}." if summary.next_due is not None else "."))
    if summary.outcome in ("interrupted", "failed", "limit"):
        lines.append("The same command goes on where this one stopped.")
    return [*lines, *(f"Note: {plain(note)}" for note in summary.notes)]
