"""TOML, read without its reader where that is not needed: it takes three milliseconds to load."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec

__all__ = ["read_toml", "read_value"]

_APART = ("\\", "{", "null")
"""Where a JSON text without line breaks has one of these, TOML may understand something else."""


def read_toml(text: str) -> dict[str, Any]:
    """What a TOML text says. Raises ValueError and RecursionError."""
    if not text.strip(" \t\n"):
        return {}
    import tomllib

    return tomllib.loads(text)


def read_value(text: str) -> object:
    """What one TOML value says; of several statements, the text itself. Raises ValueError and RecursionError."""
    if text.isprintable() and not any(apart in text for apart in _APART):
        # Numbers, truths, plain texts and lists of them are the same in JSON, whose reader is loaded already.
        with suppress(msgspec.DecodeError, RecursionError):
            return msgspec.json.decode(text)
    parsed = read_toml(f"value = {text}")
    return parsed["value"] if parsed.keys() == {"value"} else text
