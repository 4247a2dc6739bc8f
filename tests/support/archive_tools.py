"""Programs that replay and check web archives, in an environment of their own: their licences are not ours.

They are installed with `python -m venv DIR` and `DIR/bin/pip install -r tests/archive-tools.txt`, and found by the variable
PARCAHYD_ARCHIVE_TOOLS, which names DIR. Tests that need them are skipped without it, with a reason in the summary.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.processes import TEST_TIMEOUT

__all__ = ["archive_tool", "run_python"]


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
