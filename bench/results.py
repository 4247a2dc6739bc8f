"""What a whole benchmark found, for whoever writes it down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.contenders.contender import Contender
from bench.rounds import Outcomes

__all__ = ["Results", "SiteResults"]


@dataclass(frozen=True)
class SiteResults:
    """All rounds on one site."""

    name: str
    pages: int
    """Those that can be reached."""
    page_bytes: int
    """All of them together."""
    memory: Outcomes
    """With outputs on a memory file system, or where there is none, on what there was."""
    disk: Outcomes
    not_crawled: Mapping[str, str]
    """Contenders that did not crawl this site, and why."""


@dataclass(frozen=True)
class Results:
    """The benchmark as a whole."""

    command: str
    machine: Sequence[tuple[str, str]]
    contenders: Sequence[Contender]
    left_out: Mapping[str, str]
    """Contenders that are not there, and why."""
    rounds: int
    repeats: int
    memory_file_system: str
    disk_file_system: str
    no_disk: str
    """Why there are no rounds on a disk, or nothing."""
    verified: int
    """Crawls after each of which `parcahyd verify` found nothing."""
    sites: Sequence[SiteResults]
