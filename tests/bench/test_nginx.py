"""The server's log is read as nginx writes it."""

from __future__ import annotations

from bench.nginx import Answer, pages_of, read_answer, steady_rate


def test_a_log_line_is_read() -> None:
    assert read_answer("1700000000.250|200|text/html; charset=utf-8|GET|12|12|/a|b.html\n") == Answer(
        1700000000.25, 200, "text/html", "GET", True, "/a|b.html"
    )


def test_what_nginx_escapes_is_decoded() -> None:
    assert read_answer(r"1.000|200|text/html|GET|1|1|/\xC3\xA9\x22.html").path == '/é".html'


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
    assert pages_of(read_answer(f"1.000|{line}") for line in lines) == {"/a.html"}


def _sent(at: float, path: str) -> Answer:
    return Answer(at, 200, "text/html", "GET", True, path)


def test_the_steady_rate_counts_pages_from_one_second_after_the_first_answer_to_the_last_page() -> None:
    robots = Answer(10.0, 404, "text/html", "GET", True, "/robots.txt")
    early = [_sent(10.5, "/a"), _sent(11.0, "/b")]
    late = [_sent(11.5, "/c"), _sent(11.6, "/a"), _sent(12.0, "/d"), _sent(13.0, "/e")]
    assert steady_rate([robots, *early, *late]) == 3 / 2.0


def test_a_crawl_that_is_over_in_a_second_has_no_steady_rate() -> None:
    assert steady_rate([]) is None
    assert steady_rate([_sent(10.0, "/a"), _sent(11.4, "/b")]) is None
