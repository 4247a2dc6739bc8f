r"""Include and Exclude: patterns of whole URLs.

In a pattern `*` stands for any text, also an empty one, and every other character for itself; it must fit from the URL's first
character to its last. Such a pattern is looked up piece by piece, in time linear in the URL. Behind `re:` stands a regular
expression of PCRE2, which must be found somewhere in the URL; `^` and `$` bind it to the ends. It may take a bounded number of
steps: a URL on which it takes more is refused, whichever list it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import pcre2

__all__ = ["UrlPatterns"]

_MOST_STEPS = 50_000
_REGULAR = "re:"

_Matcher = Callable[[str], bool | None]
"""Whether a URL fits; None where that takes too many steps."""


class UrlPatterns:
    """Says of a URL whether one pattern of `include` fits it, unless there are none, and none of `exclude` does.

    ValueError, with a sentence, for a pattern that cannot be read.
    """

    __slots__ = ("_exclude", "_include")

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = [(pattern, _matcher(pattern)) for pattern in include]
        self._exclude = [(pattern, _matcher(pattern)) for pattern in exclude]

    @staticmethod
    @lru_cache(maxsize=4)  # every visit of a worker asks for the same
    def of(include: tuple[str, ...], exclude: tuple[str, ...]) -> UrlPatterns | None:
        """None where there is no pattern: then URLs need not be looked at."""
        return UrlPatterns(include, exclude) if include or exclude else None

    def admits(self, url: str) -> bool:
        return self.verdict(url)[0]

    def verdict(self, url: str) -> tuple[bool, str]:
        """Whether the URL may pass, and the sentence that names the pattern that decided."""
        for pattern, fits in self._exclude:
            answer = fits(url)
            if answer is not False:
                return False, _sentence("Exclude", pattern, answer)
        if not self._include:
            return True, "no pattern of Exclude fits"
        for pattern, fits in self._include:
            answer = fits(url)
            if answer is not False:
                return bool(answer), _sentence("Include", pattern, answer)
        return False, "no pattern of Include fits"


def _sentence(setting: str, pattern: str, answer: bool | None) -> str:
    return f'{setting} has "{pattern}"' + ("" if answer else ", which takes too many steps on this URL")


def _matcher(pattern: str) -> _Matcher:
    return _regular(pattern[len(_REGULAR) :]) if pattern.startswith(_REGULAR) else _wildcards(pattern)


def _wildcards(pattern: str) -> _Matcher:
    head, *rest = pattern.split("*")
    if not rest:
        return pattern.__eq__
    *middle, tail = rest
    middle = [piece for piece in middle if piece]
    least = len(head) + len(tail)

    def fits(url: str) -> bool:
        if len(url) < least or not url.startswith(head) or not url.endswith(tail):
            return False
        at, end = len(head), len(url) - len(tail)
        for piece in middle:
            at = url.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True

    return fits


def _regular(expression: str) -> _Matcher:
    try:
        search: Callable[[str], Any] = pcre2.compile(f"(*LIMIT_MATCH={_MOST_STEPS}){expression}").search
    except pcre2.PatternError as error:
        raise ValueError(f'"{_REGULAR}{expression}" is no regular expression: {error}') from None

    def fits(url: str) -> bool | None:
        try:
            return search(url) is not None
        except pcre2.LibraryError:
            return None

    return fits
