"""What the store says to its database, as text that was compiled ahead of time (see `storage.statements`)."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["sql_texts"]

_FOLDER = Path(__file__).with_name("sql")
_TITLE = re.compile(r"^-- (\w+\.\w+) \(.*\)\n", re.MULTILINE)


def sql_texts(kind: str) -> dict[str, str]:
    """The statements for a kind of database, by the part of the store that runs them and their name, such as `leases.due`."""
    _, *parts = _TITLE.split((_FOLDER / f"{kind}.sql").read_text(encoding="utf-8"))
    return {name: body.rstrip().removesuffix(";") for name, body in zip(parts[::2], parts[1::2], strict=True)}
