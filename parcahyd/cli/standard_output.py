"""Standard output when its reader goes away or no room is left."""

from __future__ import annotations

import os
import sys

__all__ = ["give_up_standard_output"]


def give_up_standard_output() -> None:
    """Send what is still buffered nowhere, so that the interpreter's own flush at the end cannot fail either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
