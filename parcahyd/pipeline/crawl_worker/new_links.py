"""Finds the links of a document that are new, and separates those of this site from those of others.

Nearly every tag of a page was on an earlier page, so the bytes of tags are remembered per directory: the same tag in the same
directory leads to the same URL, unless its reference is empty or begins with a query. `Room` bounds the memory. A tag that was
forgotten is only resolved once more.

New paths of this site are judged. Those that are refused are returned with their reason, a bounded number per page: a page with
a hundred thousand links into a trap must not fill the database. Links that ask not to be followed are returned in the same way,
and are forgotten again: another link may lead there without asking for that. New links beyond the visit's `LinkBudget` are
counted and left out. They stay new, so that they are found when the page is read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Set
from typing import NamedTuple

from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.pipeline.crawl_worker.link_budget import LinkBudget
from parcahyd.rules.html.links import PageLinks
from parcahyd.rules.traps.site_room import NO_LIMIT
from parcahyd.rules.urls.canonical_url import Joiner, Prefixes, key_of, shortened
from parcahyd.rules.urls.parameters import Canon, joining

__all__ = ["NOT_TOLD", "Linked", "NewLinkFinder", "NewLinks", "linked"]

_REMEMBERED = 50_000
"""Tags and targets that one visit remembers; older ones hardly occur again."""


_REFUSED_OF_A_PAGE = 100
"""Refused links of one page that are recorded for each reason."""


_Directory = tuple[set[bytes], Prefixes | None, Callable[[str], str | None]]


class NewLinks(NamedTuple):
    """The links of a document that were not seen before."""

    internal: list[tuple[int, str]]
    """Paths of this site, with their keys."""
    external: list[str]
    """URLs of other sites."""
    refused: list[tuple[str, str]]
    """The word of the reason, and a path of this site or a URL of another site."""
    left_out: int = 0
    """How many paths of this site there was no room for."""
    left_out_external: int = 0
    """How many URLs of other sites."""


class Linked(NamedTuple):
    """What a document links to, new or not."""

    paths: tuple[str, ...] = ()
    """Paths of this site that were seen before."""
    found: int = 0
    """How many documents there are, new ones included."""


NOT_TOLD = Linked()
_LINKED = 1000
"""Links of a page that an order is told of."""


def linked(origin: str, url: str, links: PageLinks, new: NewLinks, max_url_length: int, canon: Canon | None) -> Linked:
    """All links of a document, without what earlier documents have shown: each is resolved anew, a microsecond or two."""
    room = Room(0, _LINKED, _LINKED)
    found = NewLinkFinder(origin, KnownUrls(b"", True, room), room, max_url_length, canon=canon).find(
        url, links, embedded=False
    )
    fresh = {key for key, _ in new.internal}
    paths = tuple([path for key, path in found.internal if key not in fresh][:_LINKED])
    return Linked(paths, len(found.internal) + len(found.external))


def _refuse_none(_path: str) -> None:
    return None


class NewLinkFinder:
    """Finds the new links of one visit's documents. `judge` says why a new path of this site is refused, or None."""

    __slots__ = (
        *("_budget", "_canon", "_directories", "_judge", "_known", "_left_out", "_left_out_external", "_max_length"),
        *("_most_external", "_most_internal", "_origin", "_prefix", "_remembered", "_room", "_targets", "early_keys"),
    )

    def __init__(
        self,
        origin: str,
        known: KnownUrls,
        room: Room,
        max_url_length: int,
        judge: Callable[[str], Reason | None] = _refuse_none,
        canon: Canon | None = None,
        budget: LinkBudget | None = None,
    ) -> None:
        self._budget = budget
        self._most_internal = self._most_external = NO_LIMIT
        self._left_out = self._left_out_external = 0
        self._origin = len(origin)
        self._prefix = origin + "/"
        self._known = known
        self._room = room
        self._max_length = max_url_length
        self._judge = judge
        self._canon = canon
        self._directories: dict[str, _Directory] = {}
        self._remembered = 0
        self._targets: set[str] = set()
        self.early_keys: Set[int] = frozenset()
        """Keys of paths that were judged already, when a table of links named them."""

    def find(self, url: str, links: PageLinks, embedded: bool, is_new_page: bool = True) -> NewLinks:
        """The new links of a document; `is_new_page`: its URL had none before."""
        if self._budget is None:
            return self._find(url, links, embedded)
        self._left_out = self._left_out_external = 0
        self._most_internal, self._most_external = self._budget.open_page(is_new_page)
        new = self._find(url, links, embedded)
        self._budget.spend(len(new.internal), len(new.external))
        if not self._left_out and not self._left_out_external:
            return new
        return new._replace(left_out=self._left_out, left_out_external=self._left_out_external)

    def _find(self, url: str, links: PageLinks, embedded: bool) -> NewLinks:
        base = Joiner(url).join(links.base) or url if links.base else url
        seen, prefixes, join = self._directory(base)
        targets, found_by = self._targets, links.found
        before = len(seen) + len(targets)
        new = NewLinks([], [], [])
        for lead in links.leads(seen, prefixes, targets):
            if isinstance(lead, str):
                self._classify(lead, new)
                continue
            found = found_by[lead]
            if found.way is not None and prefixes is not None:
                target = prefixes[found.way[0]] + found.way[1]
                if target not in targets:
                    targets.add(target)
                    self._classify(target, new)
                continue
            resolve = join
            if found.hangs_on_page:
                seen.discard(lead)
                resolve = joining(base, self._canon)
            for href in found.follow + found.embedded if embedded else found.follow:
                resolved = resolve(href) if href or links.base else None
                if resolved is not None and resolved not in targets:
                    targets.add(resolved)
                    self._classify(resolved, new)
        self._remember(len(seen) + len(targets) - before)
        return new._replace(refused=_limited(new.refused)) if len(new.refused) > _REFUSED_OF_A_PAGE else new

    def add_nofollow(self, url: str, links: PageLinks, new: NewLinks, is_whole_page: bool, is_obeyed: bool) -> None:
        """Add what links with nofollow lead to: as refused, or where that is not obeyed as new links like others.

        `is_whole_page`: the page asks for it, so each of its links does.
        """
        hrefs = links.follow if is_whole_page else links.nofollow
        if not hrefs:
            return
        join = joining(Joiner(url).join(links.base) or url if links.base else url, self._canon)
        refused = 0
        for href in hrefs:
            target = join(href)
            if target is None or target in self._targets:
                continue
            if not is_obeyed:
                self._targets.add(target)
                self._remembered += 1
                self._room.links -= 1
                self._classify(target, new)
            elif refused < _REFUSED_OF_A_PAGE and len(target) <= self._max_length:
                refused += self._refuse(target, Reason.NOFOLLOW, new)

    def refuse_all(self, url: str, links: PageLinks, reason: Reason) -> NewLinks:
        """The links of a page that are new, refused for a reason of the page. They stay new: another page may lead there."""
        new = NewLinks([], [], [])
        join = joining(Joiner(url).join(links.base) or url if links.base else url, self._canon)
        for href in links.follow:
            target = join(href)
            if target is not None and target not in self._targets and len(target) <= self._max_length:
                self._refuse(target, reason, new)
                if len(new.refused) >= _REFUSED_OF_A_PAGE:
                    break
        return new

    def _refuse(self, target: str, reason: Reason, new: NewLinks) -> bool:
        if target.startswith(self._prefix):
            path = target[self._origin :]
            key = key_of(path)
            if not self._known.add(key):
                return False
            self._known.take_back(key)
            target = path
        new.refused.append((reason.word, target))
        return True

    def is_new_path(self, path: str) -> int | None:
        """The key of a path of this site that was not seen before, or None. The path counts as seen from now on."""
        key = key_of(path)
        return key if self._known.add(key) and key not in self.early_keys else None

    def _classify(self, target: str, new: NewLinks) -> None:
        if len(target) > self._max_length:
            self._refuse_long(target, new)
        elif target.startswith(self._prefix):
            path = target[self._origin :]
            key = key_of(path)
            if len(new.internal) >= self._most_internal:
                self._left_out += key not in self._known
            elif self._known.add(key):
                reason = self._judge(path) if key not in self.early_keys else None
                if reason is None:
                    new.internal.append((key, path))
                else:
                    self._known.take_back(key)
                    new.refused.append((reason.word, path))
        elif len(new.external) < self._most_external:
            new.external.append(target)
        else:
            self._left_out_external += 1

    def _refuse_long(self, target: str, new: NewLinks) -> None:
        short = shortened(target)
        if short is not None:
            new.refused.append((Reason.LENGTH.word, short[self._origin :] if short.startswith(self._prefix) else short))

    def _directory(self, base: str) -> _Directory:
        """Of the directory of a base URL: the tags seen there, the prefixes of plain references (None where settings change
        URLs), and the function that resolves other references, as far as they do not depend on the page."""
        end = base.rfind("/") if "?" not in base else base.rfind("/", 0, base.index("?"))
        directory = self._directories.get(base[:end])
        if directory is None:
            prefixes = Joiner(base).prefixes if self._canon is None else None
            directory = self._directories[base[:end]] = set(), prefixes, joining(base, self._canon)
        return directory

    def _remember(self, more: int) -> None:
        self._remembered += more
        self._room.links -= more
        if self._remembered > _REMEMBERED or self._room.links < 0:
            self.forget()

    def forget(self) -> None:
        """Give the room back: it is used up, or the visit is over."""
        self._room.links += self._remembered
        self._remembered = 0
        self._directories.clear()
        self._targets.clear()


def _limited(refused: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first refused links of each reason, as many as are recorded."""
    counts: Counter[str] = Counter()
    kept = []
    for word, target in refused:
        counts[word] += 1
        if counts[word] <= _REFUSED_OF_A_PAGE:
            kept.append((word, target))
    return kept
