"""The exit codes of the program, and the line on standard error that some of them have.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | the run failed or could fetch no seed, or `verify` or `augment` found something |
| 2 | a UserError: one line on standard error, with a remedy |
| 130 | interrupted |

Tested in tests/cli/test_application.py.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper

from parcahyd.cli.wording import one_line
from parcahyd.core.errors import ParcahydError, UserError

__all__ = [
    "NO_ROOM",
    "PROGRAM",
    "exit_code",
    "give_up_standard_output",
    "open_standard_streams",
    "print_error",
]

PROGRAM = "parcahyd"


def exit_code(command: Callable[[], int]) -> int:
    """Run a command and return its exit code, also when it raises."""
    try:
        if isinstance(sys.stdout, TextIOWrapper):  # Characters that the terminal's encoding lacks are written as escapes.
            sys.stdout.reconfigure(errors="backslashreplace")
        code = command()
        sys.stdout.flush()
    except UserError as error:
        return print_error(str(error), 2)
    except ParcahydError as failure:
        return print_error(str(failure), 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has what it wanted, as in `parcahyd urls | head`.
        give_up_standard_output()
        return 0
    except OSError as failure:
        if failure.errno not in NO_ROOM:
            raise
        give_up_standard_output()
        return print_error(f"the output could not be written: {failure.strerror}", 1)
    return code


def print_error(message: str, code: int) -> int:
    """Write the message in one line to standard error; returns `code`."""
    with suppress(OSError):  # Standard error is closed; the exit code remains.
        sys.stderr.write(f"{PROGRAM}: {one_line(message)}\n")
    return code


# --- standard streams that are closed, whose reader is gone, or that have no room left --------------------------------

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""Failures of the machine, not of the user."""


def open_standard_streams() -> None:
    """Open /dev/null in the place of standard streams that were closed when the process started.

    Otherwise the next file or socket would get the number of a closed stream, and children would use it as that stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, True)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))


def give_up_standard_output() -> None:
    """Point standard output to /dev/null, so that the interpreter's own flush at exit cannot fail either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
