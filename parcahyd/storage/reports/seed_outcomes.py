"""What became of seeds: the state of each, or of the URL that its redirects lead to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import Connection, func, select

from parcahyd.core.states import Reason, State
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.reports.records import SeedOutcome
from parcahyd.storage.reports.url_report import find_url, sentence_of
from parcahyd.storage.schema import fetches, seeds, sites

__all__ = ["read_next_due", "read_seed_outcomes"]

_PAGE = 1000
_MOST_REDIRECTS = 20


def read_seed_outcomes(reader: Reader, wanted: Iterable[str] | None) -> Iterator[SeedOutcome]:
    """The outcomes of these seeds, or of all that the user gave; URLs that the crawl does not know are left out."""
    for seed in _all_seeds(reader) if wanted is None else wanted:
        with reader.transaction() as connection:
            outcome = _outcome(connection, seed)
        if outcome is not None:
            yield outcome


def _all_seeds(reader: Reader) -> Iterator[str]:
    for page in reader.pages(seeds, select(seeds.c.url).where(seeds.c.via.is_(None)), _PAGE):
        yield from (url for (url,) in page)


def _outcome(connection: Connection, seed: str) -> SeedOutcome | None:
    found = None
    url: str | None = seed
    for _ in range(_MOST_REDIRECTS):
        target = find_url(connection, url) if url is not None else None
        if target is None:
            break
        found = target
        if target[1].reason != Reason.REDIRECT.word:
            break
        url = connection.scalar(select(fetches.c.redirect).where(fetches.c.id == target[1].fetch_id))
    if found is None:
        return None
    text, row = found
    sentence = sentence_of(row.reason) if row.reason else ""
    return SeedOutcome(
        seed=seed, url=text, state=State(row.state).word, reason=row.reason, sentence=sentence, detail=row.detail or ""
    )


def read_next_due(reader: Reader) -> float | None:
    """When the next URL of any state falls due; None where none ever does under these settings."""
    times = select(func.min(sites.c.due_at), func.min(sites.c.again_at)).where(sites.c.visit.is_(None))
    (row,) = reader.rows(times)
    return min((time for time in row if time is not None), default=None)
