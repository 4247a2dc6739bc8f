"""Programs that replay and check web archives, in an environment of their own: their licences are not ours.

They are installed with `python -m venv DIR` and `DIR/bin/pip install -r tests/archive-tools.txt`, and found by the variable
PARCAHYD_ARCHIVE_TOOLS, which names DIR. Tests that need them are skipped without it, with a reason in the summary.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
import requests

from tests.support.processes import TEST_TIMEOUT, wait_until

__all__ = ["archive_tool", "run_python", "validate_wacz", "wayback"]


def archive_tool(name: str) -> Path:
    """The path of a program; skips the test where it is not installed."""
    folder = os.environ.get("PARCAHYD_ARCHIVE_TOOLS")
    if not folder:
        pytest.skip("PARCAHYD_ARCHIVE_TOOLS is not set: see tests/support/archive_tools.py")
    found = Path(folder) / "bin" / name
    if not found.exists():
        pytest.skip(f"{found} is not there: pip install -r tests/archive-tools.txt")
    return found


def run_python(program: str, stdin: str) -> str:
    """What a program writes that runs among the tools."""
    command = [str(archive_tool("python")), "-c", program]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=TEST_TIMEOUT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def validate_wacz(file: Path) -> None:
    """`wacz validate`, which fails the test with what it found."""
    command = [str(archive_tool("wacz")), "validate", "-f", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TEST_TIMEOUT)
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def wayback(folder: Path, warc: Path, index: Path) -> Iterator[str]:
    """pywb with one collection, `odd`; skips the test where it is not installed."""
    collection = folder / "collections" / "odd"
    (collection / "archive").mkdir(parents=True)
    (collection / "indexes").mkdir()
    (collection / "archive" / warc.name).write_bytes(warc.read_bytes())
    (collection / "indexes" / "index.cdxj").write_bytes(index.read_bytes())
    log = folder / "wayback.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(archive_tool("wayback")), "--port", "0", "--bind", "127.0.0.1"],
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        bases: list[str] = []

        def is_serving() -> bool:
            """It listens on several ports, and one of them has the collection."""
            found = [one.laddr.port for one in psutil.Process(process.pid).net_connections() if one.status == "LISTEN"]
            urls = [f"http://127.0.0.1:{port}" for port in found]
            bases[:] = [url for url in urls if requests.get(f"{url}/odd/", timeout=TEST_TIMEOUT).status_code == 200]
            return bool(bases)

        assert wait_until(lambda: process.poll() is not None or is_serving()), log.read_text()
        assert bases, log.read_text()
        yield bases[0]
    finally:
        process.kill()
        process.wait()
