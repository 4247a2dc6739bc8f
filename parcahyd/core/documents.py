"""What is read out of a document beside its bytes: its summary, and the members of an archive.

Tested in tests/test_plugin_manager.py and tests/formats/test_format_plugins.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import msgspec

__all__ = [
    "MAX_HEADINGS",
    "MAX_KEYWORDS",
    "MAX_LANGUAGE",
    "MAX_LINKS",
    "MAX_NAME",
    "MAX_TEXT",
    "MAX_TITLE",
    "MAX_WORD",
    "Expander",
    "Member",
    "Recognizer",
    "Skipped",
    "Summarizer",
    "Summary",
]

MAX_TITLE = 300
MAX_LANGUAGE = 35  # RFC 5646, section 4.4.1
MAX_TEXT = 100_000
MAX_KEYWORDS = 20
MAX_HEADINGS = 50
MAX_WORD = 100
MAX_LINKS = 10_000
MAX_NAME = 1000


class Summary(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The summary of a document (statement C3). Everything is optional, plain text and bounded by the `MAX_` numbers."""

    title: str = ""
    """One line."""
    language: str = ""
    """A language tag in lower case, such as "en" or "pt-br"."""
    text: str = ""
    """What a reader sees, as plain text."""
    keywords: tuple[str, ...] = ()
    """The author's own."""
    links: tuple[str, ...] = ()
    """Canonical absolute URLs, in the document's order."""
    headings: tuple[str, ...] = ()
    """In the document's order."""


class Skipped:
    """Why a member of an archive is not a document. Words, as they are stored and shown."""

    ENCRYPTED = "encrypted"
    """It takes a password."""
    DAMAGED = "damaged"
    """It cannot be unpacked."""
    METHOD = "method"
    """Compressed in a way that is not read here."""
    NOT_A_FILE = "not-a-file"
    """A link, a device, a part of a sparse file."""
    NAME = "name"
    """Nothing is left of its name, or it is too long."""
    DUPLICATE = "duplicate"
    """A member before it has the same name."""
    SIZE = "size"
    """Larger than a document may be."""
    MEMBERS = "members"
    """The archive has more members than are read; the last that is reported."""
    BYTES = "bytes"
    """The archive unpacks to more bytes than are read; the last that is reported."""
    RATIO = "ratio"
    """The archive unpacks to a suspicious multiple of its size; the last that is reported."""


class Member(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One member of an archive: a document of its own, or the reason why it is none."""

    name: str
    """Its path within the archive, with slashes; no empty, `.` or `..` part. Empty where the reason is about all the rest."""
    body: bytes = b""
    """Unpacked."""
    skipped: str = ""
    """A word of Skipped where it is no document; its body is empty then."""


@runtime_checkable
class Recognizer(Protocol):
    """Recognizes a format by its content."""

    def recognize(self, content_type: str, body: bytes, media_type: str) -> str | None:
        """The media type (lower case, without parameters), or None for a format that it does not know.

        `content_type` is the header as it came, `media_type` what the built-in recognizer makes of header and content.
        """
        ...


@runtime_checkable
class Summarizer(Protocol):
    """Makes summaries of documents of some formats."""

    media_types: frozenset[str]
    """Which: "application/pdf", "text/*" for a whole type, "+xml" for everything with that suffix."""

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:
        """The summary, or None for a document that it leaves to others or that cannot be read.

        `charset` is what is known of the encoding, or empty; `url` is canonical. It may block for seconds, keeps to one
        thread at a time, and does not touch the network.
        """
        ...


@runtime_checkable
class Expander(Protocol):
    """Takes archives of some formats apart."""

    media_types: frozenset[str]
    """As with summarizers."""

    def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]:
        """The members, one after the other, each unpacked when it is asked for. Archives within are members, not taken apart.

        It stops by itself at the bounds that its factory's configuration sets: `ExpandMembers`, `ExpandBytes`, `MaxBytes`.
        """
        ...
