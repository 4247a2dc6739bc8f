"""The real clock. Tested in tests/end_to_end/test_politeness.py."""

from __future__ import annotations

import time

__all__ = ["SystemClock"]


class SystemClock:
    """The Clock port on this machine's clocks."""

    now = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)
