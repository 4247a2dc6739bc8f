"""The checks of what reads documents find what they claim to find: each is run on a reader with that one flaw."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import MAX_KEYWORDS, MAX_TEXT, MAX_TITLE, Member, Skipped, Summary
from parcahyd.testing import check_expander, check_recognizer, check_summarizer

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
