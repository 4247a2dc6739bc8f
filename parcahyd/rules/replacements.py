"""Everything that a pattern finds in a document, rewritten and joined, in one call of PCRE2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pcre2

__all__ = ["Take", "taking"]

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
