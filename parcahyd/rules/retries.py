"""What becomes of a URL whose request gave no document, as one table; when it is tried again, `backoff` says.

| outcome | reason | what happens |
|---|---|---|
| 404, 410 | missing | gone |
| 401, 403, 405, 451 and every other 4xx; a 3xx that is no redirect | http-refused | gone |
| 408, 425, 429, 5xx | http-error | tried again |
| no final status of HTTP, 206 without being asked | protocol | tried again |
| no connection, no answer in time | connect, timeout | tried again, after the host is resolved again |
| other faults of the transfer | of the same name | tried again |
| larger than MaxBytes | size | refused |
"""

from __future__ import annotations

import msgspec

from parcahyd.core.life_cycle import Event, Reason
from parcahyd.core.ports import DownloadFault, DownloadResult

__all__ = ["BAD_REDIRECT", "REDIRECTS", "Failure", "failure"]

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
    DownloadFault.CONNECT: Failure(Reason.CONNECT, Event.FAILURE, blank_address=True),
    DownloadFault.TLS: Failure(Reason.TLS, Event.FAILURE),
    DownloadFault.TIMEOUT: Failure(Reason.TIMEOUT, Event.FAILURE, blank_address=True),
    DownloadFault.RESET: Failure(Reason.RESET, Event.FAILURE),
    DownloadFault.TRUNCATED: Failure(Reason.TRUNCATED, Event.FAILURE),
    DownloadFault.CONTENT_CODING: Failure(Reason.CONTENT_CODING, Event.FAILURE),
    DownloadFault.PROTOCOL: Failure(Reason.PROTOCOL, Event.FAILURE),
    DownloadFault.SIZE: Failure(Reason.SIZE, Event.REFUSAL),
    DownloadFault.PLUGIN: Failure(Reason.PLUGIN, Event.FAILURE),
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
    if result.fault is not None:
        return _FAULTS[result.fault]
    status = result.status
    if status in _STATUSES:
        return _STATUSES[status]
    if 200 <= status <= 299 or status == 304 or status in REDIRECTS:
        return None
    return _CLASSES.get(status // 100, _NO_ANSWER)
