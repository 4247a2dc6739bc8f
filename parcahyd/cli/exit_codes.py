"""The exit codes of the program, and the line on standard error that some of them have.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | the run failed, or `verify` or `augment` found something |
| 2 | a UserError: one line on standard error, with a remedy |
| 130 | interrupted |

Tested by tests/cli/test_application.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper

from parcahyd.cli.standard_output import NO_ROOM, give_up_standard_output
from parcahyd.cli.wording import one_line
from parcahyd.core.errors import ParcahydError, UserMistake

__all__ = ["PROGRAM", "complain", "exit_code"]

PROGRAM = "parcahyd"


def exit_code(command: Callable[[], int]) -> int:
    """Run a command and return its exit code, also when it raises."""
    try:
        if isinstance(sys.stdout, TextIOWrapper):  # A terminal of few characters shows the others written out.
            sys.stdout.reconfigure(errors="backslashreplace")
        code = command()
        sys.stdout.flush()
    except UserMistake as error:
        return complain(str(error), 2)
    except ParcahydError as failure:
        return complain(str(failure), 1)
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
        return complain(f"the output could not be written: {failure.strerror}", 1)
    return code


def complain(message: str, code: int) -> int:
    """Write the message in one line to standard error; returns `code`."""
    with suppress(OSError):  # Standard error is closed; the exit code remains.
        sys.stderr.write(f"{PROGRAM}: {one_line(message)}\n")
    return code
