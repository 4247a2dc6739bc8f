"""Titles as browsers show them."""

from __future__ import annotations

import pytest

from parcahyd.rules.document_title import document_title, xml_title

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


@pytest.mark.parametrize(
    ("inside", "title"),
    [
        ("<title> a <b>no</b> <![CDATA[<c>]]></title><title>d</title>", "a <c>"),
        ("<title/><script/>", ""),
        ("<title>not well-formed", "not well-formed</html>"),
        ("<svg xmlns='http://www.w3.org/2000/svg'><title>no</title></svg><title>yes</title>", "yes"),
    ],
)
def test_xml(inside: str, title: str) -> None:
    assert xml_title(f'<html xmlns="http://www.w3.org/1999/xhtml">{inside}</html>'.encode(), "") == title


def test_entities_are_refused() -> None:
    body = b'<!DOCTYPE html [<!ENTITY e "x">]><html xmlns="http://www.w3.org/1999/xhtml"><title>&e;</title></html>'
    assert xml_title(body, "") == document_title(body, "")
