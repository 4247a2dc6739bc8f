"""What a model looks at: words, pieces of words, and words of the URL, each by a number of 32 bits.

A piece is four letters in a row, with the ends of the word as letters: `<spo`, `spor`, `port`, `ort>`. Forms of one word share
pieces, so that a model that saw few pages knows words that it never saw. Pieces belong to a word wherever it stands, so they
cost nothing at the second time a word is met.

The numbers are CRC-32, which is the same everywhere. Two features rarely have one number; then they count as one.

Tested in tests/topics/test_features.py.
"""

from __future__ import annotations

from zlib import crc32

__all__ = ["PIECE", "feature_numbers", "url_words"]

PIECE = 4
"""Letters of a piece."""

_LONGEST_WORD = 30
"""A longer one has no pieces: it is not a word."""
_LONGEST_PATH = 300
_LETTERS = bytes(byte if 97 <= byte <= 122 else 32 for byte in range(256))
_MOST_FOLDERS = 6


def url_words(path: str) -> list[bytes]:
    """What the path of a URL says: its words, how deep it is, how it ends, and whether it is somebody's own folder.

    Each begins with a slash, so that it is no word of a text. The host is left out: a model learns topics, not sites.
    """
    path = path.partition("#")[0][:_LONGEST_PATH].lower()
    folders = min(path.count("/") - 1 - path.count("//"), _MOST_FOLDERS)
    text = path.encode("utf-8", "replace")
    found = {*text.translate(_LETTERS).split(), b"depth %d" % folders, b"end %b" % text.rpartition(b"/")[2][:20]}
    if b"~" in text:
        found.add(b"~")
        if text.startswith(b"/~"):
            found.add(b"~ %d" % folders)
    return [b"/" + word for word in found]


def feature_numbers(word: bytes, has_pieces: bool) -> list[int]:
    """The features that a word of a page or of its URL brings, as numbers."""
    numbers = [crc32(word)]
    if has_pieces and word[:1] != b"/" and len(word) <= _LONGEST_WORD:
        ended = b"<%b>" % word
        numbers += [crc32(b"%%%b" % ended[at : at + PIECE]) for at in range(len(ended) - PIECE + 1)]
    return numbers
