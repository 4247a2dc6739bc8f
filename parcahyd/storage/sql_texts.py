"""What the store says to its database, as text that was compiled ahead of time (see `storage.statements`)."""

from __future__ import annotations

import os

__all__ = ["sql_texts"]

_FOLDER = os.path.join(os.path.dirname(__file__), "sql")
_BEFORE_TITLE = "\n-- "


def sql_texts(kind: str) -> dict[str, str]:
    """The statements for a kind of database, by the part of the store that runs them and their name, such as `leases.due`."""
    with open(os.path.join(_FOLDER, f"{kind}.sql"), encoding="utf-8") as file:
        _, *parts = file.read().split(_BEFORE_TITLE)
    titled = [part.partition("\n") for part in parts]
    return {title.partition(" ")[0]: body.rstrip().removesuffix(";") for title, _, body in titled}
