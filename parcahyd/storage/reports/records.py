"""The records that reports consist of. Times are seconds since the epoch; states and reasons are their words.

Tested in tests/storage/reports/test_status.py and tests/storage/reports/test_url_report.py.
"""

from __future__ import annotations

import msgspec

from parcahyd.core.progress import SizeEstimate
from parcahyd.core.records import RobotsFact, TableFact

__all__ = [
    "DocumentReport",
    "DocumentVersion",
    "ExchangeReport",
    "FetchReport",
    "Finding",
    "FreshnessReport",
    "LeftOut",
    "ReasonCount",
    "RunReport",
    "SeedOutcome",
    "SimilarGroup",
    "SimilarReport",
    "SiteReport",
    "SparedSite",
    "StatusReport",
    "StoredDocument",
    "StoredExchange",
    "UrlDetails",
    "UrlReport",
    "VolatileSpan",
]


class _Report(msgspec.Struct, frozen=True, kw_only=True):
    """The common form: named fields, so that its JSON explains itself."""


class RunReport(_Report, frozen=True, kw_only=True):
    """A run. `ended_at` and `outcome` are missing while it goes on, and for ever if it was killed."""

    run: int
    version: str
    started_at: float
    ended_at: float | None
    outcome: str | None
    counts: dict[str, int]


class SiteReport(_Report, frozen=True, kw_only=True):
    """A site and what is stored of it."""

    site: str
    """scheme://host[:port]."""
    in_scope: bool
    urls: int
    pages: int
    """URLs that have a document."""
    received: int
    """Bytes that it sent, on the wire, in all."""
    requests: int
    visiting: bool
    due_at: float | None
    in_the_end: SizeEstimate | None = None
    """How many pages it will have; none: not known yet."""


class SparedSite(_Report, frozen=True, kw_only=True):
    """A site, a host or an address to which no request goes for a while, and why."""

    site: str
    """`scheme://host[:port]`, `host NAME` or `address ADDRESS`."""
    until: float
    reason: str
    sentence: str
    failures: int
    """Visits in a row that found it unreachable."""


class ReasonCount(_Report, frozen=True, kw_only=True):
    """How many URLs have one state for one reason."""

    state: str
    reason: str
    sentence: str
    urls: int


class LeftOut(_Report, frozen=True, kw_only=True):
    """Links that are not recorded, since their site had no room for them."""

    subject: str
    """A site or a page."""
    pages: int
    """In how many pages they are."""
    links: int
    """To the site itself; the pages are read again when there is room."""
    external: int
    """To other sites."""


class StatusReport(_Report, frozen=True, kw_only=True):
    """The whole crawl at one time."""

    states: dict[str, int]
    """URLs by state; every state is there."""
    reasons: tuple[ReasonCount, ...]
    """Most frequent first."""
    sites: int
    sites_in_scope: int
    seeds: int
    documents: int
    document_bytes: int
    """Of all documents, each once, decoded."""
    stored_bytes: int
    """The same as stored, compressed."""
    fetches: int
    """Versions of URLs that are kept."""
    last_run: RunReport | None
    spared: tuple[SparedSite, ...]
    """Hosts and addresses, then sites; those that wait longest first; at most as many of each as were asked for."""
    top_sites: tuple[SiteReport, ...]
    """Most pages first; at most as many as were asked for."""
    due_now: int
    """Known and failed URLs whose time has come."""
    due_later: int
    """Failed URLs that are tried again later."""
    next_due: float | None
    """When the next site with known or failed URLs may be visited."""
    next_again: float | None
    """When the next stored, refused or gone URL is to be visited again."""
    sites_with_pages: int = 0
    """Sites that `top_sites` would have, were it not bounded."""
    left_out: tuple[LeftOut, ...] = ()
    """Sites with links that are not recorded, most links first; at most as many as were asked for."""
    in_the_end: SizeEstimate | None = None
    """How many pages the crawl will have; none: not known yet."""
    topics: dict[str, int] = {}
    """Documents that were labelled, by topic, the most frequent first."""


class SeedOutcome(_Report, frozen=True, kw_only=True):
    """What became of a seed."""

    seed: str
    """As it was given."""
    url: str
    """Canonical; where the seed is a redirect, the URL that it leads to. A redirect itself only where they lead nowhere."""
    state: str
    reason: str | None
    sentence: str
    """The reason for people; empty where there is none."""
    detail: str


class FreshnessReport(_Report, frozen=True, kw_only=True):
    """How fresh the stored pages are expected to be, by how often they were seen to change."""

    pages: int
    """Stored URLs that have a document."""
    rechecked: int
    """Those that were checked more than once; for the others the first guess counts."""
    changed: int
    """Those that were seen to change."""
    fresh: float | None
    """The share of pages expected to be current; none where there are no pages."""
    mean_age: float | None
    """Seconds since a copy was current, as expected; 0 counts for those that are."""
    overdue: int
    """Pages in scope whose next visit is past due."""
    kept: int
    """Documents of URLs that failed, are gone or are refused now: the last good version of each."""


class UrlReport(_Report, frozen=True, kw_only=True):
    """One URL."""

    url: str
    state: str
    reason: str | None
    depth: int
    status: int | None
    site: str
    seed: bool
    first_seen: float
    checked_at: float | None
    due_at: float | None
    tries: int
    length: int | None
    media_type: str | None
    title: str | None
    language: str | None
    topic: str | None = None
    """Empty where it was not labelled."""
    sha256: str | None
    """Hexadecimal, of the document."""


class StoredDocument(_Report, frozen=True, kw_only=True):
    """A document as it was received."""

    url: str
    body: bytes
    head: bytes
    """Status line, header lines and blank line as they were received, or made up where they are of an older version."""
    status: int
    fetched_at: float
    address: str
    media_type: str
    charset: str
    notes: tuple[str, ...] = ()
    """What of the head is not as it was received, in sentences."""
    coded: bytes = b""
    """As it was transferred, where that is stored and the document has a coding."""


class ExchangeReport(_Report, frozen=True, kw_only=True):
    """An exchange with a URL that is on record: what the server answered, and what that brought."""

    at: float
    """When the answer was read."""
    status: int
    brought: str
    """`version` (a document that was stored), `redirect`, `unchanged` (the same as a version), `error`, or `robots`."""
    redirect: str | None = None
    version_at: float | None = None
    """Of `unchanged`: when the version was received that is still current."""
    length: int | None = None
    """Of a version: bytes of the document, without codings."""
    sha256: str | None = None
    received: int | None = None
    """Bytes of the answer on the wire, its head included; None where that is not known."""
    started_at: float | None = None
    """When the request was sent."""
    seconds: float | None = None
    """From there to the last byte of the answer."""
    protocol: str = ""
    """Of HTTP: 1.0, 1.1, 2 or 3; empty where it is not known."""
    address: str = ""
    conditional: bool = False
    """The request asked whether the stored version was still current."""
    merged: bool = False
    """The version was put together from an earlier one and a table of variable information."""


class StoredExchange(_Report, frozen=True, kw_only=True):
    """An exchange with its bytes."""

    url: str
    report: ExchangeReport
    request: bytes | None
    """The head of the request; None where it was not kept."""
    head: bytes
    """Of the answer: status line, header lines and blank line."""
    body: bytes
    """As it was transferred, where that was kept."""
    request_notes: tuple[str, ...]
    """What of the request was not kept or is not as it was sent, in sentences."""
    notes: tuple[str, ...]
    """The same of the answer."""


class DocumentReport(_Report, frozen=True, kw_only=True):
    """What identifies a document."""

    document: int
    df: int
    sha256: str
    length: int
    media_type: str
    charset: str
    title: str
    language: str
    similarity: int | None
    """Of the text; 0 where there is too little of it, None where it was not taken."""
    topic: str = ""
    """Empty where it was not labelled."""


class FetchReport(_Report, frozen=True, kw_only=True):
    """One version of a URL: a document, or a redirect to somewhere."""

    at: float
    status: int
    address: str
    redirect: str | None
    sha256: str | None
    length: int | None
    regions: int = 0
    """Volatile regions that its author marked."""
    only_regions: bool = False
    """It differs in them from the version before, and in nothing else."""
    imported: bool = False
    """It comes from an archive that somebody else may have written."""


class UrlDetails(_Report, frozen=True, kw_only=True):
    """Everything that is known of a URL and of its site."""

    url: str
    site: str
    in_scope: bool
    addresses: tuple[str, ...]
    addresses_expire: float
    robots: RobotsFact | None
    augmentation: bytes = b""
    """What visits learned about the site's tables (`augment.site_offer`)."""
    visiting: bool
    not_before: float
    """The site is not visited before."""
    site_reason: str | None
    """Why the site is not visited before then."""
    site_failures: int

    state: str
    reason: str | None
    sentence: str
    """The reason in words; empty where the state needs none."""
    detail: str
    depth: int
    hops: int
    """How many redirects led here."""
    seed: bool
    via: str | None
    """The seed whose redirect led here."""
    first_seen: float
    checked_at: float | None
    tries: int
    status: int | None
    etag: str
    modified: str
    checks: int
    changes: int
    changed_at: float | None
    changes_every: float | None
    """The estimated seconds between two changes; None where it was checked once or never."""
    next_visit: float | None
    """Not before then; None: not before settings change."""

    redirect: str | None
    document: DocumentReport | None
    fetches: tuple[FetchReport, ...]
    """Newest first."""
    twins: tuple[str, ...]
    """Other URLs with the same document, at most twenty."""
    similar: tuple[str, ...]
    """URLs with another document that shows nearly the same text, at most ten."""
    seen_on: str | None = None
    """The page that it was first seen on, where that is known."""
    volatile_places: int = 0
    """Places that were learned to change on most visits."""
    table: TableFact | None = None
    """The table of variable information that it is refreshed by."""
    lastmod: float | None = None
    """When it changed, as a sitemap says."""
    lastmod_read: float | None = None
    lastmod_trust: int = 0
    """How far the site's sitemaps are believed (`refresh.lastmod`)."""
    guards: bytes = b""
    """What the trap guards learned about the site."""
    neighbours: tuple[str, ...] = ()
    """Other hosts at the same addresses, at most five."""
    pauses: tuple[SparedSite, ...] = ()
    """Until when no request goes to its host and its addresses, and why; including those that are over."""
    left_out: LeftOut | None = None
    """Links of this page that are not recorded."""
    site_left_out: LeftOut | None = None
    """The same of all pages of the site."""


class VolatileSpan(_Report, frozen=True, kw_only=True):
    """A place of a document that changes often: the bytes from `start` to before `end`."""

    start: int
    end: int
    name: str
    """Its author's name for it; empty where it was learned."""
    changes: int = 0
    """Of a learned one: on how many of the last `visits` visits it had changed."""
    visits: int = 0


class DocumentVersion(_Report, frozen=True, kw_only=True):
    """A stored version of a document, to be compared with another."""

    url: str
    fetch: int
    at: float
    status: int
    media_type: str
    charset: str
    sha256: str
    body: bytes
    volatile: tuple[VolatileSpan, ...]
    """Ascending; none overlap."""


class SimilarGroup(_Report, frozen=True, kw_only=True):
    """Documents that show nearly the same text."""

    documents: int
    urls: tuple[str, ...]
    """Of some of them."""


class SimilarReport(_Report, frozen=True, kw_only=True):
    """Near-duplicates in the collection."""

    groups: int
    documents: int
    """In all groups together."""
    within: int
    """In how many bits of 64 fingerprints of near-duplicates may differ."""
    largest: tuple[SimilarGroup, ...]
    taken_now: int
    """Documents whose texts were read for this report: Similarity was off when they were stored."""


class Finding(_Report, frozen=True, kw_only=True, omit_defaults=True):
    """An inconsistency in the database."""

    kind: str
    subject: str
    """A URL, a site, or `document 12`."""
    sentence: str
    partition: int | None = None
    """Where it was found, if the crawl has partitions and it is not about several of them."""
