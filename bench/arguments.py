"""The command line of the crawl benchmark."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.contenders.roster import OPTIONAL, USUAL
from bench.sites import GENERATED, PACKAGED

__all__ = ["Arguments", "parse", "shown_command"]

_DESCRIPTION = (
    "PARCAHYD and other crawlers on the same sites, in turn. It prints Markdown, and what it does meanwhile to standard error."
)
_EPILOGUE = f"Contenders: {', '.join(USUAL)}; with --also: {', '.join(OPTIONAL)}."


@dataclass(frozen=True)
class Arguments:
    """What the user asks for."""

    command: str
    """All of it, for the report."""
    sites: Sequence[str]
    start: str
    rounds: int
    repeats: int
    contenders: Sequence[str]
    outputs: Path
    disk: Path
    disk_rounds: int
    sites_folder: Path | None
    peers_folder: Path | None
    fetch: bool
    scrapy: str
    settings: Sequence[str]
    gzip: bool
    before: Path | None
    python: str
    other_python: str | None
    slow_pages: int
    timeout: float
    report: Path | None
    raw: Path | None


def parse(arguments: Sequence[str] | None = None) -> Arguments:
    """The command line as a record; ends the program where it makes no sense."""
    given = _parser().parse_args(arguments)
    return Arguments(
        command=shown_command(sys.argv[1:] if arguments is None else arguments),
        sites=given.site,
        start=given.start,
        rounds=given.rounds,
        repeats=given.repeats,
        contenders=[*(given.only or USUAL), *given.also],
        outputs=given.output,
        disk=given.disk,
        disk_rounds=given.rounds if given.disk_rounds is None else given.disk_rounds,
        sites_folder=given.sites,
        peers_folder=given.peers,
        fetch=given.fetch,
        scrapy=given.scrapy,
        settings=given.set,
        gzip=given.gzip,
        before=given.before,
        python=given.python,
        other_python=given.other_python,
        slow_pages=given.slow_pages,
        timeout=given.timeout,
        report=given.report,
        raw=given.raw,
    )


def shown_command(arguments: Sequence[str]) -> str:
    """The command as a report shows it: an absolute path says nothing to others, and shows as PATH."""
    shown = []
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if os.path.isabs(argument):
            shown.append("PATH")
        elif option.startswith("--") and equals and os.path.isabs(value):
            shown.append(f"{option}=PATH")
        else:
            shown.append(argument)
    return f"python bench/crawl.py {shlex.join(shown)}".rstrip()


def _program(name: str) -> str:
    """A program by its name, or by a path that holds wherever it is run."""
    return os.path.abspath(name) if os.sep in name else name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python bench/crawl.py", description=_DESCRIPTION, epilog=_EPILOGUE)
    named = ", ".join((*PACKAGED, GENERATED))
    parser.add_argument(
        "site", nargs="*", metavar="SITE", help=f"{named}, or a folder of HTML files (default: the named ones that are there)"
    )
    parser.add_argument("--start", default="index.html", metavar="PAGE", help="the start page of a site that is a folder")
    parser.add_argument("--rounds", type=_count(1), default=5, metavar="N", help="how often each contender crawls (default 5)")
    parser.add_argument(
        "--repeats", type=_count(0), default=3, metavar="N", help="how often a disturbed crawl is repeated, at most (default 3)"
    )
    _add_contenders(parser)
    _add_places(parser)
    parser.add_argument(
        "--slow-pages",
        type=_count(0),
        default=2_000,
        metavar="N",
        help="slow contenders crawl once, and only sites of at most so many pages (default 2000)",
    )
    parser.add_argument(
        "--timeout", type=float, default=900.0, metavar="SECONDS", help="a crawl that takes longer is killed (default 900)"
    )
    return parser


def _add_contenders(parser: argparse.ArgumentParser) -> None:
    offered = [*USUAL, *OPTIONAL]
    parser.add_argument("--only", nargs="+", choices=offered, metavar="NAME", help="these contenders instead of the usual ones")
    parser.add_argument("--also", nargs="+", choices=offered, default=[], metavar="NAME", help="these contenders besides")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for PARCAHYD")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="a checkout of another version, for parcahyd-before")
    parser.add_argument(
        "--python",
        type=_program,
        default=sys.executable,
        metavar="PYTHON",
        help="the interpreter for PARCAHYD, with what it depends on",
    )
    parser.add_argument(
        "--other-python", type=_program, metavar="PYTHON", help="another such interpreter, for parcahyd-elsewhere"
    )
    parser.add_argument(
        "--scrapy", type=_program, default=sys.executable, metavar="PYTHON", help="an interpreter that has Scrapy"
    )
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="where the crawlers for Node are installed")


def _add_places(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sites", type=Path, metavar="FOLDER", help="where packages of named sites are unpacked")
    parser.add_argument(
        "--fetch", action="store_true", help="download missing named sites into --sites and missing peers into --peers"
    )
    parser.add_argument(
        "--gzip", action="store_true", help="serve pages compressed to contenders that take it, from files compressed before"
    )
    parser.add_argument(
        "--output", type=Path, default=_memory_folder(), metavar="FOLDER", help="where crawls write: a memory file system"
    )
    parser.add_argument(
        "--disk",
        type=Path,
        default=Path(tempfile.gettempdir()),
        metavar="FOLDER",
        help="where crawls write in the rounds on a disk (default: the folder for temporary files)",
    )
    parser.add_argument(
        "--disk-rounds", type=_count(0), metavar="N", help="how many rounds on a disk (default: as many as --rounds)"
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="a Markdown page whose part on crawls is replaced; a plot goes beside it"
    )
    parser.add_argument("--raw", type=Path, metavar="FILE", help="every single crawl as a line of JSON, disturbed ones too")


class _count:  # noqa: N801 # argparse names the type in its messages
    """A whole number of at least so many."""

    def __init__(self, least: int) -> None:
        self._least = least

    def __call__(self, text: str) -> int:
        number = int(text)
        if number < self._least:
            raise argparse.ArgumentTypeError(f"must be at least {self._least}")
        return number


def _memory_folder() -> Path:
    memory = Path("/dev/shm")  # noqa: S108 # the crawls' own folders below it are made by mkdtemp
    return memory if memory.is_dir() and os.access(memory, os.W_OK) else Path(tempfile.gettempdir())
