"""How long to leave somebody alone: what a server asks for in Retry-After, and waits that grow with every failure."""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from hashlib import blake2b

from parcahyd.core.life_cycle import Reason

__all__ = ["LONGEST_WAIT", "grown", "retry_after", "spread", "wait_for_try"]

LONGEST_WAIT = 86_400.0
"""Seconds: no wait of our own grows beyond a day."""

_SPREAD = 0.25
_SECONDS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{0,6}+)?").fullmatch
_LONGEST_HEADER = 100

# By reason: the first wait in multiples of RetryDelay, and by how much every further one is longer. What passes by itself is
# tried again soon; what somebody has to repair, such as a certificate or a name, much later.
_PLANS: dict[Reason, tuple[float, float]] = {
    Reason.RESET: (1, 2),
    Reason.TRUNCATED: (1, 2),
    Reason.HTTP_ERROR: (1, 2),
    Reason.TIMEOUT: (2, 2),
    Reason.CONNECT: (2, 3),
    Reason.PROTOCOL: (3, 2),
    Reason.CONTENT_CODING: (3, 2),
    Reason.TLS: (30, 2),
    Reason.DNS_TIMEOUT: (1, 2),
    Reason.DNS_FAILURE: (3, 2),
    Reason.DNS_NO_ADDRESS: (30, 3),
    Reason.DNS_NO_NAME: (30, 3),
}
_OTHERWISE = (1.0, 2.0)


def retry_after(header: str, now: float) -> float | None:
    """How many seconds a Retry-After asks for, by seconds or by date (RFC 9110, section 10.2.3); None where it says nothing.

    A date that is past asks for none. However much is asked for, the caller has limits of its own.
    """
    text = header[:_LONGEST_HEADER].strip()
    if _SECONDS(text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        at = (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()  # HTTP's dates are in UTC
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, at - now)


def grown(failures: int, first: float, factor: float = 2.0) -> float:
    """Seconds to wait after so many failures in a row: `first`, then longer by `factor` each time, a day at most."""
    return min(first * factor ** min(max(failures - 1, 0), 64), LONGEST_WAIT)


def wait_for_try(reason: Reason, tries: int, retry_delay: float) -> float:
    """Seconds before the next try of a URL that failed `tries` times, the last time for that reason."""
    first, factor = _PLANS.get(reason, _OTHERWISE)
    return grown(tries, first * retry_delay, factor)


def spread(seconds: float, *marks: int) -> float:
    """A wait up to a quarter longer, so that what failed together is not tried together; the same for the same marks."""
    digest = blake2b(repr(marks).encode(), digest_size=2).digest()
    return seconds * (1.0 + _SPREAD * int.from_bytes(digest, "big") / 65536)
