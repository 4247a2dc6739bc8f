"""What plugins do wrong while they read documents, told once and with their name: one bad document never stops a crawl."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Misconduct"]


class Misconduct:
    """Complaints about plugins of one kind."""

    def __init__(self, kind: str, report: Callable[[str], None]) -> None:
        self._kind = kind
        self._report = report
        self._said: set[tuple[str, str]] = set()

    def raised(self, name: str, error: Exception) -> None:
        first = next(iter(str(error).splitlines()), "")[:200]
        self._tell(name, type(error).__name__, f"raised {type(error).__name__}" + (f": {first}" if first else ""))

    def told(self, name: str, what: str) -> None:
        self._tell(name, "", what)

    def _tell(self, name: str, kind: str, what: str) -> None:
        if (name, kind) not in self._said:
            self._said.add((name, kind))
            self._report(f'{self._kind} "{name}" {what}')
