"""robots.txt verdicts: the cases of google/robotstxt-spec-test, all but a list with reasons."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

from parcahyd.rules.robots.robots_file import Robots

FOLDER = Path(__file__).parent / "robots_spec"

_FIELD = re.compile(r'(robotstxt|testurl|useragent|expected_outcome)\s*:\s*((?:"(?:[^"\\]|\\.)*"\s*)+|[A-Z]+)')
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


class Case(NamedTuple):
    file: str
    robots: bytes
    url: str
    user_agent: str
    allowed: bool


# Case: why our verdict is the opposite.
DIFFERENT = {
    (
        "non-ascii-paths",
        "Allow: /foo/bar/\u30c4",
        "http://foo.bar/foo/bar/\u30c4",
    ): "URLs are canonical here, thus always ASCII",
    (
        "non-ascii-paths",
        "Allow: /foo/bar/%E3%83%84",
        "http://foo.bar/foo/bar/\u30c4",
    ): "URLs are canonical here, thus always ASCII",
    ("non-ascii-paths", "Allow: /foo/bar/%62%61%7A", "http://foo.bar/foo/bar/baz"): (
        "RFC 9309, section 2.2.2: both spellings are one path; the case is of an earlier draft"
    ),
    (
        "user-agent-name",
        "Disallow: /",
        "http://foo.bar/x/y",
    ): "the user agent `Foo Bar` has the product token `Foo`, whose rules it obeys",
}


def _value(text: str) -> bytes:
    pieces = _LITERAL.findall(text)
    return b"".join(ast.literal_eval("b" + piece) if piece.isascii() else ast.literal_eval(piece).encode() for piece in pieces)


def cases() -> list[Case]:
    found = []
    for file in sorted(FOLDER.glob("*.textproto")):
        current: dict[str, str] = {}
        for name, text in _FIELD.findall(file.read_text(encoding="utf-8")):
            current[name] = text
            if name == "expected_outcome":
                robots, url, agent = (_value(current[field]) for field in ("robotstxt", "testurl", "useragent"))
                found.append(Case(file.stem, robots, url.decode(), agent.decode(), text == "ALLOWED"))
    return found


def test_every_verdict_is_the_expected_one_or_listed() -> None:
    every = cases()
    assert len(every) == 146
    different = [case for case in every if Robots.parse(case.robots, case.user_agent).allows(case.url) != case.allowed]
    listed = {(case.file, case.robots.decode().splitlines()[-1], case.url) for case in different}
    assert listed == set(DIFFERENT)
    assert len(different) == len(DIFFERENT)
