"""Notes every function of a package that any process calls: imported by every interpreter whose PYTHONPATH has this folder.

`TRACED_PACKAGE` is the package's folder, `TRACED_CALLS` the file to which a line is appended when a function is called for the
first time in a process: the file, the first line and the name of the function. Each line is written at once and by itself,
because a process may end in any way, and a fork may close its files.
"""

from __future__ import annotations

import os
import sys
import threading
from types import CodeType, FrameType

_FUNCTION = 0x1
"""CO_OPTIMIZED: set for functions, not for the code of modules and classes."""


def _trace(package: str, calls: str) -> None:
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code not in seen:
            seen.add(code)
            if code.co_filename.startswith(package) and code.co_flags & _FUNCTION:
                descriptor = os.open(calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                os.write(descriptor, f"{code.co_filename}\t{code.co_firstlineno}\t{code.co_qualname}\n".encode())
                os.close(descriptor)

    threading.setprofile(note)
    sys.setprofile(note)


if "TRACED_PACKAGE" in os.environ:
    _trace(os.environ["TRACED_PACKAGE"], os.environ["TRACED_CALLS"])
