"""`parcahyd run` in plain words, read without click: to load that would be a good part of a crawl's start.

Only what is written as the help writes it is read here. Whatever else there is, mistakes above all, is left to click, which
knows every way to write an option and what to say about a wrong one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from parcahyd.cli.crawling import RunOptions

__all__ = ["plain_run"]


def plain_run(words: Sequence[str]) -> RunOptions | None:
    """The options that stand behind `run`; None where click has to read them."""
    folder: str | None = None
    overrides, seeds = list[str](), list[str]()
    forever = quiet = False
    rest = iter(words)
    for word in rest:
        if word == "--forever":
            forever = True
        elif word in ("--quiet", "-q"):
            quiet = True
        elif (value := next(rest, None)) is None:
            return None
        elif word == "--seed":
            seeds.append(value)
        elif word == "--set":
            overrides.append(value)
        elif word == "--conf" and os.path.isdir(value) and os.access(value, os.R_OK):
            folder = value
        else:
            return None
    return RunOptions(folder, tuple(overrides), tuple(seeds), forever, quiet=quiet)
