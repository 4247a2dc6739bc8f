r"""The similarity fingerprint: 64 bits that differ in few places when two documents show nearly the same text.

It is taken of *samples*: four bytes of text behind an anchor, such as the beginning of a word in p or s. Whether a place is an
anchor depends on the bytes around it and on nothing else, so two documents sample the text that they share at the same places,
and what one of them inserts, drops or moves touches only the samples that stand in it. Where there are few anchors, as in short
documents, more are looked for, rung by rung of a ladder. Not sampled are the head and what has `>`, `=`, `{`, `}` or `"` close
behind it before any `<`, for that stands in a tag, a comment, a script or a style sheet. (Prose in long comments and scripts of
the body is sampled. Finding their ends would cost as much as all the rest.)

Each kind of sample has 64 weights, and bit n says whether the n-th weights of all that occur sum up above zero. Weights are
heavy-tailed (P(|w| > x) is about 1/x), so that a few kinds decide a bit, and others the next one. Then the bits that turn are
about as many, in proportion, as the samples that change; with the equal weights of SimHash they go by the square root of that,
and one sample in twenty turns one bit in ten. The sums are those of integers with 64 lanes: one addition for 64 weights.

It cannot distinguish short pages of one template in which little but a name differs. Short pages also have few samples,
so that one changed sentence can move them beyond `WITHIN`.

Nothing depends on process, machine or version of Python. Changing anything here changes every fingerprint: old and new ones are
then not comparable.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

import pcre2

__all__ = [
    "NO_SIMILARITY",
    "WITHIN",
    "Fingerprint",
    "Take",
    "df_text",
    "distance",
    "fingerprint",
    "similarity",
    "taking",
]


# --- The document fingerprint DF: a small number that finds documents which are probably equal --------------------------
# Two documents with different DF are different. Two different documents have one DF with a probability of 2^-64 per pair: the
# paper's statement P23 gives (1/256)^16 for a 64-bit fingerprint, which takes each of its 16 hexadecimal digits for a byte; it
# is (1/16)^16. Among the paper's 16,544 files any collision has a probability of 7.4e-12, among a thousand million documents
# 0.027. Therefore DF only finds the candidate, and SHA-256 confirms before two URLs share a document.


class Fingerprint(NamedTuple):
    """What identifies a document's bytes."""

    df: int
    """The first eight bytes of the SHA-256, big-endian, signed as databases have it."""
    sha256: bytes


def fingerprint(skeleton: bytes | memoryview) -> Fingerprint:
    """The fingerprint of a document without its volatile regions (of the whole document where it has none)."""
    digest = sha256(skeleton).digest()
    return Fingerprint(int.from_bytes(digest[:8], "big", signed=True), digest)


def df_text(df: int) -> str:
    """DF as tables of links write it: `df64=` and 16 hexadecimal digits."""
    return f"df64={df & 0xFFFFFFFFFFFFFFFF:016x}"


# --- Everything that a pattern finds in a document, rewritten and joined, in one call of PCRE2 --------------------------


Take = Callable[[bytes, int], bytes]
"""Takes what stands for each match in a document, from some place on, one after the other. Raises `pcre2.LibraryError`."""


def taking(expression: str, replacement: bytes) -> Take:
    """What finds the expression, compiled to machine code, and gives the replacements; `$1` is the first group, or nothing."""
    pattern = pcre2.compile(expression.encode())
    try:
        quick = _quick(pattern, replacement)
        quick(b"", 0)
    except (AttributeError, TypeError):  # Another version of the binding.
        return _slow(pattern, replacement)
    return quick


def _slow(pattern: Any, replacement: bytes) -> Take:
    """By the binding's published functions: a microsecond or two for each match."""
    before, _, after = replacement.partition(b"$1")
    return lambda body, start: b"".join(before + (match[1] or b"") + after for match in pattern.finditer(body, start))


def _quick(pattern: Any, replacement: bytes) -> Take:
    """In one call: PCRE2 can give the replacements alone, which the binding knows but does not publish."""
    code, substitute, option = pattern._pcre2_code, pcre2._cy.substitute, pcre2._cy.SubstituteOption
    options = int(option.GLOBAL | option.UNSET_EMPTY | option.REPLACEMENT_ONLY)

    def take(body: bytes, start: int) -> bytes:
        taken: bytes = substitute(code, replacement, body, start, options)[0]
        return taken

    return take


NO_SIMILARITY = 0
"""The fingerprint of a document with too little text to say anything. It resembles nothing, not even itself."""

WITHIN = 4
"""Fingerprints that differ in at most so many bits are taken for those of near-duplicates: see `bench/similarity.py`."""

_TEXT = r'[^<>={}"]'
# Looks ahead only so far: enough for nearly all tags, and bounded on hostile documents.
_SHOWN = rf'(?!{_TEXT}{{0,80}}+[>={{}}"])'
# An anchor of two bytes, each one of at most two, is found by PCRE2 at the speed of memchr; any other is ten times as slow.
_SPARSE = rf" [ps]({_TEXT}{{4}}){_SHOWN}"
# For other scripts than Latin and text without spaces: two bytes that are neither rare nor too frequent in the UTF-8 of Arabic,
# Chinese, Cyrillic, Devanagari, Greek, Hebrew, Japanese and Korean.
_BEYOND_ASCII = r"[\xAA\xBA]([\x20\x80-\xFF]{4})"
_LADDER = {
    rf'e ([^<>={{}}"ato\s]{_TEXT}{{3}}){_SHOWN}': 18,  # a, t and o begin the stop words
    rf" [fm]({_TEXT}{{4}}){_SHOWN}": 12,
    rf' ([^<>={{}}"\s]{_TEXT}{{3}}){_SHOWN}': 12,
}
"""The rungs, and with how many kinds of samples each is not needed."""
_FOR_EACH_MISSING = 3
"""So many kinds of a rung make up for one that is missing: just short of enough is then not far from just enough."""
_TOO_FEW = 8
_MOST = 250
_LONGEST = 1 << 19
_LONGEST_HEAD = 1 << 15

_KINDS = 8179
"""A sample's kind is its remainder by this prime, modulo which the powers of 256 are far apart. Bounds the table of weights."""

_LANE = 2
_SIZE = 64 * _LANE
_ZERO = 128
"""What stands for a weight of zero in a lane: 250 samples of at most 255 fit into two bytes."""
_EVERY_LANE = int.from_bytes(b"\1\0" * 64, "little")
_HALF = 1 << 15
_HEAVY_TAIL = bytes(_ZERO + (1 if byte & 1 else -1) * min(127, 256 // (byte | 1)) for byte in range(256))
_DIGITS = b"0" * 128 + b"1" * 128
_SIGN = 1 << 63
_MASK = (1 << 64) - 1


class _Weights(dict[int, int]):
    """The 64 lanes of weights of each kind of sample, made when first asked for: at most `_KINDS` of 156 bytes."""

    def __missing__(self, kind: int) -> int:
        lanes = bytearray(_SIZE)
        lanes[::_LANE] = blake2b(kind.to_bytes(2, "little")).digest().translate(_HEAVY_TAIL)
        self[kind] = weights = int.from_bytes(lanes, "little")
        return weights


_take_sparse = taking(_SPARSE, b"$1")
_take_beyond_ascii = taking(_BEYOND_ASCII, b"$1")
_ladder = tuple((taking(expression, b"$1"), enough) for expression, enough in _LADDER.items())
_weights = _Weights()


def _kinds(samples: bytes) -> set[int]:
    numbers = array("I", samples)
    if sys.byteorder == "big":
        numbers.byteswap()
    return {number % _KINDS for number in numbers}


def _sampled(body: bytes) -> set[int]:
    start = max(body.find(b"</head", 0, _LONGEST_HEAD), 0)
    kinds = _kinds(_take_sparse(body, start) + _take_beyond_ascii(body, start))
    for take, enough in _ladder:
        missing = enough - len(kinds)
        if missing <= 0:
            break
        kinds.update(sorted(_kinds(take(body, start)))[: _FOR_EACH_MISSING * missing])
    return kinds if len(kinds) <= _MOST else set(sorted(kinds)[:_MOST])


def similarity(body: bytes) -> int:
    """The similarity fingerprint of an HTML document, signed as databases have it; `NO_SIMILARITY` if there is too little text.

    Of a document longer than half a megabyte, the beginning counts. Takes any bytes, in linear time; of encodings that do not
    contain ASCII, such as UTF-16, it says little.
    """
    try:
        kinds = _sampled(body if len(body) <= _LONGEST else body[:_LONGEST])
    except pcre2.LibraryError:
        return NO_SIMILARITY
    if len(kinds) < _TOO_FEW:
        return NO_SIMILARITY
    sums = sum(map(_weights.__getitem__, kinds)) + _EVERY_LANE * (_HALF - _ZERO * len(kinds))
    bits = int(sums.to_bytes(_SIZE, "little")[_LANE - 1 :: _LANE].translate(_DIGITS), 2)
    return (bits ^ _SIGN) - _SIGN


def distance(a: int, b: int) -> int:
    """In how many bits two fingerprints differ: 0 to 64, near 32 for unrelated text."""
    return ((a ^ b) & _MASK).bit_count()
