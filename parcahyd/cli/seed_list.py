"""The seeds of `parcahyd run`: arguments, `--seed`, the lines of `--seeds FILE`, and what is wrong with them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from parcahyd.cli.exit_codes import print_error
from parcahyd.core.errors import UserError
from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.rules.urls.seed_errors import SeedError, seed_error

__all__ = ["GivenSeed", "print_seed_errors", "read_seeds", "seed_errors"]

_STANDARD_INPUT = "-"
_COMMENT = re.compile(r"(?:^|\s)#.*")
_SHOWN = 200
"""Characters of a seed that are repeated in a message."""
_MOST_ERRORS = 10


class GivenSeed(NamedTuple):
    """A seed and where it was given: empty on the command line, else a file and line."""

    text: str
    place: str = ""


def read_seeds(urls: Iterable[str], files: Sequence[str]) -> list[GivenSeed]:
    """The URLs of the command line, then those of the files. A file that cannot be read or has none is a UserError."""
    given = [GivenSeed(url) for url in urls]
    for file in files:
        found = list(_in_file(file))
        if not found:
            raise UserError(f"{_name(file)} has no URL in it", "write one per line")
        given += found
    return given


def _in_file(file: str) -> Iterator[GivenSeed]:
    """One URL per line. `#` at the beginning of a line or after a blank opens a comment: inside a URL it is a fragment."""
    for number, line in enumerate(_lines(file), 1):
        text = _COMMENT.sub("", line).strip()
        if text:
            yield GivenSeed(text, f"{_name(file)}, line {number}")


def _lines(file: str) -> list[str]:
    try:
        if file == _STANDARD_INPUT:
            data = sys.stdin.buffer.read()
        else:
            with open(file, "rb") as stream:
                data = stream.read()
    except OSError as error:
        raise UserError(f"{_name(file)} cannot be read: {error.strerror}", "name a file with one URL per line") from None
    # Bytes that are not UTF-8 come out as surrogates, of which the seed's own sentence speaks.
    return data.decode("utf-8-sig", "surrogateescape").splitlines()


def _name(file: str) -> str:
    return "standard input" if file == _STANDARD_INPUT else file


def seed_errors(seeds: Iterable[GivenSeed]) -> list[UserError]:
    """A UserError for each seed that names no server, in their order."""
    return [error for seed in seeds if (error := _error(seed)) is not None]


def print_seed_errors(errors: Sequence[UserError]) -> int:
    """Writes a line for each of the first seeds that are wrong; returns the exit code."""
    for error in errors[:_MOST_ERRORS]:
        print_error(str(error), 2)
    if len(errors) > _MOST_ERRORS:
        print_error(f"{len(errors) - _MOST_ERRORS:,} more seeds are wrong", 2)
    return 2


def _error(seed: GivenSeed) -> UserError | None:
    wrong = seed_error(seed.text) or _file_error(seed.text)
    if wrong is None:
        return None
    place = f"{seed.place}: " if seed.place else "seed "
    remedy = wrong.remedy
    if not seed.place and (option := _option_for(seed.text)):
        remedy = f"did you mean {option} {seed.text}?"
    return UserError(f'{place}"{seed.text[:_SHOWN]}": {wrong.sentence}', remedy)


def _file_error(text: str) -> SeedError | None:
    """What is wrong with a seed that is the URL of a file: its folder, or it as a folder, is what the crawl may read."""
    url = canonical(text) or ""
    if not url.startswith("file:"):
        return None
    given = os.fsdecode(unquote_to_bytes(url.removeprefix("file://")))
    if not os.path.exists(given):
        return SeedError("there is no such file or folder", "give the whole path, such as file:///srv/docs/")
    if not os.access(given, os.R_OK):
        return SeedError("it may not be read", "give yourself the right to read it")
    found = os.path.realpath(given)
    meant = found if os.path.isfile(found) else os.path.join(found, "")
    if os.path.normpath(given) != found:
        return SeedError("a symbolic link leads there, and none is followed", f"did you mean {_file_url(meant)}?")
    if meant != given:
        return SeedError("it is a folder", f"did you mean {_file_url(meant)}?")
    return None


def _file_url(path: str) -> str:
    return f"file://{quote(os.fsencode(path), safe='/~!$&()*+,;=:@')}"


def _option_for(text: str) -> str:
    """The option that takes what was given as a seed and is a file or folder; empty where it is neither."""
    try:
        if os.path.isdir(text):
            return "--conf"
        if not os.path.isfile(text):
            return ""
        with open(text, "rb") as stream:
            return "--db" if stream.read(16) == b"SQLite format 3\0" else "--seeds" if text.endswith(".txt") else ""
    except (OSError, ValueError):
        return ""
