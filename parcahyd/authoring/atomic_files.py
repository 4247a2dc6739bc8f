"""Reads and writes files; a file is written completely or not at all.

Tested in tests/authoring/test_build.py.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from hashlib import sha256

from parcahyd.core.errors import UserError

__all__ = ["digest_of", "read_or_none", "remove", "write_atomically"]

_MACHINE_FAILURES = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""Failures of the machine, which the user cannot correct with another name or folder."""


def read_or_none(file: str) -> bytes | None:
    """A file's bytes; None where there is no such file."""
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as failure:
        if failure.errno in _MACHINE_FAILURES:
            raise
        raise UserError(f"{file} cannot be read: {failure.strerror}", "make it a file that can be, or remove it") from failure


def write_atomically(file: str, data: bytes) -> None:
    """Replaces the file with these bytes in one step."""
    beside = os.path.join(os.path.dirname(file), f".augment.{os.getpid()}.new")
    try:
        try:
            with open(beside, "wb") as opened:
                opened.write(data)
            os.replace(beside, file)
        except BaseException:
            with suppress(OSError):
                os.remove(beside)
            raise
    except OSError as failure:
        if failure.errno in _MACHINE_FAILURES:
            raise
        raise UserError(f"{file} cannot be written: {failure.strerror}", "make room for it under that name") from failure


def remove(file: str) -> None:
    try:
        os.remove(file)
    except PermissionError as failure:
        raise UserError(f"{file} cannot be removed: {failure.strerror}", "make its folder writable") from failure


def digest_of(data: bytes) -> str:
    return sha256(data).hexdigest()
