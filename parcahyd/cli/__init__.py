"""The command line: one file per command, each with a click command named `command`.

`application.py` finds the commands and turns what went wrong into one line and an exit code. A command imports what it
needs when it runs, so that `--help` and shell completion answer at once.
"""

from __future__ import annotations

from parcahyd.cli.application import main

__all__ = ["main"]
