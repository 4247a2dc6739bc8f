"""Whether what reads documents keeps its contract: recognizers, summarizers, expanders."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping

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
from parcahyd.hookspecs import ExpanderFactory
from parcahyd.rules.urls.canonical_url import canonical, clean_name
from parcahyd.testing.contract import expect

__all__ = ["check_expander", "check_recognizer", "check_summarizer"]

_URL = "http://conformance.invalid/folder/document"
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+").fullmatch
_CLAIM = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:[a-z0-9!#$&^_.+-]+|\*)|\+[a-z0-9.-]+").fullmatch


def check_recognizer(recognizer: Recognizer, samples: Mapping[str, bytes]) -> None:
    """Try a recognizer out on documents by the media type that it should tell, and on damaged ones."""
    expect(isinstance(recognizer, Recognizer), "a recognizer has the method recognize")
    for expected, body in samples.items():
        told = recognizer.recognize("", body, "application/octet-stream")
        expect(told == expected, f"recognize tells {expected}, not {told}")
        for spoilt in _spoilt(body):
            answer = recognizer.recognize("text/plain; charset=x", spoilt, "text/plain")
            expect(
                answer is None or (isinstance(answer, str) and _MEDIA_TYPE(answer) is not None),
                f"recognize gives a media type in lower case or None for a damaged {expected}, not {answer!r}",
            )


def check_summarizer(summarizer: Summarizer, samples: Mapping[str, bytes]) -> None:
    """Try a summarizer out on documents by media type, of each of which it should make a summary, and on damaged ones."""
    expect(isinstance(summarizer, Summarizer), "a summarizer has media_types and the method summarize")
    _check_claims(summarizer.media_types)
    for media_type, body in samples.items():
        summary = summarizer.summarize(body, media_type, "utf-8", _URL)
        expect(isinstance(summary, Summary), f"summarize makes a Summary of a {media_type}, not {type(summary).__name__}")
        _check_summary(summary, media_type)
        for spoilt in _spoilt(body):
            _check_summary(summarizer.summarize(spoilt, media_type, "", _URL), f"damaged {media_type}")


def check_expander(factory: ExpanderFactory, samples: Mapping[str, bytes], names: Collection[str]) -> None:
    """Try an expander out on archives by media type, each with files of these (three or more) names, and on damaged ones."""
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
        for spoilt in _spoilt(body):
            _check_members(list(expander.expand(spoilt, media_type, _URL)), f"damaged {media_type}")


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


def _spoilt(body: bytes) -> Iterator[bytes]:
    """The same document cut and with wrong bytes, the same way every time."""
    chance = random.Random(len(body))
    yield b""
    for _ in range(20):
        cut = bytearray(body[: chance.randrange(len(body) + 1)] if chance.random() < 0.5 else body)
        for _ in range(min(5, len(cut))):
            cut[chance.randrange(len(cut))] = chance.randrange(256)
        yield bytes(cut)
