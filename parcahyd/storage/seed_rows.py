"""The rows of `seeds`: what the user asked for, and where the redirects of that led. They span the scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from parcahyd.core.life_cycle import SETTINGS_OF, Reason, State
from parcahyd.core.records import origin
from parcahyd.rules.canonical_url import split
from parcahyd.storage.site_rows import SiteRows
from parcahyd.storage.url_rows import Sighting, UrlRow, UrlRows
from parcahyd.storage.writer import Writer

__all__ = ["SeedRows"]

_OUR_LIMITS = frozenset(
    reason.word
    for reason in SETTINGS_OF
    if reason not in (Reason.ROBOTS, Reason.ADDRESS, Reason.SCHEME, Reason.SIZE, Reason.MEDIA_TYPE)
)
"""Refusals that do not hold for what the user asks for himself."""


class SeedRows:
    """Adds seeds; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, site_rows: SiteRows, url_rows: UrlRows) -> None:
        self._writer = writer
        self._sites = site_rows
        self._urls = url_rows
        self._insert = writer.statements["seed_rows.insert"]
        self._present = writer.statements["seed_rows.present"]
        self._mark = writer.statements["seed_rows.mark"]
        self._ask_again = writer.statements["seed_rows.ask_again"]
        self._origins = writer.statements["seed_rows.origins"]

    def add(self, addresses: Iterable[str], now: float) -> None:
        """Takes canonical URLs of the user as seeds: their sites join the scope, and they are asked for.

        A seed that failed or is gone is tried again; what is stored, or refused by others than us, stays as it is.
        """
        given = {url: split(url) for url in addresses}
        self._sites.widen((parts[:3] for parts in given.values()), now)
        found = self._sites.find(parts[:3] for parts in given.values())
        self._keep({url: (found[parts[:3]][0], None) for url, parts in given.items()}, now)

        sightings: list[Sighting] = []
        for scheme, host, port, path in given.values():
            sightings.append((found[scheme, host, port][0], self._urls.key_of(path), path, 0, 0, "", True))
        ledger = self._urls.look_up({seen[:2] for seen in sightings})
        marked, again = [], []
        for site, key, path, *_ in sightings:
            where, row = ledger.place(site, key, path)
            if row is None:
                continue
            ledger.taken[site, where] = path
            if _looked_at_again(row):
                again.append((now, site, where, path))
            else:
                marked.append((site, where, path))
        self._writer.many(self._mark, marked)
        self._writer.many(self._ask_again, again)
        self._sites.gained({}, {site for _, site, _, _ in again}, now)
        self._urls.see(ledger, sightings, now)

    def follow(self, redirects: Sequence[tuple[int, str, str]], now: float) -> None:
        """Takes the targets of seeds' redirects as seeds, from (site, path) to a canonical URL; they widen the scope."""
        if not redirects:
            return
        given = {target: split(target) for _, _, target in redirects}
        self._sites.widen((parts[:3] for parts in given.values()), now)
        found = self._sites.find(parts[:3] for parts in given.values())
        numbers = self._writer.lists.bind(list({site for site, _, _ in redirects}))
        begins = {
            number: origin(scheme, host, port) for number, scheme, host, port in self._writer.rows(self._origins, numbers)
        }
        self._keep(
            {target: (found[given[target][:3]][0], f"{begins.get(site, '')}{path}") for site, path, target in redirects}, now
        )

    def _keep(self, wanted: dict[str, tuple[int, str | None]], now: float) -> None:
        present = {url for (url,) in self._writer.rows(self._present, self._writer.lists.bind(list(wanted)))}
        self._writer.many(self._insert, [(url, *rest, now) for url, rest in wanted.items() if url not in present])


def _looked_at_again(row: UrlRow) -> bool:
    if row.state in (State.FAILED, State.GONE):
        return True
    return row.state == State.REFUSED and row.reason in _OUR_LIMITS
