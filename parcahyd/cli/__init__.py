"""The command line: one file per command, each with a click command named `command`.

`application.py` finds the commands and runs one, `exit_codes.py` turns an error into one line and an exit code.
Tested in tests/cli/test_application.py.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from parcahyd.cli.application import run_command
from parcahyd.cli.exit_codes import open_standard_streams

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `arguments` are those of the process unless given."""
    open_standard_streams()
    return run_command(sys.argv[1:] if arguments is None else arguments)
