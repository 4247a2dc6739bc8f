"""Numbers, times and text from elsewhere, written for people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parcahyd.core.progress import SizeEstimate
    from parcahyd.storage.reports.records import FetchReport, LeftOut

__all__ = [
    "counts",
    "due",
    "end_sentence",
    "end_words",
    "left_out_sentence",
    "one_line",
    "outcome_words",
    "plain",
    "plural",
    "saved_sentence",
    "size",
    "span",
    "utc_time",
    "version_line",
]

_SIZES = ("kB", "MB", "GB", "TB", "PB")
_SPANS = ((60, "min", 1, "s", 3600.0), (3600, "h", 60, "min", 86400.0), (86400, "d", 3600, "h", float("inf")))


_OUTCOMES = {"max-pages": "ended by MaxPages", "max-seconds": "ended by MaxSeconds"}


def outcome_words(outcome: str) -> str:
    """How a run ended, in the middle of a sentence."""
    return _OUTCOMES.get(outcome, outcome)


def size(number: int) -> str:
    """Bytes in the unit that keeps the number short: `999 B`, `1.5 kB`, `23.4 MB` (powers of ten)."""
    if number < 1000:
        return f"{number} B"
    amount, units = number / 1000, iter(_SIZES)
    unit = next(units)
    while amount >= 999.95 and unit != _SIZES[-1]:
        amount, unit = amount / 1000, next(units)
    return f"{amount:.1f} {unit}"


_SAVED_BY = {"coding": "content codings", "conditional": "conditional requests", "tables": "tables"}


def saved_sentence(saved: Mapping[str, int]) -> str:
    """What did not have to be sent, by what saved it."""
    return "Saved: " + ", ".join(f"{size(saved[what])} by {words}" for what, words in _SAVED_BY.items() if saved.get(what))


def span(seconds: float) -> str:
    """A length of time in at most two units: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`, `4 d 6 h`."""
    if seconds < 9.95:
        return f"{max(seconds, 0.0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    unit, name, smaller, smaller_name = next(row for row in _SPANS if whole < row[4])[:4]
    rest = whole % unit // smaller
    return f"{whole // unit} {name}" + (f" {rest} {smaller_name}" if rest else "")


def utc_time(at: float) -> str:
    """A point in time, in UTC: `2026-03-04 05:06:07Z`."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (OSError, OverflowError, ValueError):  # Which one depends on how far it is beyond.
        return "beyond the calendar"


def due(at: float, now: float) -> str:
    """When something falls due: `2026-03-04 05:06:07Z (in 3 min)`, or `now` for what is past."""
    return f"{utc_time(at)} (in {span(at - now)})" if at > now else f"now (since {utc_time(at)})"


def plural(number: int, noun: str) -> str:
    """`1 page`, `2 pages`, `1,000 pages`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def counts(numbers: Mapping[str, int], most: int | None = None) -> str:
    """Words with their numbers, most frequent first: `robots 12, scope 3`; what is beyond `most` is summed up."""
    ordered = sorted(((word, number) for word, number in numbers.items() if number), key=lambda item: (-item[1], item[0]))
    shown = [f"{word} {number:,}" for word, number in ordered[:most]]
    rest = sum(number for _, number in ordered[len(shown) :])
    return ", ".join([*shown, f"others {rest:,}"] if rest else shown)


def plain(text: str) -> str:
    """Text from elsewhere with everything that could control a terminal written as escapes, such as `\\x1b`; line ends too."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def end_words(estimate: SizeEstimate | None) -> str:
    """How many pages there will be in the end: `1,240 (1,100 to 1,500)`."""
    if estimate is None:
        return "not known yet"
    if estimate.least == estimate.most:
        return f"{estimate.least:,}"
    least = f"{estimate.least:,}"
    interval = f"{least} at least, no end in sight" if estimate.most is None else f"{least} to {estimate.most:,}"
    return interval if estimate.likely is None else f"{estimate.likely:,} ({interval})"


def end_sentence(estimate: SizeEstimate | None) -> str:
    """The same, and which share of them is there: `about 1,240 (1,100 to 1,500) pages, 43% of them are stored`."""
    if estimate is None or estimate.done is None:
        return end_words(estimate)
    return f"about {end_words(estimate)} pages, {estimate.done:.0%} of them are stored"


def one_line(text: str) -> str:
    """A message of this program on one line, whatever text from elsewhere is in it."""
    return plain(" ".join(text.split()))


def version_line(version: FetchReport) -> str:
    """A stored version: when, status, from where, and how many bytes or where it redirected to."""
    brought = f"to {version.redirect}" if version.redirect is not None else plural(version.length or 0, "byte")
    regions = "  only volatile regions changed" if version.only_regions else ""
    imported = "  imported" if version.imported else ""
    return plain(f"{utc_time(version.at)}  {version.status}  {version.address}  {brought}{regions}{imported}")


def left_out_sentence(left_out: LeftOut) -> str:
    """How many links of a site or a page are not recorded."""
    links = f"{plural(left_out.links, 'link')} to its own site and {left_out.external:,} to others"
    return f"{left_out.subject}: {links}, in {plural(left_out.pages, 'page')}; there was no room for them (docs/traps.md)"
