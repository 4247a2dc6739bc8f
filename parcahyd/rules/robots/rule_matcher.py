"""Finds the rule of a robots.txt that decides about a path: the longest that matches, and Allow where two are equally long.

A rule is as long as its path is written (RFC 9309, section 2.2.2): `?` counts as one octet and `%3F` as three. An octet outside
ASCII is escaped before, as Google's parser does, and counts as three. Paths are compared in one spelling: an escaped letter
equals the letter, and every character but letters, digits and `-._~/=` equals its escape. `*` in a rule stands for anything.

Nothing here goes back in a path to try again, so no rule costs more than one reading of the path. A thousand rules without
`*` cost as much as ten: they are looked up by their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

__all__ = ["Rule", "RuleMatcher"]

_END = "\n"
"""Stands for the end of a path, where a rule ends with `$`. No path in the one spelling holds it."""
_OTHER_SPELLING = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~/=%-]")
_HAS_OTHER_SPELLING = re.compile(r"[^A-Za-z0-9._~/=-]").search
_UNESCAPED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~=")
_INDEX = re.compile(r"(.*/)index\.htm[^/]*+", re.DOTALL)


class Rule(msgspec.Struct, frozen=True):
    """One line of a robots.txt: `Allow` or `Disallow`."""

    allow: bool
    path: str
    """As it is written, in ASCII."""
    place: str
    """For people: `line 3`."""

    @property
    def record(self) -> str:
        return f"{'Allow' if self.allow else 'Disallow'}: {self.path}"

    @property
    def rank(self) -> int:
        """Of the rules that match, the one with the highest rank decides."""
        return 2 * len(self.path) + self.allow


class RuleMatcher:
    """The rules for one user agent. A rule without a path matches nothing."""

    __slots__ = ("_lengths", "_plain", "_with_wildcards")

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._plain: dict[str, tuple[int, Rule]] = {}
        """By the text that a path begins with: rank and rule."""
        self._with_wildcards: list[tuple[int, list[str], Rule]] = []
        """Rank, the texts between the wildcards, and the rule; the highest rank first."""
        for rule in rules:
            self._add(rule.path, rule.rank, rule)
            if rule.allow and (index := _INDEX.fullmatch(rule.path)):
                # Who allows a folder's index page allows the folder, as Google's parser has it.
                folder = Rule(True, f"{index[1]}$", rule.place)
                self._add(folder.path, folder.rank, rule)
        self._with_wildcards.sort(key=lambda entry: entry[0], reverse=True)
        self._lengths = sorted({len(text) for text in self._plain})

    def deciding(self, path: str) -> Rule | None:
        """The rule that decides about a path with its query; None where no rule matches."""
        if not self._lengths and not self._with_wildcards:
            return None
        path = _one_spelling(path) + _END
        highest, deciding = 0, None
        for length in self._lengths:
            if length > len(path):
                break
            found = self._plain.get(path[:length])
            if found is not None and found[0] > highest:
                highest, deciding = found
        for rank, texts, rule in self._with_wildcards:
            if rank <= highest:
                break
            if _holds(path, texts):
                return rule
        return deciding

    def _add(self, path: str, rank: int, rule: Rule) -> None:
        texts = [_one_spelling(text) for text in path.removesuffix("$").split("*")]
        if path.endswith("$"):
            texts[-1] += _END
        while len(texts) > 1 and not texts[-1]:
            texts.pop()  # A `*` at the end changes nothing but the length.
        if len(texts) > 1:
            self._with_wildcards.append((rank, texts, rule))
        elif path and rank > self._plain.get(texts[0], (0, None))[0]:
            self._plain[texts[0]] = rank, rule


def _holds(path: str, texts: list[str]) -> bool:
    """Whether the path begins with the first text and holds the others after it, in this order.

    The first place for each text leaves most room for the next, so no other place needs to be tried.
    """
    if not path.startswith(texts[0]):
        return False
    at = len(texts[0])
    for text in texts[1:]:
        at = path.find(text, at)
        if at < 0:
            return False
        at += len(text)
    return True


def _one_spelling(text: str) -> str:
    # Nearly every path is in it already.
    return _OTHER_SPELLING.sub(_respelt, text) if _HAS_OTHER_SPELLING(text) else text


def _respelt(found: re.Match[str]) -> str:
    text = found[0]
    if len(text) == 1:
        return "".join([f"%{octet:02X}" for octet in text.encode(errors="replace")])
    octet = int(text[1:], 16)
    return chr(octet) if octet in _UNESCAPED else text.upper()
