"""`parcahyd import` as its user sees it: samples of others, errors, the summary, and a crawl that is in use."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from parcahyd.cli import main
from parcahyd.runtime.run_lock import RunLock
from tests.importing.archives import record, response

_SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "warc"
_EXPECTED = {
    # By name: exit code, versions, checks, damaged.
    "bad.arc": (1, 1, 0, 2),
    "example-bad-non-chunked.warc.gz": (1, 1, 0, 1),
    "example-bad.warc.gz.bad": (0, 2, 1, 0),
    "example-digest.warc": (0, 0, 0, 0),
    "example-iana.org-chunked.warc": (0, 1, 0, 0),
    "example-resource.warc.gz": (0, 1, 0, 0),
    "example-space-in-target-uri.warc.gz": (0, 0, 0, 0),
    "example-space-in-url.arc": (1, 0, 0, 1),
    "example-trunc.warc": (1, 0, 0, 1),
    "example-wget-bad-target-uri.warc.gz": (0, 1, 0, 0),
    "example-wrong-chunks.warc.gz": (1, 0, 0, 1),
    "example.arc": (0, 1, 0, 0),
    "example.arc.gz": (0, 1, 0, 0),
    "example.warc": (0, 1, 1, 0),
    "example.warc.gz": (0, 1, 1, 0),
    "post-test.warc.gz": (0, 0, 0, 0),
}


def _main(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def _samples() -> list[Path]:
    return sorted(_SAMPLES.iterdir()) if _SAMPLES.is_dir() else []


def test_the_samples_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is imported, or refused with a sentence, and leaves a database that is as it must be."""
    if not _samples():
        pytest.skip(f"the samples of others are not in {_SAMPLES}")
    for sample in _samples():
        database = str(tmp_path / f"{sample.name}.db")
        code, out, err = _main(capsys, "import", "--db", database, "--archive", "--json", str(sample))
        report = json.loads(out)
        found = (code, report["versions"], report["checks"], report["damaged"])
        assert found == _EXPECTED.get(sample.name, found), (sample.name, err)
        assert err.count(": left out: ") == report["damaged"] + report["unresolved"]
        assert _main(capsys, "verify", "--db", database)[0] == 0


def test_what_is_imported_is_there_and_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database, file = str(tmp_path / "a.db"), tmp_path / "a.warc.gz"
    file.write_bytes(gzip.compress(response("http://a.example/tea", b"<title>Tea</title><a href='/more'>more</a>")))
    code, out, err = _main(capsys, "import", "--db", database, str(file))
    assert (code, out.splitlines()[0]) == (0, "1 version, 0 checks and 0 errors stored, from 1 file.")
    assert "records read: 1 response" in out
    assert "no site of the files is in the scope" in err
    assert _main(capsys, "show", "--db", database, "http://a.example/tea")[1].startswith("<title>Tea")
    assert "  imported" in _main(capsys, "show", "--db", database, "--versions", "http://a.example/tea")[1]
    assert "  imported" in _main(capsys, "explain", "--db", database, "http://a.example/tea")[1]
    assert _main(capsys, "urls", "--db", database, "--state", "refused")[1].count("http://a.example/more") == 1
    assert "imported" in _main(capsys, "status", "--db", database)[1]
    assert _main(capsys, "verify", "--db", database)[0] == 0


def test_damaged_records_are_named_and_the_exit_code_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.warc"
    sound = response("http://a.example/1", b"one")
    file.write_bytes(sound + record("response", b"no answer", "http://a.example/2") + response("http://a.example/3", b"three"))
    bad = file.read_bytes().replace(b"no answer", b"HTTP/9")
    file.write_bytes(bad)
    code, out, err = _main(capsys, "import", "--db", str(tmp_path / "a.db"), str(file))
    assert code == 1
    assert out.startswith("2 versions")
    assert f"{file}, at byte {len(sound)}: left out: " in err
    assert out.splitlines()[-1] == "  1 left out as damaged"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("missing.warc", None, "cannot be read: No such file or directory"),
        ("letter.txt", b"Dear Sir", "is not an archive"),
        ("empty.warc", b"", "is not an archive"),
        ("cut.wacz", b"PK\x03\x04 and nothing more", "is not a WACZ file that can be read"),
        (".", None, "is a folder"),
    ],
)
def test_what_is_no_archive_is_the_users_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes | None, sentence: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    good = tmp_path / "good.warc"
    good.write_bytes(response("http://a.example/", b"x"))
    code, out, err = _main(capsys, "import", "--db", str(tmp_path / "a.db"), str(good), str(tmp_path / name))
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert not (tmp_path / "a.db").exists()


def test_a_crawl_that_runs_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parcahyd.runtime.run_lock._WAIT_SECONDS", 0.0)
    file, database = tmp_path / "a.warc", tmp_path / "a.db"
    file.write_bytes(response("http://a.example/", b"x"))
    lock = RunLock(f"sqlite:///{database}")
    try:
        code, _, err = _main(capsys, "import", "--db", str(database), str(file))
    finally:
        lock.release()
    assert code == 2
    assert err.startswith("parcahyd: another run is working on this database")
