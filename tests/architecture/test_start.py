"""The command line starts quickly because it does not import what it does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("sqlalchemy", "rich", "pycurl", "turbohtml", "requests", "dns", "asyncio", "multiprocessing")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], ["urls", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys; from parcahyd.cli import main; code = main(sys.argv[1:]); "
        f"print(*sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")
    assert "parcahyd" in done.stdout
