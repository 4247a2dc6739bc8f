"""Pages with links that were left out, since their site had no room for them; each is read again when there is room.

Room grows with every page that a site gives (`rules.traps.site_room`). So the pages of an honest site are read again until all
its links are known. A page that has new links every time is read again for a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Select, bindparam, delete, insert, literal_column, null, select, update

from parcahyd.core.states import Event, State
from parcahyd.rules.html.link_tags import MAX_LINKS
from parcahyd.rules.traps.site_room import NO_LIMIT, site_room
from parcahyd.storage.expressions import MOST, ONE, ZERO, bound, numbers, pairs, same
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import STORED, overfull, sites, state_after, urls
from parcahyd.storage.writer import Writer

__all__ = ["OverfullPages"]

_AT_ONCE = 1000
"""Pages of one site that are made due together."""
_SPARE_READS = 10
"""Room may be gone when a page is read again, so it gets some more tries than its links need."""

_PLACE = ("site_id", "key")
_LEFT = ("left_out", "left_out_external")
_NO_VALIDATORS: dict[str, Any] = {name: literal_column("''") for name in ("etag", "modified")}
_PAIR = pairs()
_IS_URL = (urls.c.site_id == overfull.c.site_id) & (urls.c.key == overfull.c.key)
_SITES = select(overfull.c.site_id).distinct()
_PRESENT: Select[Any] = select(overfull.c.site_id, overfull.c.key).join_from(
    _PAIR, overfull, (overfull.c.site_id == _PAIR.c.site_id) & (overfull.c.key == _PAIR.c.key)
)
_INSERT = insert(overfull).values(bound(*_PLACE, *_LEFT))
_UPDATE = update(overfull).where(*same(overfull, *_PLACE)).values(bound(*_LEFT))
_DELETE = delete(overfull).where(*same(overfull, *_PLACE))
_ROOM_OF = select(sites.c.id, sites.c.urls - sites.c.urls_from_others, sites.c.pages).where(sites.c.id.in_(numbers("ids")))
_READABLE = (
    select(overfull.c.key, overfull.c.left_out)
    .join(urls, _IS_URL)
    .where(
        overfull.c.site_id == bindparam("site_id"),
        overfull.c.left_out > ZERO,
        overfull.c.reads < bindparam("most_reads"),
        urls.c.state == STORED,
        urls.c.depth < bindparam("max_depth"),
    )
    .order_by(overfull.c.key)
    .limit(MOST)
)
_MAKE_DUE = (
    update(urls)
    .where(*same(urls, *_PLACE), urls.c.state == STORED)
    .values(state=state_after(Event.MORE_ROOM, State.STORED), reason=null(), due_at=bindparam("now"), **_NO_VALIDATORS)
)
_COUNT_READ = update(overfull).where(*same(overfull, *_PLACE)).values(reads=overfull.c.reads + ONE)


class OverfullPages:
    """Notes which pages are overfull, and has them read again; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState) -> None:
        self._writer = writer
        self._state = state
        self._sites: set[int] | None = None
        """Sites that have such pages: hardly any, so that nothing is looked up for the others."""
        writer.on_failure(self._forget)

    def _forget(self) -> None:
        self._sites = None

    def _has_some(self) -> set[int]:
        if self._sites is None:
            self._sites = {site for (site,) in self._writer.rows(_SITES)}
        return self._sites

    def note(self, pages: Sequence[tuple[int, int, int, int]]) -> None:
        """Stores how many links of pages were left out: site, key, links to the site itself, links to others."""
        has_some = self._has_some()
        meant = [page for page in pages if page[2] or page[3] or page[0] in has_some]
        if not meant:
            return
        places = self._writer.lists.pairs([page[:2] for page in meant])
        present = {(site, key) for site, key in self._writer.rows(_PRESENT, **places)}
        rows = [dict(zip((*_PLACE, *_LEFT), page, strict=True)) for page in meant]
        left = [row for row in rows if row["left_out"] or row["left_out_external"]]
        self._writer.many(_INSERT, [row for row in left if (row["site_id"], row["key"]) not in present])
        self._writer.many(_UPDATE, [row for row in left if (row["site_id"], row["key"]) in present])
        gone = [row for row in rows if not (row["left_out"] or row["left_out_external"])]
        self._writer.many(_DELETE, [row for row in gone if (row["site_id"], row["key"]) in present])
        has_some.update(row["site_id"] for row in left)

    def read_all_again(self, now: float) -> Collection[int]:
        """The same for every site, at the start of a run: settings may make room. Returns the sites."""
        ids = self._has_some()
        self.read_again(dict.fromkeys(ids, now))
        return ids

    def read_again(self, over: Mapping[int, float]) -> None:
        """Makes overfull pages due of sites whose visit is over, by the time of its end, as far as there is room."""
        ids = self._has_some().intersection(over)
        if not ids:
            return
        work = self._state.work
        of_a_page = work.MaxNewUrls or NO_LIMIT
        most_reads = MAX_LINKS // of_a_page + _SPARE_READS
        due: list[dict[str, Any]] = []
        for site, brought, pages in self._writer.rows(_ROOM_OF, ids=self._writer.lists.bind(list(ids))):
            if work.MaxPagesPerSite and pages >= work.MaxPagesPerSite:
                continue  # Its new links would be refused.
            room = site_room(work.MaxSiteUrls, brought, pages)
            found = self._writer.rows(
                _READABLE, site_id=site, most_reads=most_reads, max_depth=self._state.max_depth, most=_AT_ONCE
            )
            for key, left_out in found:
                wanted = min(left_out, of_a_page)
                if wanted <= room:
                    room -= wanted
                    due.append({"site_id": site, "key": key, "now": over[site]})
        self._writer.many(_MAKE_DUE, due)
        self._writer.many(_COUNT_READ, due)
