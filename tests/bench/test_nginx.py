"""The server's log is read as nginx writes it."""

from __future__ import annotations

from bench.nginx import Answer, pages_of, read_answer


def test_a_log_line_is_read() -> None:
    assert read_answer("200|text/html; charset=utf-8|GET|12|12|/a|b.html\n") == Answer(
        200, "text/html", "GET", True, "/a|b.html"
    )


def test_what_nginx_escapes_is_decoded() -> None:
    assert read_answer(r"200|text/html|GET|1|1|/\xC3\xA9\x22.html").path == '/é".html'


def test_pages_are_different_whole_html_documents() -> None:
    lines = [
        "200|text/html|GET|5|5|/a.html",
        "200|text/html|GET|5|5|/a.html",
        "200|text/html|GET|3|5|/cut-short.html",
        "200|text/html|HEAD|0|5|/only-asked.html",
        "404|text/html|GET|5|5|/missing.html",
        "304|-|GET|0|-|/unchanged.html",
        "200|text/css|GET|5|5|/style.css",
    ]
    assert pages_of(map(read_answer, lines)) == {"/a.html"}
