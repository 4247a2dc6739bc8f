"""What the benchmark knows of a contender."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Absent", "Contender", "Peers", "Task"]


class Absent(Exception):
    """A contender cannot take part; the message says why and how it could."""


@dataclass(frozen=True)
class Task:
    """One crawl to be done."""

    url: str
    """The start page."""
    output: Path
    """An empty folder, which is also the current one."""
    known: Path
    """A file with every URL of the site, one per line. Only the limit may read it."""


@dataclass(frozen=True)
class Peers:
    """Where the contenders that are no system programs are to be had."""

    scrapy: str
    """A Python interpreter that has Scrapy."""
    node_folder: Path | None
    """The folder in whose `node_modules` Node's crawlers are."""
    fetch: bool
    """Install them there."""
    settings: Sequence[str]
    """For PARCAHYD, as KEY=VALUE."""
    before: Path | None = None
    """A checkout of another version of PARCAHYD."""
    python: str = sys.executable
    """A Python interpreter that has what PARCAHYD depends on."""
    other_python: str | None = None
    """Another one, to compare them."""


def nothing_to_check(output: Path) -> str | None:  # noqa: ARG001 # the signature is that of Contender.check
    """Plain files carry nothing that could be checked."""
    return None


@dataclass(frozen=True)
class Contender:
    """A crawler: how it is started, and what is fair to expect of it."""

    name: str
    version: str
    work: str
    """What it does with a page, for the reader of the report."""
    command: Callable[[Task], Sequence[str]]
    good_exits: tuple[int, ...] = (0,)
    slow: bool = False
    """Takes part in the first round only, and not on large sites."""
    check: Callable[[Path], str | None] = nothing_to_check
    """What is wrong with the output, if anything."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that it gets besides those of the benchmark."""
