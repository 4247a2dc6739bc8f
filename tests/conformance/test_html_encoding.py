"""Which encoding a document is in: html5lib's cases, decided as browsers do."""

from __future__ import annotations

import re
from pathlib import Path

from parcahyd.rules.html.links import read_links

FOLDER = Path(__file__).parent / "html_encoding"


def _cases() -> list[tuple[bytes, str]]:
    cases = []
    for file in sorted(FOLDER.glob("*.dat")):
        for case in re.split(rb"(?:^|\n)#data\n", file.read_bytes())[1:]:
            document, _, encoding = case.partition(b"#encoding\n")
            cases.append((document.removesuffix(b"\n"), encoding.split(b"\n")[0].decode().lower()))
    return cases


def test_the_encoding_is_the_one_that_browsers_take() -> None:
    cases = _cases()
    assert len(cases) == 82
    wrong = [case for case in cases if read_links(case[0], "").charset != case[1]]
    assert wrong == []
