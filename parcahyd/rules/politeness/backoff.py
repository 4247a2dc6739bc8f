"""How long to wait before the next try: what a server asks for in Retry-After, and waits that grow with every failure."""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from hashlib import blake2b

import msgspec

from parcahyd.core.ports import DownloadFailure, DownloadResult
from parcahyd.core.states import Event, Reason

__all__ = [
    "BAD_REDIRECT",
    "LONGEST_WAIT",
    "REDIRECTS",
    "Failure",
    "failure",
    "grown",
    "retry_after",
    "spread",
    "wait_for_try",
]

LONGEST_WAIT = 86_400.0
"""Seconds: no wait of our own grows beyond a day."""

_SPREAD = 0.25
_SECONDS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{0,6}+)?").fullmatch
_LONGEST_HEADER = 100

# By reason: the first wait in multiples of RetryDelay, and by how much every further one is longer. What passes by itself is
# tried again soon; what its operator has to repair, such as a certificate or a name, much later.
_PLANS: dict[Reason, tuple[float, float]] = {
    Reason.RESET: (1, 2),
    Reason.TRUNCATED: (1, 2),
    Reason.HTTP_ERROR: (1, 2),
    Reason.TIMEOUT: (2, 2),
    Reason.GAVE_WAY: (2, 2),
    Reason.CONNECT: (2, 3),
    Reason.PROTOCOL: (3, 2),
    Reason.CONTENT_CODING: (3, 2),
    Reason.TLS: (30, 2),
    Reason.DNS_TIMEOUT: (1, 2),
    Reason.DNS_FAILURE: (3, 2),
    Reason.DNS_NO_ADDRESS: (30, 3),
    Reason.DNS_NO_NAME: (30, 3),
    Reason.ADDRESS: (30, 3),
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
        date = parsedate_to_datetime(text)
        at = (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()  # HTTP's dates are in UTC
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


# --- What happens to a URL whose request gave no document; `wait_for_try` says when it is tried again -------------------
# | outcome | reason | what happens |
# |---|---|---|
# | 404, 410 | missing | gone |
# | 401, 403, 405, 451 and every other 4xx; a 3xx that is no redirect | http-refused | gone |
# | 408, 425, 429, 5xx | http-error | tried again |
# | no final status of HTTP, 206 without being asked | protocol | tried again |
# | no connection, no answer in time | connect, timeout | tried again, after the host is resolved again |
# | other failures of the transfer | of the same name | tried again |
# | larger than MaxBytes | size | refused |


REDIRECTS = frozenset((301, 302, 303, 307, 308))
"""The statuses whose Location is followed."""


class Failure(msgspec.Struct, frozen=True):
    """Why a request gave no document, and what that means for the URL."""

    reason: Reason
    event: Event
    """FAILURE (tried again while there are tries left), LAST_FAILURE, MISSING or REFUSAL: the move of the URL's state."""
    blank_address: bool = False
    """The host is to be resolved again (statement P17, readings 5 and 6: only where the address did not answer)."""

    @property
    def final(self) -> bool:
        """No further try, however many are left."""
        return self.event is not Event.FAILURE


BAD_REDIRECT = Failure(Reason.PROTOCOL, Event.FAILURE)
"""A redirect without a usable Location; the caller finds out, because it joins the two."""

_FAULTS = {
    DownloadFailure.CONNECT: Failure(Reason.CONNECT, Event.FAILURE, blank_address=True),
    DownloadFailure.TLS: Failure(Reason.TLS, Event.FAILURE),
    DownloadFailure.TIMEOUT: Failure(Reason.TIMEOUT, Event.FAILURE, blank_address=True),
    DownloadFailure.GAVE_WAY: Failure(Reason.GAVE_WAY, Event.FAILURE),
    DownloadFailure.RESET: Failure(Reason.RESET, Event.FAILURE),
    DownloadFailure.TRUNCATED: Failure(Reason.TRUNCATED, Event.FAILURE),
    DownloadFailure.CONTENT_CODING: Failure(Reason.CONTENT_CODING, Event.FAILURE),
    DownloadFailure.PROTOCOL: Failure(Reason.PROTOCOL, Event.FAILURE),
    DownloadFailure.SIZE: Failure(Reason.SIZE, Event.REFUSAL),
    DownloadFailure.PLUGIN: Failure(Reason.PLUGIN, Event.FAILURE),
}
_MISSING = Failure(Reason.MISSING, Event.MISSING)
_MAY_PASS = Failure(Reason.HTTP_ERROR, Event.FAILURE)
_REFUSED = Failure(Reason.HTTP_REFUSED, Event.LAST_FAILURE)
_NO_ANSWER = Failure(Reason.PROTOCOL, Event.FAILURE)
_STATUSES = {206: _NO_ANSWER, 404: _MISSING, 410: _MISSING, 408: _MAY_PASS, 425: _MAY_PASS, 429: _MAY_PASS}
_CLASSES = {3: _REFUSED, 4: _REFUSED, 5: _MAY_PASS}


def failure(result: DownloadResult) -> Failure | None:
    """Why the result is no document; None for an answer to be used: 2xx, 304, a redirect.

    A transfer that we cancelled ourselves is no failure of the URL: it is handed back, and asking here is a KeyError.
    """
    if result.failure is not None:
        return _FAULTS[result.failure]
    status = result.status
    if status in _STATUSES:
        return _STATUSES[status]
    if 200 <= status <= 299 or status == 304 or status in REDIRECTS:
        return None
    return _CLASSES.get(status // 100, _NO_ANSWER)
