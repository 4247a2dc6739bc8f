"""The rows of `urls` and `seeds`: where each URL of a batch stands, links that are seen, seeds, and URLs that gave no document.

A URL's place is its site and the key of its path. If another URL has that place, it takes the next free key (architecture,
section 5). So a place is used only after the path was compared.

Tested in tests/storage/test_urls.py, tests/storage/test_seeds.py and tests/storage/test_bad_urls.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, insert, literal_column, null, or_, select, true, update

from parcahyd.core.ports import Order
from parcahyd.core.records import BadRecord, origin
from parcahyd.core.states import SETTINGS_OF, Event, Reason, State
from parcahyd.rules.urls.canonical_url import split
from parcahyd.rules.urls.cross_links import OPEN_SCHEMES
from parcahyd.rules.urls.orders import FIRST, ByDepth, ByPageRank, moved
from parcahyd.storage.exchanges import ExchangeRows
from parcahyd.storage.expressions import ZERO, bound, inserting, numbers, pairs, plain, same, time_bound, updating, words
from parcahyd.storage.other_partitions import FoundUrl, OtherPartitions
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import KNOWN, seeds, sites, state_after, urls
from parcahyd.storage.sites import SiteRows, never
from parcahyd.storage.writer import Writer

__all__ = ["SEEN_BEFORE", "BadUrlRows", "SeedRows", "SeenUrl", "UrlLookup", "UrlRow", "UrlRows"]

SeenUrl = tuple[int, int, str, int, int, str, bool, int, int | None, int]
"""A URL that was seen: site, key, path, depth, hops, the word of the reason why it is refused wherever it was seen (empty: it
is not), whether it counts as a seed, the site whose page brought it (0: its own, or the user), the key of that page, and what
the page adds to its priority."""


def _is_not_followed(seen: SeenUrl) -> bool:
    return seen[5] in _OF_LINKS


def _was_seen_before(seen: SeenUrl) -> bool:
    return seen[5] == SEEN_BEFORE


def _summed(seen_urls: Iterable[SeenUrl]) -> list[SeenUrl]:
    """Each URL once, with what all links to it add."""
    found: dict[tuple[int, int, str], SeenUrl] = {}
    for seen in seen_urls:
        first = found.setdefault(seen[:3], seen)
        if first is not seen:
            found[seen[:3]] = (*first[:9], first[9] + seen[9])
    return list(found.values())


_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_KNOWN = int(State.KNOWN)
_depth = itemgetter(3)
_weight = itemgetter(9)
SEEN_BEFORE = "seen before"
"""Stands for the word of a reason: if there is no row of this URL, none is made."""
_OF_LINKS = frozenset((Reason.NOFOLLOW.word, Reason.TOPIC.word))
"""Reasons of the page that a link stands on: another page may lead there."""
_RECONSIDERED = _OF_LINKS | {Reason.DEPTH.word, Reason.REDIRECTS.word, Reason.LOCAL.word, Reason.PORT.word}


class UrlRow(NamedTuple):
    """The columns of a URL that a batch needs."""

    path: str
    state: int
    reason: str | None
    depth: int
    hops: int
    seed: bool
    document_id: int | None
    fetch_id: int | None
    priority: int


_PLACE = ("site_id", "key", "path")
_WAY = ("depth", "hops", "seed", "priority")

_PAIR = pairs()
_LOOK_UP = select(urls.c.site_id, urls.c.key, *(urls.c[name] for name in UrlRow._fields)).join_from(
    _PAIR, urls, (urls.c.site_id == _PAIR.c.site_id) & (urls.c.key == _PAIR.c.key)
)
# Most values of a new URL are constants. They stand in the statements: Python's sqlite3 is slow with None and with bool.
_INSERT_KNOWN = insert(urls).values(
    {
        **bound(*_PLACE, "depth", "hops", "priority", "first_seen", "via_site", "via_key"),
        "state": state_after(Event.SEEN, None),
        "due_at": bindparam("first_seen"),
    }
)
_INSERT_REFUSED = insert(urls).values(
    {
        **bound(*_PLACE, "reason", "depth", "hops", "first_seen", "via_site", "via_key"),
        "state": state_after(Event.REFUSAL, None),
        "priority": bindparam("depth"),
    }
)
_NEARER = (
    update(urls)
    .where(*same(urls, *_PLACE))
    .values(
        state=state_after(Event.SECOND_LOOK, State.KNOWN, State.REFUSED),
        reason=null(),
        detail=null(),
        depth=bindparam("depth"),
        hops=bindparam("hops"),
        priority=bindparam("priority"),
        due_at=func.coalesce(urls.c.due_at, time_bound("now", urls.c.due_at)),
    )
)
_SEEN_AGAIN = updating(urls, _PLACE, "priority").where(urls.c.state == KNOWN)
_ANY = select(urls.c.key).limit(1)
_MARK_AS_SEED = update(urls).where(*same(urls, *_PLACE)).values(seed=true())


class UrlLookup:
    """The places that a batch uses: the rows that the database has there, and the paths that the batch writes there."""

    def __init__(self, rows: dict[tuple[int, int], UrlRow], look: Callable[[int, int], UrlRow | None]) -> None:
        self.rows = rows
        self.taken: dict[tuple[int, int], str] = {}
        """By place: the path that this batch writes there."""
        self._look = look

    def place(self, site: int, key: int, path: str) -> tuple[int, UrlRow | None]:
        """The key of a URL and its row; the first free key and None where it has no row."""
        while True:
            row = self.rows.get((site, key))
            other = self.taken.get((site, key)) if row is None else row.path
            if other is None or other == path:
                return key, row
            key = _LOWEST if key == _HIGHEST else key + 1
            if (site, key) not in self.rows and (beside := self._look(site, key)) is not None:
                self.rows[site, key] = beside


class UrlRows:
    """Looks up URLs and inserts new ones; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, sites: SiteRows, key_of: Callable[[str], int]) -> None:
        self._writer = writer
        self._state = state
        self._sites = sites
        self.key_of = key_of
        self.order: Order = ByDepth()
        """Gives the priority of known URLs."""
        self.others: OtherPartitions | None = None

    def is_empty(self) -> bool:
        """Whether the database has no URL."""
        return not self._writer.rows(_ANY)

    def look_up(self, places: Collection[tuple[int, int]]) -> UrlLookup:
        """Reads the rows at the places in one query."""
        rows: dict[tuple[int, int], UrlRow] = {}
        if places:
            for row in self._writer.rows(_LOOK_UP, **self._writer.lists.pairs(places)):
                rows[row[:2]] = UrlRow._make(row[2:])
        return UrlLookup(rows, self._read)

    def _read(self, site: int, key: int) -> UrlRow | None:
        return self.look_up([(site, key)]).rows.get((site, key))

    def seen_of(self, found_urls: Sequence[FoundUrl], weight: int = 0, *, from_letters: bool = False) -> list[SeenUrl]:
        """Absolute URLs with their places before any conflict. URLs outside the scope are refused; seeds in scope never are.

        Those that live in another partition are posted there, and judged there.
        """
        if self.others is not None:
            found_urls = self._without_foreign(found_urls, self.others, from_letters=from_letters)
        key_of, refusal = self.key_of, self._sites.refusal
        parts = [split(url) for url, *_ in found_urls]
        found = self._sites.find(part[:3] for part in parts)
        seen_urls: list[SeenUrl] = []
        has_odd = not OPEN_SCHEMES.issuperset([part[0] for part in parts])
        links = [(one[5], part[:3]) for one, part in zip(found_urls, parts, strict=True)] if has_odd else []
        crossing = self._sites.crossing(links)
        for (url, depth, hops, seed, word, asker, via), part in zip(found_urls, parts, strict=True):
            site, inside = found[part[:3]]
            if crossing and (crossed := crossing.get((asker, part[:3]))) is not None:
                seen_urls.append((site, key_of(part[3]), part[3], depth, hops, crossed.word, False, asker, via, 0))
                continue
            is_seed = seed and inside
            # A link that may not be followed and leaves the crawl's scope is refused for its scope: that is the firmer reason.
            why = "" if is_seed else (refusal(url, inside) or word if word in _OF_LINKS else word or refusal(url, inside))
            brought = 0 if asker == site else asker
            seen_urls.append((site, key_of(part[3]), part[3], depth, hops, why, is_seed, brought, via, weight))
        return seen_urls

    def _without_foreign(
        self, found_urls: Sequence[FoundUrl], others: OtherPartitions, *, from_letters: bool
    ) -> Sequence[FoundUrl]:
        """Posts what lives elsewhere. Whether a link may lead there by its scheme is judged here, where the asking site is.

        What may not be followed stays, and is refused here: nobody else is told of it.
        """
        links = [(url[5], split(url[0])[:3]) for url in found_urls if url[0].partition(":")[0] not in OPEN_SCHEMES]
        crossing = self._sites.crossing(links)
        staying: list[FoundUrl] = []
        if crossing:
            going: list[FoundUrl] = []
            for url in found_urls:
                (staying if (url[5], split(url[0])[:3]) in crossing else going).append(url)
            found_urls = going
        ours, askers = others.post_urls(found_urls, from_letters=from_letters)
        self._sites.count_posted(askers)
        return ours + staying

    def insert_seen(self, lookup: UrlLookup, seen_urls: Sequence[SeenUrl], now: float) -> int:
        """Inserts URLs that were never seen before, as known or refused; returns how many.

        A known URL, and one that was refused for its depth or redirects, takes the smaller depth if this one is smaller. One
        that was refused because links asked not to be followed is known now, if this one does not.
        """
        seen_urls = self._in_order(seen_urls)
        known: list[dict[str, Any]] = []
        refused: list[dict[str, Any]] = []
        seeds: list[tuple[int, int, str]] = []
        nearer: list[dict[str, Any]] = []
        again: list[dict[str, Any]] = []
        brought: list[tuple[int, int]] = []
        order = self.order
        rows, taken = lookup.rows, lookup.taken
        max_depth, max_hops = self._state.max_depth, self._state.work.MaxRedirects
        for site, key, path, depth, hops, refusal, seed, asker, via, weight in seen_urls:
            place = (site, key)
            if place in taken or place in rows:
                key, row = lookup.place(site, key, path)  # noqa: PLW2901 (the key after conflicts)
                place = (site, key)
                if place in taken:
                    continue
                if row is not None:
                    if not refusal and self._is_nearer(row, depth, hops):
                        taken[place] = path
                        nearer.append(
                            {
                                "site_id": site,
                                "key": key,
                                "path": path,
                                "depth": depth,
                                "hops": hops,
                                "priority": max(FIRST, order.first(path, depth) + weight),
                                "now": now,
                            }
                        )
                    elif row.state == _KNOWN and (
                        (priority := moved(row.priority, order.again(row.priority), weight)) != row.priority
                    ):
                        again.append({"site_id": site, "key": key, "path": path, "priority": priority})
                    continue
            if refusal == SEEN_BEFORE:
                continue
            taken[place] = path
            new = {
                "site_id": site,
                "key": key,
                "path": path,
                "depth": depth,
                "hops": hops,
                "first_seen": now,
                "via_site": asker,
                "via_key": via,
            }
            if not refusal and depth <= max_depth and hops <= max_hops:
                new["priority"] = max(FIRST, order.first(path, depth) + weight)
                known.append(new)
            else:
                new["reason"] = refusal or self._too_far(depth, hops)
                refused.append(new)
            if seed:
                seeds.append((site, key, path))
            brought.append((asker, site))
        self._writer.many(_INSERT_KNOWN, known)
        self._writer.many(_INSERT_REFUSED, refused)
        self.mark_seeds(seeds)
        self._writer.many(_NEARER, nearer)
        self._writer.many(_SEEN_AGAIN, again)
        waiting = {row["site_id"] for row in (*known, *nearer)}
        self._sites.count_new(Counter(row["site_id"] for row in (*known, *refused)), waiting, now)
        self._sites.count_brought(brought)
        return len(known) + len(refused)

    def _in_order(self, seen_urls: Sequence[SeenUrl]) -> Sequence[SeenUrl]:
        """Of two links to one URL the first counts: the one that may be followed, that is followed earlier, that is nearer."""
        if self._state.work.MaxDepth is not None:
            seen_urls = sorted(seen_urls, key=_depth)
        if any(map(_weight, seen_urls)):
            seen_urls = sorted(seen_urls, key=_weight)
        if isinstance(self.order, ByPageRank):
            seen_urls = _summed(sorted(seen_urls, key=_was_seen_before))
        return sorted(seen_urls, key=_is_not_followed) if any(map(_is_not_followed, seen_urls)) else seen_urls

    def _too_far(self, depth: int, hops: int) -> str | None:
        if depth > self._state.max_depth:
            return Reason.DEPTH.word
        return Reason.REDIRECTS.word if hops > self._state.work.MaxRedirects else None

    def _is_nearer(self, row: UrlRow, depth: int, hops: int) -> bool:
        if row.state == State.KNOWN:
            return depth < row.depth
        return row.state == State.REFUSED and row.reason in _RECONSIDERED and self._too_far(depth, hops) is None

    def mark_targets(self, lookup: UrlLookup, seen_urls: Iterable[SeenUrl]) -> None:
        """Marks known URLs as seeds that a seed redirects to."""
        marked = []
        for site, key, path, _, _, _, seed, *_ in seen_urls:
            if seed:
                where, row = lookup.place(site, key, path)
                if row is not None:
                    marked.append((site, where, path))
        self.mark_seeds(marked)

    def mark_seeds(self, places: Iterable[tuple[int, int, str]]) -> None:
        """Marks URLs as seeds."""
        rows = [{"site_id": site, "key": key, "path": path} for site, key, path in places]
        self._writer.many(_MARK_AS_SEED, rows)


# --- seeds --------------------------------------------------------------------------------------------------------------

_OUR_LIMITS = frozenset(
    reason.word
    for reason in (*SETTINGS_OF, Reason.LOCAL, Reason.PORT)
    if reason not in (Reason.ROBOTS, Reason.ADDRESS, Reason.SCHEME, Reason.SIZE, Reason.MEDIA_TYPE)
)
"""Refusals that do not apply to seeds of the user."""


_INSERT_SEED = insert(seeds)
_PRESENT_SEEDS = select(seeds.c.url).where(seeds.c.url.in_(words("urls")))
_SEED_MARKS = {"seed": true(), "depth": ZERO, "hops": ZERO, "priority": ZERO}
_MARK_SEED = update(urls).where(*same(urls, *_PLACE)).values(_SEED_MARKS)
_TRY_AGAIN = (
    update(urls)
    .where(*same(urls, *_PLACE))
    .values(
        {
            **_SEED_MARKS,
            "state": state_after(Event.SECOND_LOOK, State.FAILED, State.GONE, State.REFUSED),
            "reason": null(),
            "tries": ZERO,
            "due_at": bindparam("now"),
        }
    )
)
_ORIGINS = select(sites.c.id, sites.c.scheme, sites.c.host, sites.c.port).where(sites.c.id.in_(numbers("ids")))


class SeedRows:
    """Inserts seeds; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, site_rows: SiteRows, url_rows: UrlRows) -> None:
        self._writer = writer
        self._sites = site_rows
        self._urls = url_rows

    def of_schemes(self, schemes: Iterable[str]) -> list[str]:
        """The seeds of the user that have one of these schemes."""
        begins = [seeds.c.url.startswith(f"{scheme}://") for scheme in sorted(schemes)]
        return [url for (url,) in self._writer.rows(select(seeds.c.url).where(seeds.c.via.is_(None), or_(*begins)))]

    def add(self, addresses: Iterable[str], now: float) -> None:
        """Inserts canonical URLs of the user as seeds. Their sites join the scope, and the URLs become due.

        A seed that failed or is gone is tried again. One that is stored, or refused by its server, stays as it is.
        """
        given = {url: split(url) for url in addresses}
        self._sites.widen((parts[:3] for parts in given.values()), now)
        found = self._sites.find(parts[:3] for parts in given.values())
        self._keep({url: (found[parts[:3]][0], None) for url, parts in given.items()}, now)

        seen_urls: list[SeenUrl] = []
        for scheme, host, port, path in given.values():
            seen_urls.append((found[scheme, host, port][0], self._urls.key_of(path), path, 0, 0, "", True, 0, None, 0))
        lookup = self._urls.look_up({seen[:2] for seen in seen_urls})
        marked: list[dict[str, Any]] = []
        again: list[dict[str, Any]] = []
        for site, key, path, *_ in seen_urls:
            where, row = lookup.place(site, key, path)
            if row is None:
                continue
            lookup.taken[site, where] = path
            if _is_tried_again(row):
                again.append({"site_id": site, "key": where, "path": path, "now": now})
            else:
                marked.append({"site_id": site, "key": where, "path": path})
        self._writer.many(_MARK_SEED, marked)
        self._writer.many(_TRY_AGAIN, again)
        self._sites.count_new({}, {row["site_id"] for row in again}, now)
        self._urls.insert_seen(lookup, seen_urls, now)

    def follow(self, redirects: Sequence[tuple[int, str, str]], now: float) -> None:
        """Adds the targets of seeds' redirects as seeds, from (site, path) to a canonical URL. Their sites join the scope."""
        crossing = self._sites.crossing([(site, split(target)[:3]) for site, _, target in redirects])
        redirects = [redirect for redirect in redirects if (redirect[0], split(redirect[2])[:3]) not in crossing]
        self._sites.widen([split(target)[:3] for _, _, target in redirects], now)
        if (others := self._urls.others) is not None:
            redirects = [redirect for redirect in redirects if others.is_ours(split(redirect[2])[1])]
        if not redirects:
            return
        given = {target: split(target) for _, _, target in redirects}
        found = self._sites.find(parts[:3] for parts in given.values())
        found_origins = self._writer.rows(_ORIGINS, ids=self._writer.lists.bind({site for site, _, _ in redirects}))
        begins = {number: origin(scheme, host, port) for number, scheme, host, port in found_origins}
        self._keep(
            {target: (found[given[target][:3]][0], f"{begins.get(site, '')}{path}") for site, path, target in redirects}, now
        )

    def _keep(self, wanted: dict[str, tuple[int, str | None]], now: float) -> None:
        present = {url for (url,) in self._writer.rows(_PRESENT_SEEDS, urls=self._writer.lists.bind(list(wanted)))}
        rows = [
            {"url": url, "site_id": site, "via": via, "first_seen": now}
            for url, (site, via) in wanted.items()
            if url not in present
        ]
        self._writer.many(_INSERT_SEED, rows)


def _is_tried_again(row: UrlRow) -> bool:
    if row.state in (State.FAILED, State.GONE):
        return True
    return row.state == State.REFUSED and row.reason in _OUR_LIMITS


# --- bad URLs -----------------------------------------------------------------------------------------------------------

# The document of an earlier visit stays: `failed` and `gone` are the outcome of the last visit.
_BAD_OUTCOME = ("state", "reason", "due_at", "tries", "status", "checked_at", "detail", "visited_in")
_INSERT_BAD = inserting(urls, *_PLACE, *_WAY, "first_seen", *_BAD_OUTCOME)
_UPDATE_BAD = updating(urls, _PLACE, *_BAD_OUTCOME)
# What came last with these validators, or instead of them, was damaged: the next request is for the whole document.
_DROP_VALIDATORS = update(urls).where(*same(urls, *_PLACE)).values(etag=literal_column("''"), modified=literal_column("''"))
_BLANK_ADDRESS = update(sites).where(*same(sites, "id")).values(addresses=literal_column("''"), addresses_expire=ZERO)


class BadUrlRows:
    """BadURLQ: URLs that gave no document, with state, reason and the time of the next try."""

    def __init__(
        self, writer: Writer, state: RunState, site_rows: SiteRows, url_rows: UrlRows, exchanges: ExchangeRows
    ) -> None:
        self._writer = writer
        self._state = state
        self._sites = site_rows
        self._urls = url_rows
        self._exchanges = exchanges

    def write(self, records: Sequence[BadRecord]) -> None:
        """Stores the outcomes. Of two for one URL the later counts. Addresses that did not answer are blanked."""
        latest = {(record.site, record.path): record for record in records}.values()
        lookup = self._urls.look_up({(record.site, record.key) for record in latest})
        new: list[dict[str, Any]] = []
        old: list[dict[str, Any]] = []
        for record in latest:
            key, row = lookup.place(record.site, record.key, record.path)
            lookup.taken[record.site, key] = record.path
            if record.exchange is not None:
                place = (record.site, key, record.at, record.status, record.address)
                self._exchanges.error(*place, record.exchange)
            changed: dict[str, Any] = {
                "site_id": record.site,
                "key": key,
                "path": record.path,
                "state": record.state,
                "reason": record.reason,
                "due_at": never(record.due_at),
                "tries": record.tries,
                "status": record.status or None,
                "checked_at": record.at,
                "detail": plain(record.detail) or None,
                "visited_in": self._state.crawl_run,
            }
            if row is None:
                way = {"depth": record.depth, "hops": record.hops, "seed": record.seed, "priority": record.depth}
                new.append({**changed, **way, "first_seen": record.at})
            else:
                old.append(changed)
        self._writer.many(_INSERT_BAD, new)
        self._writer.many(_UPDATE_BAD, old)
        self._exchanges.write()
        damaged = [row for row in old if row["reason"] == Reason.CONTENT_CODING.word]
        self._writer.many(_DROP_VALIDATORS, [{name: row[name] for name in _PLACE} for row in damaged])
        self._sites.count_new(Counter(row["site_id"] for row in new), (), 0.0)
        blank = {record.site for record in records if record.blank_address}
        self._writer.many(_BLANK_ADDRESS, [{"id": site} for site in blank])
