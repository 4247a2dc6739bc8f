"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from hashlib import sha256

from parcahyd.core.errors import UserMistake

__all__ = ["digest_of", "read_or_none", "write_whole"]


def read_or_none(file: str) -> bytes | None:
    """A file's bytes; None where there is no such file."""
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as failure:
        raise UserMistake(f"{file} cannot be read", "make it readable") from failure


def write_whole(file: str, data: bytes) -> None:
    """Puts the bytes under the name in one step."""
    folder, name = os.path.split(file)
    beside = os.path.join(folder, f".{name[:100]}.{os.getpid()}.new")
    try:
        with open(beside, "wb") as opened:
            opened.write(data)
        os.replace(beside, file)
    except PermissionError as failure:
        raise UserMistake(f"{file} cannot be written", "make the folder writable") from failure


def digest_of(data: bytes) -> str:
    return sha256(data).hexdigest()
