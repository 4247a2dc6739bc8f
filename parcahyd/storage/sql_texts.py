"""What the store says to its database, as text that was compiled ahead of time (see `storage.statements`)."""

from __future__ import annotations

import os
import re

__all__ = ["sql_texts"]

_FOLDER = os.path.join(os.path.dirname(__file__), "sql")
_TITLE = re.compile(r"^-- (\w+\.\w+) \(.*\)\n", re.MULTILINE)


def sql_texts(kind: str) -> dict[str, str]:
    """The statements for a kind of database, by the part of the store that runs them and their name, such as `leases.due`."""
    with open(os.path.join(_FOLDER, f"{kind}.sql"), encoding="utf-8") as file:
        _, *parts = _TITLE.split(file.read())
    return {name: body.rstrip().removesuffix(";") for name, body in zip(parts[::2], parts[1::2], strict=True)}
