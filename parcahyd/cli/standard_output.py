"""The three standard streams when they are closed, when the reader of the output goes away, and when no room is left.

Tested by tests/cli/test_application.py.
"""

from __future__ import annotations

import errno
import os
import sys

__all__ = ["NO_ROOM", "give_up_standard_output", "open_standard_streams"]

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""Failures of the machine, not of the user."""


def open_standard_streams() -> None:
    """Let those that were closed when the process began lead nowhere.

    The next file or socket would take the number of a closed one, and children would take it for a standard stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, True)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))


def give_up_standard_output() -> None:
    """Send what is still buffered nowhere, so that the interpreter's own flush at the end cannot fail either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
