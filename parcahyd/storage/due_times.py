"""When sites and URLs fall due: the rules that leases, releases and `verify` share."""

from __future__ import annotations

from parcahyd.refresh.schedule import NEVER

__all__ = ["earliest", "never", "site_due"]


def never(time: float) -> float | None:
    """A due time as the database has it: None where only a change of settings makes the URL due again."""
    return None if time >= NEVER else time


def earliest(*times: float | None) -> float | None:
    """The earliest of the times that are not None."""
    return min((time for time in times if time is not None), default=None)


def site_due(not_before: float, errand_until: float, url: float | None, robots_redirect: float | None) -> float | None:
    """When a site has something new to do.

    Its URLs wait while its robots.txt is awaited from another site. `robots_redirect`, a robots.txt that another site awaits
    from this one, does not wait.
    """
    if url is not None:
        url = max(url, errand_until)
    time = earliest(url, robots_redirect)
    return None if time is None else max(time, not_before)
