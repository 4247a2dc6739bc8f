"""Which files may be run as code: those that nobody but this user and root can have written."""

from __future__ import annotations

import os
import pwd
import stat

__all__ = ["distrust"]


def distrust(path: str) -> tuple[str, str] | None:
    """Why code in this file or folder must not run, and the remedy; None where it may. A link counts as what it leads to.

    Write permission for a group counts as permission for others, unless the group has its owner's number: many systems give
    each user a group of that number, of which nobody else is a member. A sticky bit does not help a folder: others still add
    links to code that was never meant to be a plugin.
    """
    found = os.stat(path)
    mode = stat.S_IMODE(found.st_mode)
    of_others = stat.S_IWOTH if found.st_gid == found.st_uid else stat.S_IWOTH | stat.S_IWGRP
    described = f"owner {_user(found.st_uid)}, mode {mode:04o}"
    if found.st_uid not in (0, os.geteuid()):
        return f"belongs to another user ({described})", f"look at it, then chown {_user(os.geteuid())} {path}"
    if mode & of_others:
        return f"can be written by other users ({described})", f"look at it, then chmod go-w {path}"
    return None


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
