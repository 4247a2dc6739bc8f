"""Revisits find the answer that they mean, and no other."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from parcahyd.cli import main
from tests.importing.archives import answer, record, response


def _revisit(url: str, date: str, body: bytes = b"", head: bytes | None = None, **fields: Any) -> bytes:
    digest: dict[str, Any] = {"WARC_Payload_Digest": f"sha256:{hashlib.sha256(body).hexdigest()}"} if body else {}
    block = answer(b"", "X-Again: yes", "Content-Type: text/html") if head is None else head
    profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    return record("revisit", block, url, date=date, WARC_Profile=profile, **digest, **fields)


@pytest.fixture
def imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Imports records, and says what became of them."""

    def run(*records: bytes) -> dict[str, Any]:
        file = tmp_path / "a.warc"
        file.write_bytes(b"".join(records))
        assert main(["import", "--archive", "--json", "--db", str(tmp_path / "a.db"), str(file)]) == 0
        report: dict[str, Any] = json.loads(capsys.readouterr().out)
        return report

    run.folder = tmp_path  # type: ignore[attr-defined]  # for what is shown
    return run


def _shown(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["show", "--db", str(folder / "a.db"), *arguments]) == 0
    return capsys.readouterr().out


_TEA = b"<title>Tea</title>"


@pytest.mark.parametrize(
    "fields",
    [
        {"WARC_Refers_To_Target_URI": "http://a.example/tea", "WARC_Refers_To_Date": "2020-01-01T00:00:00Z"},
        {"WARC_Refers_To": "<urn:uuid:tea>"},
        {},
    ],
)
def test_by_url_and_time_by_record_and_by_digest(
    imported: Any, capsys: pytest.CaptureFixture[str], fields: dict[str, Any]
) -> None:
    digest = f"sha256:{hashlib.sha256(_TEA).hexdigest()}"
    whole = response("http://a.example/tea", _TEA, date="2020-01-01T00:00:00Z", number="tea", WARC_Payload_Digest=digest)
    again = _revisit("http://a.example/twin", "2020-01-02T00:00:00Z", _TEA, **fields)
    assert imported(whole, again)["versions"] == 2
    shown = _shown(imported.folder, capsys, "--headers", "http://a.example/twin")
    assert shown.endswith("<title>Tea</title>")
    assert "X-Again: yes" in shown


def test_an_answer_of_an_earlier_import(imported: Any, capsys: pytest.CaptureFixture[str]) -> None:
    imported(response("http://a.example/tea", _TEA, date="2020-01-01T00:00:00Z"))
    refers: dict[str, Any] = {
        "WARC_Refers_To_Target_URI": "http://a.example/tea",
        "WARC_Refers_To_Date": "2020-01-01T00:00:00Z",
    }
    report = imported(_revisit("http://a.example/twin", "2020-01-02T00:00:00Z", _TEA, **refers))
    assert (report["versions"], report["unresolved"]) == (1, 0)


def test_one_whose_answer_is_missing_is_named_and_left_out(imported: Any) -> None:
    refers: dict[str, Any] = {
        "WARC_Refers_To_Target_URI": "http://a.example/tea",
        "WARC_Refers_To_Date": "2020-01-01T00:00:00Z",
    }
    report = imported(_revisit("http://a.example/twin", "2020-01-02T00:00:00Z", _TEA, **refers))
    assert (report["versions"], report["unresolved"]) == (0, 1)


def test_a_version_with_other_bytes_is_not_taken_for_it(imported: Any) -> None:
    refers: dict[str, Any] = {
        "WARC_Refers_To_Target_URI": "http://a.example/tea",
        "WARC_Refers_To_Date": "2020-01-01T00:00:00Z",
    }
    report = imported(
        response("http://a.example/tea", b"<title>Coffee</title>", date="2020-01-01T00:00:00Z"),
        _revisit("http://a.example/twin", "2020-01-02T00:00:00Z", _TEA, **refers),
    )
    assert (report["versions"], report["unresolved"]) == (1, 1)


def test_one_without_a_head_has_that_of_the_answer(imported: Any, capsys: pytest.CaptureFixture[str]) -> None:
    refers: dict[str, Any] = {
        "WARC_Refers_To_Target_URI": "http://a.example/tea",
        "WARC_Refers_To_Date": "2020-01-01T00:00:00Z",
    }
    report = imported(
        response("http://a.example/tea", _TEA, "X-First: yes", "Content-Type: text/html", date="2020-01-01T00:00:00Z"),
        _revisit("http://a.example/twin", "2020-01-02T00:00:00Z", _TEA, head=b"", **refers),
    )
    assert report["versions"] == 2
    assert "X-First: yes" in _shown(imported.folder, capsys, "--headers", "http://a.example/twin")


def test_the_same_again_is_a_check(imported: Any) -> None:
    report = imported(
        response("http://a.example/tea", _TEA, date="2020-01-01T00:00:00Z"),
        _revisit("http://a.example/tea", "2020-01-02T00:00:00Z", _TEA),
        record("revisit", answer(b"", "X: y", status="304 Not Modified"), "http://a.example/tea", date="2020-01-03T00:00:00Z"),
    )
    assert (report["versions"], report["checks"], report["unresolved"]) == (1, 2, 0)
