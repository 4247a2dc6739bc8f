"""The slow server sends what its folders hold, in parts, and logs it."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.slow_server import read_log
from bench.synthetic_web import Shape

_PAGE = b"<html>" + bytes(range(256)) * 40
_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[http.client.HTTPConnection]:
    host = tmp_path / "hosts" / "h0.web.test"
    host.mkdir(parents=True)
    (host / "index.html").write_bytes(_PAGE)
    (tmp_path / "secret.html").write_bytes(b"outside")
    options = ["--latency", "0.01", "--bandwidth", "100000", "--log", str(tmp_path / "log")]
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.slow_server", str(tmp_path / "hosts"), *options],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    connection = http.client.HTTPConnection(Shape(1, 1, 1).address(0), int(process.stdout.readline()), timeout=120)
    try:
        yield connection
    finally:
        connection.close()
        process.stdin.close()
        process.wait(120)
        process.stdout.close()


def _get(connection: http.client.HTTPConnection, host: str, path: str) -> tuple[int, bytes]:
    connection.request("GET", path, headers={"Host": f"{host}:80"})
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_one_connection_gets_several_answers_whole(served: http.client.HTTPConnection, tmp_path: Path) -> None:
    assert _get(served, "h0.web.test", "/") == (200, _PAGE)
    assert _get(served, "h0.web.test", "/index.html") == (200, _PAGE)
    assert _get(served, "h0.web.test", "/absent.TOL")[0] == 404
    assert _get(served, "h1.web.test", "/")[0] == 404
    assert _get(served, "h0.web.test", "/../../secret.html")[0] == 404
    log = read_log(tmp_path / "log")
    assert [(one.host, one.path, one.status) for one in log[:4]] == [
        ("h0.web.test", "/", 200),
        ("h0.web.test", "/index.html", 200),
        ("h0.web.test", "/absent.TOL", 404),
        ("h1.web.test", "/", 404),
    ]
    assert log[0].bytes > len(_PAGE)
    # The clock can only be later than asked for: a new connection's round trip, the request's, and the bytes.
    assert log[0].ended - log[0].began >= 0.02 + len(_PAGE) / 100_000
