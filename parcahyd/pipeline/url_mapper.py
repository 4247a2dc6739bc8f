"""The URL Mapper (P14): gives each pair of its set the addresses of its host that the address policy permits.

It runs in a thread, because a DNS Resolver plugin may block. A host that is written as an address is not resolved, and
addresses that have not expired are used again. The policy is applied every time, because it may have changed.
"""

from __future__ import annotations

from collections.abc import Collection

from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import Clock, Resolver
from parcahyd.core.records import LOCAL_ADDRESS, BadRecord, DueUrl, ResolvedLease, SiteLease, VisitOver
from parcahyd.core.states import Event, Reason
from parcahyd.refresh.schedule import NEVER, Schedule
from parcahyd.rules.urls.address_policy import AddressPolicy, literal_address

__all__ = ["UrlMapper", "hand_back"]

_NO_EXPIRY = 86400.0


class UrlMapper:
    """Resolves one pair at a time. A site of one of the `local_schemes` has no address and gets LOCAL_ADDRESS."""

    def __init__(self, resolver: Resolver, policy: AddressPolicy, clock: Clock, local_schemes: Collection[str] = ()) -> None:
        self._resolver = resolver
        self._policy = policy
        self._clock = clock
        self._local_schemes = local_schemes

    def map(self, lease: SiteLease) -> ResolvedLease:
        now = self._clock.now()
        if lease.scheme in self._local_schemes:
            return ResolvedLease(lease, (LOCAL_ADDRESS,), now + _NO_EXPIRY)
        addresses, expires_at = lease.addresses, lease.addresses_expire
        literal = literal_address(lease.host)
        if literal is not None:
            addresses, expires_at = (literal,), now + _NO_EXPIRY
        elif not addresses or expires_at <= now:
            try:
                resolution = self._resolver.resolve(lease.host)
            except ResolutionFailure as failure:
                return ResolvedLease(lease, reason=failure.reason.word, detail=failure.detail)
            addresses, expires_at = resolution.addresses, now + resolution.ttl
        vetted = self._policy.vet(addresses)
        if vetted:
            return ResolvedLease(lease, vetted, expires_at)
        detail = f"{lease.host} leads to {', '.join(addresses)}"
        return ResolvedLease(lease, reason=Reason.ADDRESS.word, detail=detail)


def hand_back(resolved: ResolvedLease, schedule: Schedule, now: float) -> tuple[list[BadRecord], VisitOver]:
    """The records of a visit that cannot take place because its host has no address that may be visited.

    A host that is written as an address keeps it, so its URLs are refused for good. The address of a name may be a wrong answer
    of a name server, so the name is tried again.
    """
    lease, reason = resolved.lease, Reason.of(resolved.reason)
    if literal_address(lease.host) is not None:
        bad = [_bad(lease, url, Event.REFUSAL, reason, now, NEVER, 0, resolved.detail) for url in lease.urls]
        if not lease.robots_redirects:
            return bad, _over(lease, now, lease.failures, now, "")
        # The robots.txt of another site redirects here: without a pause it would be tried again at once, and again.
        failures = lease.failures + 1
        until = schedule.spare_site(now, failures, lease.site, reason)
        return bad, _over(lease, now, failures, until, reason.word)
    bad = []
    for url in lease.urls:
        tries = url.tries + 1
        if reason is Reason.ADDRESS and schedule.is_last_try(tries):
            # Refused rather than gone: it is looked at again as soon as AllowAddresses changes.
            bad.append(_bad(lease, url, Event.REFUSAL, reason, now, schedule.gone(now), tries, resolved.detail))
        elif schedule.is_last_try(tries):
            detail = f"{reason.word}: {resolved.detail}"
            bad.append(_bad(lease, url, Event.LAST_FAILURE, Reason.OUT_OF_TRIES, now, schedule.gone(now), tries, detail))
        else:
            due_at = schedule.retry(now, reason, tries, url.key)
            bad.append(_bad(lease, url, Event.FAILURE, reason, now, due_at, tries, resolved.detail))
    failures = lease.failures + 1
    return bad, _over(lease, now, failures, schedule.spare_site(now, failures, lease.site, reason), reason.word)


def _bad(
    lease: SiteLease, url: DueUrl, event: Event, reason: Reason, now: float, due_at: float, tries: int, detail: str
) -> BadRecord:
    return BadRecord.of(
        lease.visit, lease.site, url, event, reason, now, due_at, tries=tries, detail=detail, blank_address=True
    )


def _over(lease: SiteLease, now: float, failures: int, not_before: float, reason: str) -> VisitOver:
    return VisitOver(visit=lease.visit, site=lease.site, at=now, not_before=not_before, failures=failures, reason=reason)
