"""Canonical options: which parameters of a URL count, and whether their order does.

Nothing is done unless the user asks for it, since either can lead to another resource. A parameter is a piece of the query
between `&`, or of a path segment after `;` (`/page;jsessionid=1`), and its name ends at its first `=`. With either option empty
pieces of the query vanish. Sorting is by name and stable: values of one name keep their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from parcahyd.config.schema import WorkConf
from parcahyd.rules.urls.canonical_url import Joiner, canonical

__all__ = ["Canon", "joining"]

_PATH_PARAMETER = re.compile(r";([^;/=]*+)(?:=[^;/]*+)?+")


class Canon:
    """Writes canonical URLs as StripParameters and SortParameters say. Applying it twice changes nothing more."""

    __slots__ = ("_names", "_prefixes", "_sorts")

    def __init__(self, strip: tuple[str, ...] = (), sort: bool = False) -> None:
        self._names = frozenset(name for name in strip if not name.endswith("*"))
        self._prefixes = tuple(name[:-1] for name in strip if name.endswith("*"))
        self._sorts = sort

    @classmethod
    def of(cls, work: WorkConf) -> Canon | None:
        """None where nothing is asked for: then URLs need not be looked at."""
        return cls(work.StripParameters, work.SortParameters) if work.StripParameters or work.SortParameters else None

    def apply(self, url: str) -> str:
        """The URL, which is canonical, in the spelling that stands for all that the options make equal."""
        if "?" not in url and ";" not in url:
            return url
        spelt = self._spell(url)
        if "%" not in spelt or spelt == url:
            return spelt
        # A stray percent sign kept the escapes of the whole URL as they were, and may have gone with its parameter.
        again = canonical(spelt)
        return spelt if again is None or again == spelt else self._spell(again)

    def _spell(self, url: str) -> str:
        head, mark, query = url.partition("?")
        if ";" in head:
            root = head.index("/", head.index("://") + 3)
            head = head[:root] + _PATH_PARAMETER.sub(self._kept_in_path, head[root:])
        if not mark:
            return head
        kept = [piece for piece in query.split("&") if piece and not self._strips(_name(piece))]
        if self._sorts:
            kept.sort(key=_name)
        return f"{head}?{'&'.join(kept)}" if kept else head

    def _kept_in_path(self, found: re.Match[str]) -> str:
        return "" if self._strips(found[1]) else found[0]

    def _strips(self, name: str) -> bool:
        return name in self._names or name.startswith(self._prefixes)


def _name(piece: str) -> str:
    return piece.partition("=")[0]


def joining(base: str, canon: Canon | None) -> Callable[[str], str | None]:
    """What resolves the references of a document against its base: `Joiner.join`, and the options where there are any."""
    join = Joiner(base).join
    if canon is None:
        return join
    apply = canon.apply

    def join_and_apply(href: str) -> str | None:
        url = join(href)
        return None if url is None else apply(url)

    return join_and_apply
