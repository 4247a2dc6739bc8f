"""The records that cross between boxes: small, frozen, encoded to bytes (msgpack), independent of how they are carried.

Times are seconds since the epoch. A *site* is scheme, host and port; a *path* is everything after them, query included,
in canonical form; a *key* is the 64-bit number of a path within its site (signed, as databases have it).
"""

# Annotations are not postponed here: msgspec reads those of records, and would compile each from its text in every process.

from enum import Enum

import msgspec

from parcahyd.core.states import Event, Reason, State, after

__all__ = [
    "LOCAL_ADDRESS",
    "MOST_LEASED",
    "AnswerRecord",
    "Assignment",
    "BadRecord",
    "DueUrl",
    "ExternRecord",
    "LinksRecord",
    "PageRecord",
    "Pause",
    "PauseRecord",
    "ResolvedLease",
    "RobotsFact",
    "RobotsRedirect",
    "RobotsRedirectRecord",
    "RobotsStatus",
    "SiteLease",
    "SiteRecord",
    "StoredVersion",
    "TableFact",
    "UnchangedRecord",
    "VisitOver",
    "origin",
]


_LONGEST_DETAIL = 500
"""Characters."""


class _Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The common form: positional on the wire, immutable, invisible to the garbage collector."""


class _Tagged(_Record, frozen=True, tag=True):
    """A record in a queue of several kinds, encoded with the name of its kind."""


_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21, "gopher": 70}

LOCAL_ADDRESS = "local"
"""Stands for the address of a site that has none: its documents are on this machine, or come from a plugin."""


def origin(scheme: str, host: str, port: int) -> str:
    """The beginning of every URL of a site; the default port is not written, nor is 0, which stands for none."""
    return f"{scheme}://{host}:{port}" if port and _DEFAULT_PORTS.get(scheme) != port else f"{scheme}://{host}"


# --- what a visit starts from: Database -> URL Dispatcher -> ... -> Crawl Worker ---------------------------------------


class TableFact(_Record, frozen=True):
    """What is known of the table of variable information that a stored document was parted by."""

    etag: str = ""
    modified: str = ""
    """The table's own validators."""
    refresh: int = 0
    """After how many seconds its author expects another one; 0: not known."""
    merges: int = 0
    """How often in a row the document was refreshed by it, since the whole document was last requested."""


class StoredVersion(_Record, frozen=True):
    """The stored version of a document that has regions: what a refresh by fragment starts from."""

    skeleton: bytes
    """A zlib stream."""
    length: int
    """Of the skeleton, in bytes."""
    sha256: bytes
    """Of the whole version."""
    regions: tuple[tuple[str, int, bytes], ...]
    """ID, offset in the skeleton, and content, ascending."""
    table: TableFact
    media_type: str = ""
    charset: str = ""
    """As they are stored with the version; empty: to be found out again."""
    head: bytes = b""
    """The one that the document came with."""


class DueUrl(_Record, frozen=True):
    """A URL that is to be requested, with what a conditional request needs."""

    key: int
    path: str
    depth: int = 0
    hops: int = 0
    """How many redirects led here."""
    seed: bool = False
    """It is a seed, or the target of a seed's redirect."""
    tries: int = 0
    state: int = 0
    etag: str = ""
    modified: str = ""
    """The stored document's validators; both empty where there is none."""
    stored_version: StoredVersion | None = None
    """None where the document is not refreshed by fragment."""
    is_suspect: bool = False
    """The last try ended with the process of its Crawl Worker."""
    has_page: bool = False
    """A document of it is stored, whatever its state is."""
    is_later: bool = False
    """It is requested after the others: only pages of none of the FollowTopics lead to it."""


class RobotsStatus(Enum):
    """How the last attempt to read a site's robots.txt ended (RFC 9309, section 2.3.1)."""

    FOUND = "found"
    ABSENT = "absent"
    """The server answered that there is none (4xx): everything is allowed."""
    ERROR = "error"
    """5xx or 429: nothing is allowed until it is read."""
    UNREACHABLE = "unreachable"
    """A network error: nothing is allowed until it is read, and the address is looked up again."""
    AWAITED = "awaited"
    """It redirects to another site; the visit to that site fetches it."""
    STALE = "stale"
    """It could not be read for longer than RobotsPatience: the last copy counts, or none where there never was one."""


class RobotsFact(_Record, frozen=True):
    """What is known of a site's robots.txt, and until when."""

    status: RobotsStatus
    text: bytes = b""
    """Of the last copy that was read, also where it could not be read since."""
    fetched_at: float = 0.0
    expires_at: float = 0.0
    detail: str = ""
    failing_since: float = 0.0
    """When it could not be read for the first time since; 0 where it was read."""
    delay: float = 0.0
    """The Crawl-delay that it asks us for."""


class RobotsRedirect(_Record, frozen=True):
    """A robots.txt that another site's robots.txt redirected to; the visit to the site that it lies on fetches it."""

    asker: int
    """The site that waits for it."""
    path: str
    hops: int


MOST_LEASED = 5000
"""Due URLs that a lease carries: many sites are leased at a time. A visit can ask for more, which it finds itself."""


class SiteLease(_Record, frozen=True):
    """A URL-IP pair: one leased site, its due URLs and its meta-info. One pair is one visit."""

    visit: int
    site: int
    scheme: str
    host: str
    port: int
    urls: tuple[DueUrl, ...]
    """At most VisitPages and `MOST_LEASED`."""
    addresses: tuple[str, ...] = ()
    """Blank until a URL Mapper filled it in, or kept from the last visit."""
    addresses_expire: float = 0.0
    robots: RobotsFact | None = None
    failures: int = 0
    """Visits in a row that found the site unreachable."""
    known: bytes = b""
    """The keys of the site's known URLs, ascending, eight bytes each in the machine's order."""
    has_all_keys: bool = True
    """False when the site has more than MetaKeys URLs: this visit fetches only what it was sent."""
    robots_redirects: tuple[RobotsRedirect, ...] = ()
    augmentation: bytes = b""
    """What the site offers (.TOL, .TVI, bundle), as it was last learned; empty where nothing is known."""
    site_pages: int = 0
    """How many URLs of the site have a document."""
    guards: bytes = b""
    """What the trap guards learned in earlier visits."""
    url_room: int = 2**31 - 1
    """How many new URLs of the site its pages may bring (`rules.traps.site_room`)."""
    external_room: int = 2**31 - 1
    """The same for URLs of other sites."""
    roots: tuple[str, ...] = ()
    """Paths of folders: nothing outside of them is requested. Empty where the whole site may be."""
    is_watched: bool = False
    """A worker's process ended during a visit to this site: the coordinator is told of every request (`messages.Watched`)."""

    @property
    def is_full(self) -> bool:
        """Whether more URLs may be due than a lease carries. They come before those that the visit finds, so it asks for its
        own only, and the next visit gets them."""
        return len(self.urls) >= MOST_LEASED

    @property
    def has_suspects(self) -> bool:
        return any(url.is_suspect for url in self.urls)

    @property
    def origin(self) -> str:
        return origin(self.scheme, self.host, self.port)


class ResolvedLease(_Record, frozen=True):
    """A pair whose addresses passed the address policy, or the reason why none did."""

    lease: SiteLease
    addresses: tuple[str, ...] = ()
    expires_at: float = 0.0
    reason: str = ""
    """A Reason's word when there is no address to visit."""
    detail: str = ""


class SiteAddresses(_Record, frozen=True):
    """The vetted addresses of the site that an open visit has, as soon as they are known."""

    visit: int
    addresses: tuple[str, ...]
    expires_at: float


class Assignment(_Record, frozen=True):
    """A resolved pair with the one address that the Crawl Manager chose for the visit."""

    lease: SiteLease
    address: str
    addresses: tuple[str, ...]
    """All vetted addresses of the host; stored with the site when the visit is over."""
    addresses_expire: float
    pages: int
    """How many pages the visit may fetch: VisitPages, or what is left of MaxPages."""
    host_not_before: float = 0.0
    address_not_before: float = 0.0
    address_failures: int = 0
    """How many pauses in a row the address had because no server answered there."""


class Pause(_Record, frozen=True):
    """Until when no request is sent to a host or an address; survives a restart."""

    subject: str
    """`host NAME` or `address ADDRESS`."""
    not_before: float
    reason: str = ""
    """A Reason's word where it is more than the usual delay."""
    failures: int = 0
    """How many such pauses there were in a row."""


# --- what a visit gives: Crawl Worker -> Document and URL Buffer -> Update Database ------------------------------------


class ExternRecord(_Tagged, frozen=True):
    """ExternLQ: the fast path of links to other sites. Its loss is harmless, its repetition free."""

    visit: int
    depth: int
    urls: tuple[str, ...]
    via: int | None = None
    """The key of the page that they are on; None: a table named them."""
    is_later: bool = False
    """They are followed after all others: see PageRecord."""


class LinksRecord(_Tagged, frozen=True):
    """DocURLQ: a part of the links of a page that has very many. All parts come before their page, so that none is lost."""

    visit: int
    site: int
    depth: int
    """Of the links."""
    read_at: float
    internal: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    lastmods: tuple[tuple[str, float], ...] = ()
    """These three as in PageRecord."""
    via: int | None = None
    """The key of the page."""
    is_later: bool = False
    """As in PageRecord."""


class AnswerRecord(_Record, frozen=True):
    """An answer that brought no version of a page, as far as it is kept; the fields are those of PageRecord."""

    head: bytes
    marks: int
    protocol: str
    started_at: float
    seconds: float
    request: bytes
    body: bytes = b""
    coding: str = ""
    decoded_length: int | None = None
    status: int = 0
    address: str = ""
    file: str = ""
    """These three where the record that it is in does not tell them: of a robots.txt, whose path is `file`."""


class PageRecord(_Tagged, frozen=True):
    """DocURLQ: an answer that was stored: a document with all links first seen in it, or a redirect with its target."""

    visit: int
    site: int
    key: int
    path: str
    depth: int
    hops: int
    seed: bool
    fetched_at: float
    status: int
    address: str
    head: bytes
    """Status line and header lines, with the blank line behind them; empty for the member of an archive."""
    etag: str = ""
    modified: str = ""
    media_type: str = ""
    charset: str = ""
    redirect: str = ""
    """The absolute target of a redirect; then the body is no document, and there only where it is kept."""
    body: bytes = b""
    internal: tuple[str, ...] = ()
    """Paths of this site first seen here; their depth is this page's plus one."""
    external: tuple[str, ...] = ()
    """Absolute URLs of other sites first seen here."""
    links: bytes = b""
    """Every link of the document as it is written there, `kind TAB href` per line."""
    reason: str = ""
    """A Reason's word where the page asks not to be kept; then there is no body."""
    title: str = ""
    language: str = ""
    summary: bytes = b""
    """The whole Summary, encoded, where one was made."""
    refused: tuple[tuple[str, str], ...] = ()
    """Links first seen here that a rule refused: the word of the reason, and a path of this site or an absolute URL."""
    regions: tuple[tuple[str, int, int], ...] = ()
    """ID, begin and end of each volatile region of the body, ascending: what lies between them is the skeleton."""
    table: TableFact | None = None
    """The table that the regions were taken from."""
    lastmods: tuple[tuple[str, float], ...] = ()
    """From a sitemap: paths of this site, and when each changed."""
    left_out: int = 0
    """How many new links to its own site are not recorded, since there is no room for them."""
    left_out_external: int = 0
    """The same for links to other sites."""
    coding: str = ""
    """The content codings that the answer came with, separated by commas; empty: none."""
    decoded_length: int | None = None
    """The length of the document where the body still has its coding, as it was transferred; None: the body is the document."""
    marks: int = 0
    """Bits of ExchangeMark."""
    protocol: str = ""
    """As in DownloadResult."""
    started_at: float = 0.0
    seconds: float = 0.0
    """From the request to the last byte of its answer."""
    request: bytes = b""
    """The header lines of the request that hold no secret; without Host and validators, which other columns tell."""
    received: int = 0
    """Bytes on the wire, of all answers of the visit since the page before."""
    saved: int = 0
    """By how many bytes content codings made them fewer."""
    topic: str = ""
    """What the document is about; empty where it was not labelled."""
    is_later: bool = False
    """Its links are followed after those of other pages: it is of none of the FollowTopics."""
    linked: tuple[str, ...] = ()
    """Paths of its site that it links to and that were seen before, where the order wants to know; else none."""
    links_found: int = 0
    """How many documents it links to, where the order wants to know."""


class UnchangedRecord(_Tagged, frozen=True):
    """DocURLQ: the server confirmed what is stored."""

    visit: int
    site: int
    key: int
    path: str
    checked_at: float
    status: int
    etag: str = ""
    modified: str = ""
    table: TableFact | None = None
    """What is now known of the document's table of variable information; None: nothing new."""
    is_table_gone: bool = False
    """The document is not to be refreshed by its table again."""
    is_by_table: bool = False
    """The document's table confirmed it, not the document's own server answer."""
    address: str = ""
    exchange: AnswerRecord | None = None
    """The answer, where checks are kept."""


class SiteRecord(_Tagged, frozen=True):
    """DocURLQ: what a visit learned about its site."""

    visit: int
    site: int
    robots: RobotsFact | None = None
    robots_redirect: str = ""
    """The absolute URL that robots.txt redirected to, on another site."""
    augmentation: bytes = b""
    """What is now known of its tables (`augment.site_offer`); empty where nothing changed."""
    exchange: AnswerRecord | None = None
    """The answer that robots.txt was read from, where checks or errors are kept."""


class RobotsRedirectRecord(_Tagged, frozen=True):
    """DocURLQ: the content of a redirected robots.txt, for the site that waits for it."""

    visit: int
    site: int
    asker: int
    path: str
    robots: RobotsFact
    redirect: str = ""
    """The absolute URL of the next hop; then `robots` is AWAITED."""
    hops: int = 0


class BadRecord(_Tagged, frozen=True):
    """BadURLQ: a URL that gave no document: failed, refused or gone, with its reason."""

    visit: int
    site: int
    key: int
    path: str
    depth: int
    hops: int
    seed: bool
    at: float
    state: int
    reason: str
    due_at: float
    tries: int
    status: int = 0
    detail: str = ""
    address: str = ""
    blank_address: bool = False
    """The address did not answer: resolve the host again before the next visit."""
    exchange: AnswerRecord | None = None
    """The answer, where errors are kept and there was one."""

    @classmethod
    def of(
        cls,
        visit: int,
        site: int,
        url: DueUrl,
        event: Event,
        reason: Reason,
        at: float,
        due_at: float,
        *,
        tries: int = 0,
        status: int = 0,
        detail: str = "",
        address: str = "",
        blank_address: bool = False,
        exchange: AnswerRecord | None = None,
    ) -> "BadRecord":
        """What `event` makes of a URL. A page author may have written the detail, so it is cut."""
        return cls(
            visit=visit,
            site=site,
            key=url.key,
            path=url.path,
            depth=url.depth,
            hops=url.hops,
            seed=url.seed,
            at=at,
            state=int(after(event, State(url.state))),
            reason=reason.word,
            due_at=due_at,
            tries=tries,
            status=status,
            detail=detail[:_LONGEST_DETAIL],
            address=address,
            blank_address=blank_address,
            exchange=exchange,
        )


class PauseRecord(_Tagged, frozen=True):
    """A server asked for a pause, or an address does not answer: committed at once, so that it survives a crash."""

    visit: int
    site: int
    not_before: float
    """The site is not leased again before."""
    failures: int
    reason: str
    pauses: tuple[Pause, ...]


class VisitOver(_Tagged, frozen=True):
    """The last record of a visit: it releases the site once everything before it is committed."""

    visit: int
    site: int
    at: float
    not_before: float
    """The site is not leased again before."""
    pauses: tuple[Pause, ...] = ()
    addresses: tuple[str, ...] = ()
    addresses_expire: float = 0.0
    failures: int = 0
    pages: int = 0
    requests: int = 0
    reason: str = ""
    """A Reason's word when the site is paused."""
    guards: bytes = b""
    """What the trap guards learned, for the site's next visit."""
    rests_until: float = 0.0
    """Until when the host keeps the delay and the rate that always hold there; pauses of other kinds do not count."""
    received: int = 0
    saved: int = 0
    """As in PageRecord, of the answers since the last page."""
