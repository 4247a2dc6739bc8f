"""A run that is told to nobody."""

from __future__ import annotations

from parcahyd.core.progress import Progress, RunSummary

__all__ = ["Silence"]


class Silence:
    """Takes everything and says nothing."""

    def progress(self, snapshot: Progress) -> None:
        """Nothing."""

    def finished(self, summary: RunSummary) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""
