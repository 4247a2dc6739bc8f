"""What is wrong with a seed that a user typed, in a sentence, and what was probably meant.

A page's links are not judged here: this is for people, who misspell schemes, forget them, or give a file.
"""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

from parcahyd.rules.urls.canonical_url import canonical

__all__ = ["SeedError", "seed_error"]

_IN_FULL = "write it in full, such as https://example.org/"
_AS_FILE = "write it as a URL, such as file:///srv/docs/"
_ONE_BY_ONE = "give each as an argument of its own, or one per line with --seeds FILE"

_AROUND = "<>\"'`\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"
_WINDOWS = re.compile(r"[A-Za-z]:[\\/](?!/)|\\\\")
_FILE = re.compile(r"/(?!/)|\.{1,2}/|~")
_FILE_URL = re.compile(r"(?i)file:")
_WHOLE = re.compile(r"(?s)([A-Za-z][A-Za-z0-9+.-]*)://(.*)")
_TWICE = re.compile(r"(?i)(?:(https?):?//)++")
_BROKEN = re.compile(r"(?is)(https?)[:;,.]*[/\\]+(.*)")
_HOST_AND_PORT = re.compile(r"[^/:@\s]+:[0-9]+(?:[/?#]|$)")
_OTHER_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+-]*:")
_HOST = re.compile(r"(?i)(?:localhost|\[[0-9a-f:.]+\]|(?:[\w-]+\.)+[\w-]+)(?::[^/]*)?(?:[/?#]|$)")
_LOCAL = re.compile(r"(?i)localhost|\[|(?:[0-9]+\.){3}[0-9]+(?:[:/?#]|$)|[^/]*:[0-9]")
_SERVED = ("http", "https", "ftp", "ftps", "gopher", "ws", "wss")
_LARGEST_PORT = 65535
_SHOWN = 20
"""Characters of a part that are repeated in a sentence."""


class SeedError(NamedTuple):
    """A sentence without its full stop, and what to do."""

    sentence: str
    remedy: str


def seed_error(seed: str) -> SeedError | None:
    """What is wrong with a seed; None where it names a server or a file. A scheme that nothing serves is no misspelling."""
    text = seed.strip()
    if not text:
        return SeedError("it is empty", _IN_FULL)
    if any("\ud800" <= one <= "\udfff" for one in text):
        return SeedError("it has bytes that are not UTF-8", "percent-encode them, such as %E4")
    if not text.isprintable():
        meant = "".join(one for one in text if one.isprintable())
        return SeedError("it has an invisible character in it", _suggestion(meant))
    if text[0] in _AROUND:
        return SeedError("quotes or brackets stand around it", _suggestion(text.strip(_AROUND)))
    if _WINDOWS.match(text):
        return SeedError("it is the path of a file on Windows", _AS_FILE)
    if _FILE.match(text):
        return SeedError("it is the path of a file", f"did you mean file://{text}?" if text[0] == "/" else _AS_FILE)
    if _FILE_URL.match(text):
        return None if canonical(text) is not None else SeedError("it is a file of another machine", _AS_FILE)
    if any(_WHOLE.match(word) for word in text.split()[1:]):
        return SeedError("it is more than one URL", _ONE_BY_ONE)
    whole = _WHOLE.fullmatch(text)
    if whole is not None:
        return _error_in_parts(text, whole[1], whole[2])
    return None if canonical(text) is not None else _without_a_scheme(text)


def _error_in_parts(text: str, scheme: str, rest: str) -> SeedError | None:
    """For a text with `://` in it."""
    lower = scheme.lower()
    if lower not in _SERVED and (near := difflib.get_close_matches(lower, ("http", "https"), 1, 0.75)):
        return SeedError(f'"{scheme}" is no scheme', _suggestion(f"{near[0]}://{rest}"))
    if (twice := _TWICE.match(rest)) is not None:
        return SeedError("its scheme stands there twice", _suggestion(f"{twice[1]}://{rest[twice.end() :]}"))
    authority = re.split(r"[/?#\\]", rest, maxsplit=1)[0]
    behind = rest[len(authority) :]
    host, port = _host_and_port(authority.rpartition("@")[2])
    if not host:
        return SeedError("it has no host", _IN_FULL)
    if " " in authority:
        return SeedError("it has a blank in its host", _suggestion(f"{scheme}://{authority.replace(' ', '')}{behind}"))
    if port and not (port.isascii() and port.isdigit() and 0 < int(port[:9]) <= _LARGEST_PORT):
        sentence = f'its port "{port[:_SHOWN]}" is not a number from 1 to {_LARGEST_PORT}'
        return SeedError(sentence, _suggestion(f"{scheme}://{host}{behind}"))
    if "*" in host:
        return SeedError('its host has a "*" in it', "give one host, and --set Work.Scope=domain for all of its domain")
    if canonical(text) is not None:
        return None
    return SeedError(f'its host "{host[:_SHOWN]}" is neither a name nor an address', _IN_FULL)


def _host_and_port(authority: str) -> tuple[str, str]:
    if authority.endswith("]"):
        return authority, ""
    host, colon, port = authority.rpartition(":")
    return (host, port) if colon and not (host.startswith("[") and not host.endswith("]")) else (authority, "")


def _without_a_scheme(text: str) -> SeedError:
    broken = _BROKEN.fullmatch(text)
    if broken is not None:
        return SeedError(f'"://" must follow {broken[1].lower()}', _suggestion(f"{broken[1].lower()}://{broken[2]}"))
    bare = text.lstrip(":/")
    if bare and (_HOST.match(bare) or _HOST_AND_PORT.match(bare)):
        return SeedError("its scheme is missing", _suggestion(f"{'http' if _LOCAL.match(bare) else 'https'}://{bare}"))
    other = _OTHER_SCHEME.match(text)
    if other is not None:
        return SeedError(f'what begins with "{other[0]}" names no server', _IN_FULL)
    return SeedError("it is not a URL", _IN_FULL)


def _suggestion(meant: str) -> str:
    url = canonical(meant)
    return _IN_FULL if url is None else f"did you mean {url}?"
