"""The command line as a user without privileges, also where root runs the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.crawl import ROOT, Finished
from tests.support.processes import TEST_TIMEOUT

__all__ = ["command_without_privileges"]

# Without its capabilities, root is bound by permissions as the owner of its files is (capabilities(7); version 3 of capset(2)).
_PROGRAM = """
import ctypes, os, sys
if os.geteuid() == 0:
    assert ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()) == 0
from parcahyd.cli import main
sys.exit(main(sys.argv[1:]))
"""


def command_without_privileges(*arguments: str, folder: Path = ROOT) -> Finished:
    """`parcahyd ARGUMENTS` in a folder, to its end."""
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("nothing is forbidden to root")
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *arguments], cwd=folder, capture_output=True, check=False, timeout=TEST_TIMEOUT
    )
    return Finished(done.returncode, done.stdout, done.stderr.decode(errors="replace"))
