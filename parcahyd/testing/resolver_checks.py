"""Whether a resolver keeps its contract."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import Resolution, Resolver
from parcahyd.testing.contract import expect

__all__ = ["check_resolver"]


def check_resolver(resolver: Resolver, known: Mapping[str, Collection[str]], unknown: str) -> None:
    """Try a resolver out on hosts whose addresses are `known` and on one host that is `unknown` to it."""
    expect(isinstance(resolver, Resolver), "a resolver has the methods resolve and close")
    for host, addresses in known.items():
        resolution = resolver.resolve(host)
        expect(isinstance(resolution, Resolution), f"resolve({host!r}) returns a Resolution, not {type(resolution).__name__}")
        expect(isinstance(resolution.addresses, tuple), f"resolve({host!r}) gives the addresses as a tuple")
        expect(
            set(resolution.addresses) == set(addresses),
            f"resolve({host!r}) gives {sorted(addresses)}, not {sorted(resolution.addresses)}",
        )
        families = [ipaddress.ip_address(address).version for address in resolution.addresses]
        expect(families == sorted(families), f"resolve({host!r}) gives IPv4 addresses before IPv6")
        expect(resolution.ttl >= 0, f"resolve({host!r}) gives a TTL that is not negative")
    with ThreadPoolExecutor(8) as threads:
        for host, addresses in known.items():
            answers = list(threads.map(resolver.resolve, [host] * 32))
            expect(
                all(set(answer.addresses) == set(addresses) for answer in answers),
                f"resolve({host!r}) gives the same addresses to many threads at once",
            )
    try:
        nothing = resolver.resolve(unknown)
    except ResolutionFailure as failure:
        expect(failure.reason.word.startswith("dns-"), f"resolve({unknown!r}) fails with a DNS reason, not {failure.reason}")
    except Exception as error:
        raise AssertionError(f"resolve({unknown!r}) raises ResolutionFailure, not {type(error).__name__}") from error
    else:
        expect(False, f"resolve({unknown!r}) raises ResolutionFailure and does not return {nothing}")
    resolver.close()
