"""The check of resolvers finds what it claims to find: it is run on resolvers with one flaw each."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import Resolution, Resolver
from parcahyd.core.states import Reason
from parcahyd.testing import FakeResolver, check_resolver

_KNOWN = {"a.test": ["192.0.2.1", "2001:db8::1"]}


def test_the_fake_resolver_conforms() -> None:
    resolver = FakeResolver({"a.test": ["192.0.2.1", "2001:db8::1"], "down.test": Reason.DNS_TIMEOUT})
    with pytest.raises(ResolutionFailure) as failure:
        resolver.resolve("down.test")
    assert failure.value.reason is Reason.DNS_TIMEOUT
    check_resolver(resolver, _KNOWN, "unknown.test")
    assert resolver.closed


def _unlocked_by_count() -> Callable[[str], Resolution]:
    calls: list[str] = []

    def resolve(host: str) -> Resolution:
        calls.append(host)
        return Resolution(("192.0.2.1", "2001:db8::1") if len(calls) < 5 else ("192.0.2.66",), 60)

    return resolve


@pytest.mark.parametrize(
    ("resolve", "text"),
    [
        (lambda _host: "192.0.2.1", "returns a Resolution"),
        (lambda _host: Resolution(list(_KNOWN["a.test"]), 60), "as a tuple"),  # type: ignore[arg-type]  # the flaw under test
        (lambda _host: Resolution(("192.0.2.9",), 60), "192.0.2.9"),
        (lambda _host: Resolution(("2001:db8::1", "192.0.2.1"), 60), "IPv4 addresses before IPv6"),
        (lambda _host: Resolution(("192.0.2.1", "2001:db8::1"), -1), "TTL"),
        (lambda _host: Resolution(("192.0.2.1", "2001:db8::1"), 60), "raises ResolutionFailure and does not return"),
        (_unlocked_by_count(), "many threads at once"),
    ],
)
def test_a_flawed_resolver_is_found_out(
    resolve: Callable[[str], Resolution], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver = FakeResolver({})
    monkeypatch.setattr(resolver, "resolve", resolve)
    with pytest.raises(AssertionError, match=text):
        check_resolver(resolver, _KNOWN, "unknown.test")


@pytest.mark.parametrize(
    ("error", "text"),
    [(KeyError("unknown.test"), "not KeyError"), (ResolutionFailure(Reason.MISSING), "fails with a DNS reason")],
)
def test_a_resolver_with_the_wrong_failure_is_found_out(error: Exception, text: str) -> None:
    class Flawed(FakeResolver):
        def resolve(self, host: str) -> Resolution:
            if host == "unknown.test":
                raise error
            return super().resolve(host)

    with pytest.raises(AssertionError, match=text):
        check_resolver(Flawed({"a.test": ["192.0.2.1", "2001:db8::1"]}), _KNOWN, "unknown.test")


def test_something_that_is_no_resolver_is_found_out() -> None:
    nothing: Resolver = object()  # type: ignore[assignment]  # the flaw under test
    with pytest.raises(AssertionError, match="resolve and close"):
        check_resolver(nothing, {}, "unknown.test")
