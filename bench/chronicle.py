"""Every single crawl, in the order in which they ran, also those that were disturbed and repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

from bench.rounds import Outcome

__all__ = ["Chronicle"]


class Chronicle:
    """Appends each crawl to a file as a line of JSON, at once, so that an interrupted benchmark leaves its figures."""

    def __init__(self, file: Path | None) -> None:
        self.verified = 0
        """PARCAHYD's crawls, each of which was verified before it came here."""
        self._file = None if file is None else file.open("a", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file is not None:
            self._file.close()

    def enter(self, site: str, outcome: Outcome) -> None:
        """Takes note of one crawl."""
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
        "cpu_seconds": round(usage.cpu_seconds, 4),
        "peak_bytes": usage.peak_bytes,
        "output_bytes": outcome.output_bytes,
        "sync_seconds": outcome.sync_seconds,
        "other_cores": round(usage.other_cores, 3),
        "stolen_cores": round(usage.stolen_cores, 3),
    }
