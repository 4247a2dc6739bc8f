"""The command line: one file per command, each with a click command named `command`.

`application.py` finds the commands, `exit_codes.py` turns what went wrong into one line and an exit code, and `plain_run.py`
reads the words of most crawls without click. A command imports what it needs when it runs, so that `--help` and shell
completion answer at once.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from parcahyd.runtime.nursery import Nursery

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `arguments` are those of the process unless given."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from parcahyd.cli.standard_output import open_standard_streams

        open_standard_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    nursery = None
    try:
        nursery = _nursery(words)
        code = _run(words, nursery)
    except KeyboardInterrupt:  # While something was loaded.
        code = 130
    finally:
        if nursery is not None:
            nursery.close()
        gc.enable()
    if arguments is None and nursery is not None:
        _leave(code)
    return code


def _run(words: Sequence[str], nursery: Nursery | None) -> int:
    """The exit code of a command. A crawl in plain words starts without click."""
    if nursery is not None:
        from parcahyd.cli.plain_run import plain_run

        options = plain_run(words[1:])
        if options is not None:
            from parcahyd.cli.crawling import crawl_as_told
            from parcahyd.cli.exit_codes import exit_code

            return exit_code(partial(crawl_as_told, options, nursery))
    from parcahyd.cli.application import run

    return run(words, nursery)


def _leave(code: int) -> NoReturn:
    """End the process of a crawl. To take everything apart that was loaded takes longer than to fetch some pages, and an answer
    that a URL Mapper still waits for would be waited for."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # Whoever read it is gone, and was told so.
            stream.flush()
    os._exit(code)


def _nursery(words: Sequence[str]) -> Nursery | None:
    """A crawl's first children, which begin before the command line is read. None for everything that is no crawl."""
    if words[:1] != ["run"] or "--help" in words or "-h" in words:
        return None
    gc.disable()  # Until everything is loaded: what is loaded stays, so looking through it finds nothing.
    from parcahyd.runtime.lean_imports import import_msgspec

    import_msgspec()
    from parcahyd.cli.early_children import early_children

    return early_children()
