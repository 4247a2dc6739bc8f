"""Titles as browsers show them."""

from __future__ import annotations

import pytest

from parcahyd.rules.document_title import document_title

TITLES = {
    "<title>x</title>": "x",
    "<title> a \n\t b\u00a0 </title>": "a b\u00a0",
    "<title>a &amp; b<b></title><title>c</title>": "a & b<b>",
    "<p>late<title>x</title>": "x",
    "<svg><title>no</title></svg><title>yes</title>": "yes",
    "<template><title>no</title></template><title>yes</title>": "yes",
    "<title></title><title>x</title>": "",
    "nothing": "",
}


@pytest.mark.parametrize(("markup", "title"), TITLES.items())
def test_html(markup: str, title: str) -> None:
    assert document_title(markup.encode(), "utf-8") == title
