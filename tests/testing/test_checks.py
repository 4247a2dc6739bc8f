"""The check of resolvers finds what it claims to find: it is run on resolvers with one flaw each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import MAX_KEYWORDS, MAX_TEXT, MAX_TITLE, Member, Skipped, Summary
from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import Resolution, Resolver
from parcahyd.core.states import Reason
from parcahyd.testing import FakeResolver, check_expander, check_recognizer, check_resolver, check_summarizer

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


_SAMPLE = b"LINES\none\ntwo\nthree\n"
_SAMPLES = {"application/x-lines": _SAMPLE}


class _Lines:
    """Does everything right, but for what a subclass changes."""

    media_types = frozenset({"application/x-lines"})

    def __init__(self, conf: WorkConf) -> None:
        self.conf = conf

    def recognize(self, content_type: str, body: bytes, media_type: str) -> str | None:  # noqa: ARG002  the port's
        return "application/x-lines" if body.startswith(b"LINES\n") else None

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
        return Summary("lines") if body.startswith(b"LINES\n") else None

    def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]:  # noqa: ARG002  the port's
        left = self.conf.ExpandBytes
        lines = dict.fromkeys(line for line in body.split(b"\n")[1:] if line.isalpha())
        for line in list(lines)[: self.conf.ExpandMembers]:
            left -= len(line)
            if left < 0:
                yield Member("", skipped=Skipped.BYTES)
                return
            is_fit = len(line) <= self.conf.MaxBytes
            yield Member(line.decode(), line) if is_fit else Member(line.decode(), skipped=Skipped.SIZE)


def test_flawless_readers_conform() -> None:
    check_recognizer(_Lines(WorkConf()), _SAMPLES)
    check_summarizer(_Lines(WorkConf()), _SAMPLES)
    check_expander(_Lines, _SAMPLES, ["one", "two", "three"])


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (lambda _body: None, "tells application/x-lines, not None"),
        (lambda body: "application/x-lines" if body == _SAMPLE else "Text/Plain", "lower case or None"),
        (lambda body: "application/x-lines" if body == _SAMPLE else "", "lower case or None"),
    ],
)
def test_a_flawed_recognizer_is_found_out(answer: Callable[[bytes], str | None], text: str) -> None:
    class Flawed(_Lines):
        def recognize(self, content_type: str, body: bytes, media_type: str) -> str | None:  # noqa: ARG002  the port's
            return answer(body)

    with pytest.raises(AssertionError, match=text):
        check_recognizer(Flawed(WorkConf()), _SAMPLES)


@pytest.mark.parametrize(
    ("summary", "text"),
    [
        (None, "makes a Summary"),
        ("lines", "makes a Summary"),
        (Summary("two\nlines"), "single lines"),
        (Summary("t" * (MAX_TITLE + 1)), "the title"),
        (Summary(text="t" * (MAX_TEXT + 1)), "the text"),
        (Summary(keywords=("k",) * (MAX_KEYWORDS + 1)), "keywords"),
        (Summary(keywords=("k" * 1000,)), "a keyword"),
        (Summary(headings=("h",) * 1000), "headings"),
        (Summary(links=("http://a.test/",) * 99_999), "links"),
        (Summary(links=("relative.html",)), "canonical absolute URLs"),
    ],
)
def test_a_flawed_summarizer_is_found_out(summary: Summary | None, text: str) -> None:
    class Flawed(_Lines):
        def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
            return summary

    with pytest.raises(AssertionError, match=text):
        check_summarizer(Flawed(WorkConf()), _SAMPLES)


def test_wrong_claims_are_found_out() -> None:
    for claims in (frozenset(), ["text/plain"], frozenset({"Text/Plain"}), frozenset({"xml"})):
        reader = _Lines(WorkConf())
        reader.media_types = claims  # type: ignore[assignment]  # the flaw under test
        with pytest.raises(AssertionError, match="media_types"):
            check_summarizer(reader, _SAMPLES)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda _lines, members: members[:-1], "the members of"),
        (lambda _lines, members: [*members, members[0]], "comes once"),
        (lambda _lines, members: [*members, Member("../x", b"")], "clean"),
        (lambda _lines, members: [*members, Member("", b"")], "have names"),
        (lambda _lines, members: [*members, Member("x", b"x", Skipped.DAMAGED)], "has no body"),
        (lambda _lines, _members: ["a"], "gives Members"),
        (lambda lines, _members: list(_Lines(WorkConf()).expand(_SAMPLE, "", "")) if lines.conf else [], "ExpandMembers"),
    ],
)
def test_a_flawed_expander_is_found_out(change: Callable[[_Lines, list[Member]], list[Member]], text: str) -> None:
    class Flawed(_Lines):
        def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]:
            yield from change(self, list(super().expand(body, media_type, url)))

    with pytest.raises(AssertionError, match=text):
        check_expander(Flawed, _SAMPLES, ["one", "two", "three"])


@pytest.mark.parametrize("setting", ["MaxBytes", "ExpandBytes"])
def test_an_expander_that_forgets_a_bound_is_found_out(setting: str) -> None:
    class Flawed(_Lines):
        def __init__(self, conf: WorkConf) -> None:
            super().__init__(msgspec.structs.replace(conf, **{setting: 1_000_000}))

    with pytest.raises(AssertionError, match="only as far as"):
        check_expander(Flawed, _SAMPLES, ["one", "two", "three"])
