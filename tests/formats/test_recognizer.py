"""Recognizers of strangers add to the rule."""

from __future__ import annotations

from parcahyd.formats.recognizer import recognizer_of
from parcahyd.rules.media_type import recognise


class _Fixed:
    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def recognize(self, content_type: str, body: bytes, media_type: str) -> str | None:  # noqa: ARG002  the port's
        self.asked.append(media_type)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # some are wrong on purpose


def test_without_plugins_it_is_the_rule_itself() -> None:
    assert recognizer_of({}, print) is recognise


def test_plugins_are_asked_in_order_about_what_is_not_html() -> None:
    silent, first, second = _Fixed(None), _Fixed("application/x-first"), _Fixed("application/x-second")
    recognize = recognizer_of({"c": second, "b": first, "a": silent}, print)
    assert recognize("text/html; charset=utf-8", b"<p>") == ("text/html", "utf-8")
    assert silent.asked == []
    assert recognize("text/plain; charset=x", b"") == ("application/x-first", "x")
    assert (silent.asked, second.asked) == (["text/plain"], [])


def test_mistakes_are_told_once_and_the_rule_counts() -> None:
    told: list[str] = []
    recognize = recognizer_of({"bad": _Fixed(KeyError("x")), "odd": _Fixed("Not A Type")}, told.append)
    for _ in range(3):
        assert recognize("application/pdf", b"%PDF-") == ("application/pdf", "")
    assert told == ["recognizer \"bad\" raised KeyError: 'x'", "recognizer \"odd\" gave 'Not A Type', not a media type"]
