"""Checks whether a plugin keeps the contract of its port: resolvers, recognizers, summarizers and expanders."""

from __future__ import annotations

import ipaddress
import random
import re
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import (
    MAX_HEADINGS,
    MAX_KEYWORDS,
    MAX_LINKS,
    MAX_TEXT,
    MAX_TITLE,
    MAX_WORD,
    Expander,
    Member,
    Recognizer,
    Summarizer,
    Summary,
)
from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import Resolution, Resolver
from parcahyd.hookspecs import ExpanderFactory
from parcahyd.rules.urls.canonical_url import canonical, clean_name

__all__ = [
    "check_expander",
    "check_recognizer",
    "check_resolver",
    "check_summarizer",
    "expect",
]


def expect(holds: bool, contract: str) -> None:
    """Raises AssertionError where the contract does not hold; `contract` is a sentence that says what must hold."""
    if not holds:
        raise AssertionError(f"broken: {contract}")


# --- Resolvers ------------------------------------------------------------------------------


def check_resolver(resolver: Resolver, known: Mapping[str, Collection[str]], unknown: str) -> None:
    """Check a resolver with hosts whose addresses are `known` and with one host that is `unknown` to it."""
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


# --- Recognizers, summarizers and expanders -----------------------------------------------------------------------------


_URL = "http://conformance.invalid/folder/document"
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+").fullmatch
_CLAIM = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:[a-z0-9!#$&^_.+-]+|\*)|\+[a-z0-9.-]+").fullmatch


def check_recognizer(recognizer: Recognizer, samples: Mapping[str, bytes]) -> None:
    """Check a recognizer with documents by the media type that it should return, and with damaged copies of them."""
    expect(isinstance(recognizer, Recognizer), "a recognizer has the method recognize")
    for expected, body in samples.items():
        answer = recognizer.recognize("", body, "application/octet-stream")
        expect(answer == expected, f"recognize tells {expected}, not {answer}")
        for damaged in _damaged(body):
            again = recognizer.recognize("text/plain; charset=x", damaged, "text/plain")
            expect(
                again is None or (isinstance(again, str) and _MEDIA_TYPE(again) is not None),
                f"recognize gives a media type in lower case or None for a damaged {expected}, not {again!r}",
            )


def check_summarizer(summarizer: Summarizer, samples: Mapping[str, bytes]) -> None:
    """Check a summarizer with documents by media type, each of which it should summarize, and with damaged copies of them."""
    expect(isinstance(summarizer, Summarizer), "a summarizer has media_types and the method summarize")
    _check_claims(summarizer.media_types)
    for media_type, body in samples.items():
        summary = summarizer.summarize(body, media_type, "utf-8", _URL)
        expect(isinstance(summary, Summary), f"summarize makes a Summary of a {media_type}, not {type(summary).__name__}")
        _check_summary(summary, media_type)
        for damaged in _damaged(body):
            _check_summary(summarizer.summarize(damaged, media_type, "", _URL), f"damaged {media_type}")


def check_expander(factory: ExpanderFactory, samples: Mapping[str, bytes], names: Collection[str]) -> None:
    """Check an expander with archives by media type, each with files of these (three or more) names, and damaged copies."""
    expander = factory(WorkConf())
    expect(isinstance(expander, Expander), "an expander has media_types and the method expand")
    _check_claims(expander.media_types)
    for media_type, body in samples.items():
        members = list(expander.expand(body, media_type, _URL))
        _check_members(members, media_type)
        found = [member.name for member in members if not member.skipped]
        expect(sorted(found) == sorted(names), f"the members of a {media_type} are {sorted(names)}, not {sorted(found)}")
        few = [m for m in factory(WorkConf(ExpandMembers=2)).expand(body, media_type, _URL) if not m.skipped]
        expect(len(few) <= 2, f"not more than ExpandMembers members come out of a {media_type}, not {len(few)}")
        total = sum(len(member.body) for member in members)
        for conf in (WorkConf(ExpandBytes=max(1, total - 1)), WorkConf(MaxBytes=max(1, max(len(m.body) for m in members) - 1))):
            size = sum(len(member.body) for member in factory(conf).expand(body, media_type, _URL))
            expect(size < total, f"a {media_type} is unpacked only as far as ExpandBytes and MaxBytes allow")
        for damaged in _damaged(body):
            _check_members(list(expander.expand(damaged, media_type, _URL)), f"damaged {media_type}")


def _check_claims(media_types: object) -> None:
    expect(isinstance(media_types, frozenset) and len(media_types) > 0, "media_types is a frozenset and not empty")
    for claim in media_types if isinstance(media_types, frozenset) else ():
        expect(_CLAIM(claim) is not None, f'media_types holds "type/subtype", "type/*" or "+suffix", not {claim!r}')


def _check_summary(summary: Summary | None, what: str) -> None:
    if summary is None:
        return
    expect(isinstance(summary, Summary), f"summarize gives a Summary or None for a {what}, not {type(summary).__name__}")
    lines = (summary.title, summary.language, *summary.keywords, *summary.headings)
    expect(all(isinstance(line, str) and line.isprintable() for line in lines), f"title and words of a {what} are single lines")
    expect(len(summary.title) <= MAX_TITLE, f"the title of a {what} has at most {MAX_TITLE} characters")
    expect(len(summary.text) <= MAX_TEXT, f"the text of a {what} has at most {MAX_TEXT} characters")
    expect(len(summary.keywords) <= MAX_KEYWORDS, f"a {what} has at most {MAX_KEYWORDS} keywords")
    expect(all(len(word) <= MAX_WORD for word in summary.keywords), f"a keyword has at most {MAX_WORD} characters")
    expect(len(summary.headings) <= MAX_HEADINGS, f"a {what} has at most {MAX_HEADINGS} headings")
    expect(len(summary.links) <= MAX_LINKS, f"a {what} has at most {MAX_LINKS} links")
    odd = [link for link in summary.links if canonical(link) != link]
    expect(not odd, f"the links of a {what} are canonical absolute URLs, not {odd[:3]}")


def _check_members(members: list[Member], what: str) -> None:
    expect(all(isinstance(member, Member) for member in members), f"expand gives Members of a {what}")
    names = [member.name for member in members if not member.skipped]
    expect(all(names), f"the members of a {what} have names")
    odd = [name for name in names if clean_name(name) != name]
    expect(not odd, f"the names of members are clean, not {odd[:3]}")
    expect(len(names) == len(set(names)), f"each name in a {what} comes once")
    expect(not any(m.body for m in members if m.skipped), f"a member of a {what} that is skipped has no body")


def _damaged(body: bytes) -> Iterator[bytes]:
    """Copies of a document that are cut or have wrong bytes, the same ones on every call."""
    chance = random.Random(len(body))
    yield b""
    for _ in range(20):
        cut = bytearray(body[: chance.randrange(len(body) + 1)] if chance.random() < 0.5 else body)
        for _ in range(min(5, len(cut))):
            cut[chance.randrange(len(cut))] = chance.randrange(256)
        yield bytes(cut)
