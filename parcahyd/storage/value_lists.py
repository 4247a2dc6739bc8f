"""A list of values as one parameter of a statement: JSON on SQLite, an array on PostgreSQL (see `statements.idioms`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

__all__ = ["ValueLists", "value_lists"]


class ValueLists(Protocol):
    """How one kind of database takes lists."""

    def bind(self, values: Sequence[int] | Sequence[str]) -> Any: ...

    def bind_pairs(self, pairs: Sequence[tuple[int, int]]) -> tuple[Any, ...]:
        """Pairs of numbers as one parameter or two."""


class _Json:
    def bind(self, values: Sequence[int] | Sequence[str]) -> str:
        return msgspec.json.encode(values).decode()

    def bind_pairs(self, pairs: Sequence[tuple[int, int]]) -> tuple[str, ...]:
        return (msgspec.json.encode(pairs).decode(),)


class _Arrays:
    def bind(self, values: Sequence[int] | Sequence[str]) -> list[int] | list[str]:
        return list(values)  # type: ignore[return-value]  # a list of whichever kind came in

    def bind_pairs(self, pairs: Sequence[tuple[int, int]]) -> tuple[list[int], ...]:
        return [first for first, _ in pairs], [second for _, second in pairs]


def value_lists(kind: str) -> ValueLists:
    """The way of the given kind of database."""
    return _Json() if kind == "sqlite" else _Arrays()
