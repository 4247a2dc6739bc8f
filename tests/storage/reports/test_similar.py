"""Near-duplicates among stored documents."""

from __future__ import annotations

import msgspec

from tests.storage.desk import Desk

A = "http://a.example"


def test_documents_of_nearly_the_same_text_are_grouped_and_counted(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    marks = {"/": 0b1111, "/near": 0b1110, "/far": 0x5555_5555_5555_5555, "/short": 0, "/shorter": 0}
    for path, mark in marks.items():
        desk.write(msgspec.structs.replace(desk.page(pair, path, f"<p>{path}</p>".encode()), similarity=mark))
    reports = desk.reports
    report = reports.similar()
    assert (report.groups, report.documents, report.taken_now) == (1, 2, 0)
    assert [group.urls for group in report.largest] == [(f"{A}/", f"{A}/near")]
    story = reports.url_details(f"{A}/near")
    assert story is not None
    assert story.similar == (f"{A}/",)
    short = reports.url_details(f"{A}/short")
    assert short is not None
    assert short.similar == ()


_SENTENCES = [f"The {thing} of the {place} is open to visitors." for thing in ("gate", "hall", "yard") for place in "abcdefgh"]


def test_a_text_without_a_fingerprint_is_read_for_the_report(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    text = "".join(f"<p>{sentence}</p>" for sentence in _SENTENCES)
    desk.write(desk.page(pair, "/", f"{text}<p>1</p>".encode()), desk.page(pair, "/near", f"{text}<p>2</p>".encode()))
    report = desk.reports.similar()
    assert (report.groups, report.documents, report.taken_now) == (1, 2, 2)
    story = desk.reports.url_details(f"{A}/near")
    assert story is not None
    assert story.document is not None
    assert (story.document.similarity, story.similar) == (None, ())
