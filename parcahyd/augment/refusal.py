"""Why a table, a declaration or a merge was refused, as a value.

Tested in tests/augment/test_tol.py, tests/augment/test_tvi.py and tests/augment/test_bundle.py.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import msgspec

__all__ = [
    "DEFAULT_LIMITS",
    "MAX_BODY_LINES",
    "MAX_BUNDLE_BYTES",
    "MAX_BUNDLE_LINES",
    "MAX_HEADERS",
    "MAX_HEADER_BYTES",
    "MAX_REFERENCE",
    "MAX_TABLE_BYTES",
    "Consequence",
    "Limits",
    "Refusal",
    "RefusalReason",
]


class Consequence(Enum):
    """What a crawler does after a refusal."""

    ABSENT = "the file counts as absent"
    STALE = "the document itself is requested, and the host gets no strike"
    STRIKE = "the file is discarded, the document itself is requested, and the host gets a strike"


class RefusalReason(Enum):
    """The reasons for a refusal; each has a word for machines, a sentence for people, and a consequence."""

    NO_TABLE = ("no-table", "The first line is not that of a table.", Consequence.ABSENT)
    VERSION = ("version", "It is of a version that is not known here.", Consequence.ABSENT)
    DEMAND = ("demand", "A header that must be understood is not known here.", Consequence.ABSENT)
    TOO_LARGE = ("too-large", "It has more bytes than are read.", Consequence.STRIKE)
    TOO_MANY_LINES = ("too-many-lines", "It has more lines than are read.", Consequence.STRIKE)
    TEXT = ("text", "It has bytes that are no text: not UTF-8, control bytes, or mixed line ends.", Consequence.STRIKE)
    HEADER = ("header", "A header is missing, twice there, or not as it must be.", Consequence.STRIKE)
    ESCAPE = ("escape", "A backslash begins no escape.", Consequence.STRIKE)
    FIELD = ("field", "A line of the body is not as it must be.", Consequence.STRIKE)
    END = ("end", "The last line is missing, counts wrongly, or is not the last.", Consequence.STRIKE)
    REGIONS = ("regions", "The regions are not in order, or not those of the document.", Consequence.STRIKE)
    LENGTH = ("length", "A length is not what was announced.", Consequence.STRIKE)
    HASH = ("hash", "A hash is not what was announced.", Consequence.STRIKE)
    DOCUMENT = ("document", "It is the table of another document.", Consequence.STRIKE)
    BASE = ("base", "The skeleton is another one.", Consequence.STALE)
    MARKERS = ("markers", "The document's own markers are in disorder.", Consequence.STALE)
    DECLARATION = ("declaration", "It is no declaration that can be understood.", Consequence.ABSENT)

    def __init__(self, word: str, sentence: str, consequence: Consequence) -> None:
        self.word = word
        self.sentence = sentence
        self.consequence = consequence


class Refusal(NamedTuple):
    """The reason of a refusal, and where the error was found."""

    reason: RefusalReason
    detail: str = ""
    """Written by this program, such as a line's number or a header's name; never text from the site."""

    def __str__(self) -> str:
        return f"{self.reason.sentence} ({self.detail})" if self.detail else self.reason.sentence


# --- The limits within which tables are read ----------------------------------------------------------------------------


MAX_BODY_LINES = 50_000
MAX_TABLE_BYTES = 5 * 1024 * 1024
MAX_REFERENCE = 8 * 1024
"""Bytes of one URL reference, as it stands in the table."""
MAX_BUNDLE_LINES = 5_000_000
MAX_BUNDLE_BYTES = 256 * 1024 * 1024
MAX_HEADERS = 100
"""Headers of one table, unknown ones included."""
MAX_HEADER_BYTES = 64 * 1024
"""First line and headers of one table."""


class Limits(msgspec.Struct, frozen=True):
    """The most that a reader accepts; sizes in bytes, after content codings are removed."""

    body_lines: int = MAX_BODY_LINES
    table_bytes: int = MAX_TABLE_BYTES
    reference: int = MAX_REFERENCE
    bundle_lines: int = MAX_BUNDLE_LINES
    bundle_bytes: int = MAX_BUNDLE_BYTES


DEFAULT_LIMITS = Limits()
