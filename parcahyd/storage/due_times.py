"""When things fall due: the rules that leases, releases and `verify` share."""

from __future__ import annotations

from parcahyd.refresh.schedule import NEVER

__all__ = ["earliest", "never", "site_due"]


def never(moment: float) -> float | None:
    """A due time, or the time until one, as the database has it: null where only a change of settings brings the URL back."""
    return None if moment >= NEVER else moment


def earliest(*moments: float | None) -> float | None:
    """The first of the moments that there are."""
    return min((moment for moment in moments if moment is not None), default=None)


def site_due(not_before: float, errand_until: float, url: float | None, errand: float | None) -> float | None:
    """When a site has something new to do: its URLs wait for an errand that it sent out, an errand for others does not."""
    if url is not None:
        url = max(url, errand_until)
    moment = earliest(url, errand)
    return None if moment is None else max(moment, not_before)
