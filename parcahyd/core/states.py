"""The life of a URL: five states, the moves between them, and the reasons, each in one table.

`MOVES` is the machine: code names an event, and `after` looks up the state that it leads to. No other module chooses a state
(tests/architecture/test_states.py). For one URL, `after(event, state)` is called when the event happens. A statement that moves
many rows at once has its state looked up when its module is imported, from the states that its WHERE clause lets through: a
statement that the table does not allow cannot be loaded.

`docs/life-of-a-url.md` is drawn from these tables (`python -m parcahyd.cli.life_cycle_page` prints it).
"""

from __future__ import annotations

from enum import Enum, IntEnum

__all__ = ["MOVES", "REASONS_OF", "SETTINGS_OF", "Event", "Reason", "State", "after"]


class State(IntEnum):
    """The state of a URL; the number is what the database holds."""

    KNOWN = 0
    STORED = 1
    FAILED = 2
    REFUSED = 3
    GONE = 4

    @property
    def word(self) -> str:
        return self.name.lower()


class Event(Enum):
    """What can happen to a URL."""

    SEEN = "a link, a sitemap, a redirect or the user named it for the first time"
    DOCUMENT = "a document was received"
    UNCHANGED = "the server or the bytes say that nothing changed"
    REDIRECT = "the server pointed to another URL"
    FAILURE = "a request failed and may be tried again"
    LAST_FAILURE = "a request failed and was the last try"
    MISSING = "the server says that there is no such document"
    REFUSAL = "a rule of ours forbids the request"
    SECOND_LOOK = "a rule or its settings changed, a link that may be followed or is nearer led to it, or the user asked again"
    MORE_ROOM = "its site has room for links of it that were left out"


class Reason(Enum):
    """Why a URL is in its state: a word for programs and a sentence for people."""

    REDIRECT = ("redirect", "The server answered with a redirect; the target is a URL of its own.")

    NOINDEX = ("noindex", "The page asks not to be indexed: its links were followed, its text is not kept.")
    NOARCHIVE = ("noarchive", "The page asks that no copy of it be kept: its links were followed, its text is not kept.")

    DNS_NO_NAME = ("dns-no-name", "The domain name system knows no such host.")
    DNS_NO_ADDRESS = ("dns-no-address", "The host exists but has no address.")
    DNS_FAILURE = ("dns-failure", "The host's name servers did not give an answer.")
    DNS_TIMEOUT = ("dns-timeout", "The name servers did not answer in time.")
    CONNECT = ("connect", "No connection could be made to the server.")
    TLS = ("tls", "The server's certificate or encryption was not acceptable.")
    TIMEOUT = ("timeout", "The server did not answer in time.")
    GAVE_WAY = ("gave-way", "The answer came so slowly that it gave way to requests that waited for a connection.")
    RESET = ("reset", "The connection broke before the answer was complete.")
    TRUNCATED = ("truncated", "The answer ended before its announced length.")
    CONTENT_CODING = ("content-coding", "The answer's content coding could not be undone.")
    PROTOCOL = ("protocol", "The answer did not follow the protocol.")
    HTTP_ERROR = ("http-error", "The server answered with an error that may pass.")
    HTTP_REFUSED = ("http-refused", "The server answered that it will not give this document.")
    UNREACHABLE_SITE = ("unreachable-site", "Too many requests to this site failed in a row; it is left alone for a while.")
    ASKED_TO_WAIT = ("asked-to-wait", "The server asked to be left alone for a while.")
    SILENT_ADDRESS = ("silent-address", "Several sites on this address gave no answer in a row; it is left alone for a while.")
    ROBOTS_UNREACHABLE = ("robots-unreachable", "robots.txt could not be fetched, so nothing may be fetched for now.")
    ROBOTS_ERROR = ("robots-error", "The server answered robots.txt with an error, so nothing may be fetched for now.")
    PLUGIN = ("plugin", "A plugin failed on this URL.")
    PEER = ("peer", "The downloader spoke to an address that was not approved; its answer was thrown away.")
    FAULT = ("fault", "This program failed on the answer: a bug worth reporting, with the detail and the URL.")
    WORKER_DIED = ("worker-died", "A Crawl Worker's process ended while this URL was requested or its document was read.")
    STORE = ("store", "The database could not take this record.")

    MISSING = ("missing", "The server says that there is no such document.")
    OUT_OF_TRIES = ("out-of-tries", "Every try failed; the last failure is in the history.")

    ROBOTS = ("robots", "robots.txt forbids this URL.")
    NOFOLLOW = ("nofollow", "The links to it that were seen ask robots not to follow them.")
    TOPIC = ("topic", "The pages that link to it are about none of the FollowTopics.")
    SCOPE = ("scope", "The URL lies outside the crawl's scope.")
    DEPTH = ("depth", "The URL is more links away from a seed than MaxDepth allows.")
    ADDRESS = ("address", "The host's address is not public and not in AllowAddresses.")
    SCHEME = ("scheme", "No downloader serves this protocol.")
    LOCAL = ("local", "Only seeds and links of the same protocol lead to it; files are read within the folder of a seed.")
    PORT = ("port", "Links lead to gopher servers on port 70 only; one on another port is crawled if it is a seed.")
    SIZE = ("size", "The document is larger than MaxBytes.")
    REDIRECTS = ("redirects", "The chain of redirects is longer than MaxRedirects.")
    EXCLUDED = ("excluded", "The patterns of Include and Exclude keep the URL out.")
    SITE_PAGES = ("site-pages", "The site has as many pages already as MaxPagesPerSite allows.")
    MEDIA_TYPE = ("media-type", "The document is of none of the MediaTypes.")
    LENGTH = ("length", "The URL is longer than MaxUrlLength; what is stored of it is its beginning, its length and a hash.")
    PATH_DEPTH = ("path-depth", "The path has more segments than MaxPathSegments allows.")
    REPEATS = ("repeats", "The path or the query repeats itself more often than MaxRepeats allows.")
    PARAMETERS = ("parameters", "The query has more parameters than MaxParameters allows.")
    QUERIES = ("queries", "The path has been seen with more kinds of queries than MaxQueryShapes allows.")
    CALENDAR = ("calendar", "A run of dates leads further from today than MaxYearsAhead or MaxYearsBack allows.")
    SESSION = ("session", "The URL differs from one that is known in nothing but a session id.")
    DUPLICATES = ("duplicates", "So many URLs like this one gave nearly the same document that no more of them are asked for.")
    SOFT_404 = ("soft-404", "So many URLs like this one gave the site's page for missing documents that no more are asked for.")

    def __init__(self, word: str, sentence: str) -> None:
        self.word = word
        self.sentence = sentence

    @classmethod
    def of(cls, word: str) -> Reason:
        return _BY_WORD[word]


_BY_WORD = {reason.word: reason for reason in Reason}

_ANSWERS = {
    Event.DOCUMENT: State.STORED,
    Event.REDIRECT: State.STORED,
    Event.FAILURE: State.FAILED,
    Event.LAST_FAILURE: State.GONE,
    Event.MISSING: State.GONE,
    Event.REFUSAL: State.REFUSED,
}

# None stands for a URL that is not in the database. It may be answered before a document names it: a table of links named it,
# or it is a member of an archive. A stored URL keeps its document through every later failure: `failed` and `gone` say how the
# last visit went. So a known URL may be confirmed as well: it was stored, then refused, and got a second look. A stored page is
# known again when it is to be read again for its links.
MOVES: dict[State | None, dict[Event, State]] = {
    None: {Event.SEEN: State.KNOWN, **_ANSWERS},
    State.KNOWN: {**_ANSWERS, Event.UNCHANGED: State.STORED, Event.SECOND_LOOK: State.KNOWN},
    State.STORED: {**_ANSWERS, Event.UNCHANGED: State.STORED, Event.MORE_ROOM: State.KNOWN},
    State.FAILED: {**_ANSWERS, Event.UNCHANGED: State.STORED, Event.SECOND_LOOK: State.KNOWN},
    State.REFUSED: {**_ANSWERS, Event.UNCHANGED: State.STORED, Event.SECOND_LOOK: State.KNOWN},
    State.GONE: {**_ANSWERS, Event.UNCHANGED: State.STORED, Event.SECOND_LOOK: State.KNOWN},
}

# Which reasons a state may carry; None stands for "no reason". `verify` checks every row against this.
REASONS_OF: dict[State, frozenset[Reason | None]] = {
    State.KNOWN: frozenset({None}),
    State.STORED: frozenset({None, Reason.REDIRECT, Reason.NOINDEX, Reason.NOARCHIVE}),
    State.FAILED: frozenset(
        {
            Reason.DNS_NO_NAME,
            Reason.DNS_NO_ADDRESS,
            Reason.DNS_FAILURE,
            Reason.DNS_TIMEOUT,
            Reason.ADDRESS,
            Reason.CONNECT,
            Reason.TLS,
            Reason.TIMEOUT,
            Reason.GAVE_WAY,
            Reason.RESET,
            Reason.TRUNCATED,
            Reason.CONTENT_CODING,
            Reason.PROTOCOL,
            Reason.HTTP_ERROR,
            Reason.ROBOTS_UNREACHABLE,
            Reason.ROBOTS_ERROR,
            Reason.PLUGIN,
            Reason.PEER,
            Reason.FAULT,
            Reason.WORKER_DIED,
            Reason.STORE,
        }
    ),
    State.REFUSED: frozenset(
        {
            Reason.ROBOTS,
            Reason.NOFOLLOW,
            Reason.TOPIC,
            Reason.SCOPE,
            Reason.DEPTH,
            Reason.ADDRESS,
            Reason.SCHEME,
            Reason.LOCAL,
            Reason.PORT,
            Reason.SIZE,
            Reason.REDIRECTS,
            Reason.EXCLUDED,
            Reason.SITE_PAGES,
            Reason.MEDIA_TYPE,
            Reason.LENGTH,
            Reason.PATH_DEPTH,
            Reason.REPEATS,
            Reason.PARAMETERS,
            Reason.QUERIES,
            Reason.CALENDAR,
            Reason.SESSION,
            Reason.DUPLICATES,
            Reason.SOFT_404,
        }
    ),
    State.GONE: frozenset({Reason.MISSING, Reason.HTTP_REFUSED, Reason.OUT_OF_TRIES}),
}

# A refused URL is looked at again when one of these settings differs from the last run's, and so is one that failed for such a
# reason. One that was too long is not among
# them: it is not stored as a whole, and is found again with the page that links to it.
SETTINGS_OF: dict[Reason, tuple[str, ...]] = {
    Reason.ROBOTS: ("Work.UserAgent", "Work.Host"),
    Reason.NOFOLLOW: ("Work.Directives",),
    Reason.TOPIC: ("Work.Topics", "Work.FollowTopics", "Work.OtherTopics"),
    Reason.SCOPE: ("Work.Scope", "Work.Domains"),
    Reason.DEPTH: ("Work.MaxDepth",),
    Reason.ADDRESS: ("Map.AllowAddresses",),
    Reason.SCHEME: ("Work.DownloaderClass",),
    Reason.SIZE: ("Work.MaxBytes",),
    Reason.REDIRECTS: ("Work.MaxRedirects",),
    Reason.EXCLUDED: ("Work.Include", "Work.Exclude"),
    Reason.SITE_PAGES: ("Work.MaxPagesPerSite",),
    Reason.MEDIA_TYPE: ("Work.MediaTypes",),
    Reason.PATH_DEPTH: ("Work.MaxPathSegments",),
    Reason.REPEATS: ("Work.MaxRepeats",),
    Reason.PARAMETERS: ("Work.MaxParameters",),
    Reason.QUERIES: ("Work.MaxQueryShapes",),
    Reason.CALENDAR: ("Work.MaxYearsAhead", "Work.MaxYearsBack"),
    Reason.SESSION: ("Work.OneSession",),
    Reason.DUPLICATES: ("Work.TemplateBudget",),
    Reason.SOFT_404: ("Work.TemplateBudget",),
}


def after(event: Event, *states: State | None) -> State:
    """The state that the event leads to from each of these states; without any, from every state in which it can happen.

    ValueError is a bug of the caller: the event cannot happen in one of the states, or it leads from them to different ones.
    """
    befores = states or [state for state, moves in MOVES.items() if event in moves]
    targets = {MOVES[before].get(event) for before in befores}
    target = targets.pop()
    if target is None or targets:
        names = ", ".join("none" if before is None else before.word for before in befores)
        raise ValueError(f"{event.name} does not lead from {names} to one state")
    return target
