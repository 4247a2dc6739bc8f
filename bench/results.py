"""The results of a whole benchmark, and the file that keeps every single crawl."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bench.contenders.contender import Contender
from bench.rounds import Outcome, Outcomes

__all__ = ["RawLog", "Results", "SiteResults"]


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


class RawLog:
    """Appends each crawl, also one that is repeated, to a file as a line of JSON: an interrupted benchmark keeps them."""

    def __init__(self, file: Path | None) -> None:
        self.verified = 0
        """How many crawls were PARCAHYD's: each was verified before it was added."""
        self._file = None if file is None else file.open("a", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, site: str, outcome: Outcome) -> None:
        """Append one crawl."""
        self.verified += outcome.contender.startswith("parcahyd")
        if self._file is not None:
            self._file.write(json.dumps(_record(site, outcome)) + "\n")
            self._file.flush()


def _record(site: str, outcome: Outcome) -> dict[str, object]:
    usage, coverage = outcome.usage, outcome.coverage
    return {
        "site": site,
        "contender": outcome.contender,
        "round": outcome.number,
        "on_disk": outcome.sync_seconds is not None,
        "disturbed": outcome.disturbed,
        "pages": outcome.pages,
        "missing": len(coverage.missing),
        "outside": len(coverage.outside),
        "requests": outcome.requests,
        "seconds": round(usage.seconds, 4),
        "steady_pages_per_second": outcome.steady_pages_per_second,
        "cpu_seconds": round(usage.cpu_seconds, 4),
        "peak_bytes": usage.peak_bytes,
        "output_bytes": outcome.output_bytes,
        "sync_seconds": outcome.sync_seconds,
        "other_cores": round(usage.other_cores, 3),
        "stolen_cores": round(usage.stolen_cores, 3),
    }
