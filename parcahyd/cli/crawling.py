"""A crawl as the command line orders it: `parcahyd run` when its words have been read."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

import msgspec

from parcahyd.cli.configured import read_configuration

if TYPE_CHECKING:
    from parcahyd.cli.beside_the_loop import Reporter
    from parcahyd.runtime.nursery import Nursery

__all__ = ["RunOptions", "crawl_as_told"]


class RunOptions(msgspec.Struct, frozen=True):
    """The options of `parcahyd run`."""

    folder: str | os.PathLike[str] | None = None
    overrides: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    forever: bool = False
    interval: float = 5.0
    quiet: bool = False


def crawl_as_told(options: RunOptions, nursery: Nursery | None) -> int:
    """Crawl until nothing is due; returns the exit code. The first children come from `nursery`, which the caller closes."""
    gc.disable()  # Until everything is loaded: what is loaded stays, so looking through it finds nothing.
    try:
        configuration = read_configuration(options.folder, options.overrides)
        if configuration.work.CaFile:
            from parcahyd.net.certificate_authorities import authorities_file

            authorities_file(configuration.work.CaFile)  # for its error, which every worker would tell in its own way
        from parcahyd.cli.beside_the_loop import BesideTheLoop
        from parcahyd.topology import crawl

        observer = BesideTheLoop(_reporter(options.interval, options.quiet))
        try:
            return crawl(configuration, options.seeds, forever=options.forever, observer=observer, nursery=nursery)
        finally:
            observer.close()
    finally:
        gc.enable()


def _reporter(interval: float, quiet: bool) -> Reporter:
    if quiet:
        from parcahyd.cli.silence import Silence

        return Silence()
    if sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        if console.is_interactive:
            from parcahyd.cli.live_display import LiveDisplay

            return LiveDisplay(console)
    from parcahyd.cli.json_lines import JsonLines

    return JsonLines(sys.stdout.buffer, interval)
