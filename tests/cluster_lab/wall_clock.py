"""Wrong wall clocks for single processes, by libfaketime (Debian's package of this name).

Clocks that count from a start stay right.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["WallClock", "why_no_wall_clock", "wrong_clock"]

_LIBRARY = "libfaketimeMT.so.1"


def _library() -> Path | None:
    """Where the package installs it, or what PARCAHYD_FAKETIME names."""
    given = os.environ.get("PARCAHYD_FAKETIME")
    found = [Path(given)] if given else sorted(Path("/usr/lib").glob(f"*/faketime/{_LIBRARY}"))
    return next((file for file in found if file.exists()), None)


def why_no_wall_clock() -> str:
    """Why no wall clock can be set; empty where it can."""
    return "" if _library() else "libfaketime is not there: install faketime, or name its library by PARCAHYD_FAKETIME"


class WallClock:
    """The wall clock of the processes that are started with its environment. It can be stepped while they run."""

    def __init__(self, file: Path, offset: float = 0.0) -> None:
        self._file = file
        self.step_to(offset)
        file.chmod(0o644)
        self.environment = {
            "LD_PRELOAD": str(_library()),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_RESET": "1",
        }

    def step_to(self, offset: float) -> None:
        """From now on it differs from the right one by so many seconds."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{offset:+.3f}\n")
        new.chmod(0o644)
        new.replace(self._file)


@contextmanager
def wrong_clock(offset: float = 0.0) -> Iterator[WallClock]:
    """A clock that a process of another user can read, too."""
    with tempfile.TemporaryDirectory(prefix="clock-") as name:
        Path(name).chmod(0o755)
        yield WallClock(Path(name) / "offset", offset)
