"""The messages between the processes of a run, beside the records of `records.py`; the buffer's queues; the signals.

| from | to | messages |
|---|---|---|
| coordinator | Update Database | Begin, LeaseRequest, AddressesFound, Assigned, WorkerGone, Finish, |
| | | and BadRecord and VisitOver of pairs that never reached a worker; on a cluster GoIdle and FollowScope |
| Update Database | coordinator | Ready or CannotRun, Leases, Committed, Notice, CannotGoOn, Finished; |
| | | on a cluster Idle and Pulse |
| coordinator | Crawl Worker | Begin, BufferAddress, Visits, HandBack, Stop |
| Crawl Worker | coordinator | RequestProcessed, Slowed, Watched, Report, Notice, CannotRun |
| Crawl Worker | Update Database | WorkerJoined, then the records of `records.py`; PauseRecord passes the buffer by |
| Update Database | Crawl Worker | Credit |
| agent of a cluster's machine | coordinator | Begin; closing the channel asks it to give its partition back |
| coordinator | agent | CannotRun, Notice |
"""

# Annotations are not postponed here: msgspec reads those of records, and would compile each from its text in every process.
from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

import msgspec

from parcahyd.core.progress import WorkerProgress
from parcahyd.core.records import (
    Assignment,
    BadRecord,
    DueUrl,
    ExternRecord,
    LinksRecord,
    PageRecord,
    Pause,
    PauseRecord,
    RobotsRedirectRecord,
    SiteAddresses,
    SiteLease,
    SiteRecord,
    UnchangedRecord,
    VisitOver,
)

__all__ = [
    "AddressesFound",
    "Assigned",
    "Begin",
    "BufferAddress",
    "BufferQueue",
    "BufferRecord",
    "BufferedRecord",
    "CannotGoOn",
    "CannotRun",
    "Committed",
    "Credit",
    "Finish",
    "Finished",
    "FollowScope",
    "FromAgentToPipeline",
    "FromCoordinatorToUpdate",
    "FromCoordinatorToWorker",
    "FromPipelineToAgent",
    "FromUpdateToCoordinator",
    "FromUpdateToWorker",
    "FromWorkerToCoordinator",
    "FromWorkerToUpdate",
    "GoIdle",
    "HandBack",
    "Idle",
    "LeaseRequest",
    "Leases",
    "Notice",
    "Pulse",
    "Ready",
    "Report",
    "RequestProcessed",
    "Signal",
    "SignalBoard",
    "Slowed",
    "Stop",
    "Visits",
    "WatchStep",
    "Watched",
    "WorkerGone",
    "WorkerJoined",
    "Written",
    "charge",
    "rows_of",
]


class _Message(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """The common form of a message."""


class Begin(_Message, frozen=True):
    """The first message to a child process: its configuration and its part."""

    configuration: bytes
    """The Configuration, encoded: this package does not import `config`."""
    seeds: tuple[str, ...] = ()
    worker: int = 0
    serial: int = 0
    """Of a worker's process: one that replaces another has the same `worker` and a `serial` of its own."""
    credit: int = 0
    """How many bytes each worker may have on their way to the database."""
    max_rate: float = 0.0
    """How many bytes a second each worker may receive, its part of MaxRate; 0: no limit."""
    forever: bool = False
    as_configured: bool = False
    """What the last run was given of the user's own, and this one was not, is left out."""
    partition: bytes = b""
    """The HeldPartition, encoded, where this is a pipeline of a cluster."""


class Ready(_Message, frozen=True):
    """The database is open and the last run's leftovers are put in order."""

    run: int
    pauses: tuple[Pause, ...]
    empty: bool
    """The database holds no URL."""
    buffer_address: str
    """Where workers connect to the Document and URL Buffer."""
    configuration: bytes = b""
    """The Configuration, encoded, with what it took over from the last run; empty where that is nothing."""
    told: tuple[str, ...] = ()
    """A line for each setting that was taken over or differs from the last run's."""


class CannotRun(_Message, frozen=True):
    """The run cannot start or go on, for a reason that the user can put right."""

    message: str
    remedy: str = ""


class CannotGoOn(_Message, frozen=True):
    """The run ends as failed, for a reason that no second try removes."""

    sentence: str


class LeaseRequest(_Message, frozen=True):
    """The URL Dispatcher asks for sites."""

    count: int
    again_before: float | None
    """Stored documents count as due when they fell due before this; None: before the run, which visits each at most once."""


class Leases(_Message, frozen=True):
    """The answer: pairs, and when the next site falls due if there were fewer than requested."""

    pairs: tuple[SiteLease, ...]
    next_due: float | None


class AddressesFound(_Message, frozen=True):
    """Addresses that were just resolved (P11): they are in the database before the visit begins."""

    sites: tuple[SiteAddresses, ...]


class Assigned(_Message, frozen=True):
    """Which address each of these visits was given: if every process is killed, those addresses are paused for a full delay."""

    addresses: dict[int, str]


class BufferAddress(_Message, frozen=True):
    """Where a worker connects to the Document and URL Buffer."""

    address: str


class WorkerJoined(_Message, frozen=True):
    """The first message of a Crawl Worker to the Document and URL Buffer."""

    serial: int


class WorkerGone(_Message, frozen=True):
    """A Crawl Worker's process has ended; `visits` are those of its visits whose end is not committed, as far as is known."""

    serial: int
    visits: tuple[int, ...]
    failed: tuple[BadRecord, ...] = ()
    """The URLs that were under way in watched visits: the death of the worker counts as a try of each."""
    guilty: tuple[int, ...] = ()
    """Watched visits to which the death is put down."""
    innocent: tuple[int, ...] = ()
    """Watched visits that had no part in it, since another visit had."""


class Committed(_Message, frozen=True):
    """The outcome of the last transactions; counts are of the whole run."""

    released: tuple[int, ...]
    """Visits that are over and whose sites may be leased again."""
    new_work: bool
    """There may be sites to lease that were not there before."""
    stored: int
    unchanged: int
    failed: int
    refused: int
    gone: int
    received: int
    reasons: dict[str, int]
    buffer_records: int
    buffer_bytes: int
    pages: int = 0
    """What MaxPages counts: those of `stored` and `unchanged` that are neither redirects nor members of archives."""
    rests_until: float = 0.0
    """The latest `VisitOver.rests_until` of the released visits."""
    unstored: int = 0
    """Records that wait for a database that takes nothing; 0 where it takes them."""
    saved: dict[str, int] = {}
    """As in Written, of the whole run."""


class Notice(_Message, frozen=True):
    """A sentence for the user: the database takes nothing for now, or a plugin broke its contract."""

    sentence: str
    unstored: int = 0
    """Records that wait for the database."""


class Finish(_Message, frozen=True):
    """Everything is released: close the run's row and the database."""

    outcome: str
    requests: int


class Finished(_Message, frozen=True):
    """The last message of Update Database."""

    waiting: dict[str, int]
    next_due: float | None
    held_back: int = 0
    """URLs that wait until MaxPagesPerSite is raised."""


class GoIdle(_Message, frozen=True):
    """On a cluster: say at the hub that this partition has nothing to do, unless a letter came or something falls due before
    `until`."""

    until: float
    again_before: float | None
    """As in LeaseRequest."""


class Idle(_Message, frozen=True):
    """The answer to GoIdle."""

    is_idle: bool
    taken: int
    """Letters that were taken in so far."""


class FollowScope(_Message, frozen=True):
    """On a cluster: the scope has a new version."""


class Pulse(_Message, frozen=True):
    """On a cluster: this process goes on. Its coordinator does not renew for processes that stand still."""

    posted: dict[str, int] = {}
    """What was posted to other partitions so far: letters, bytes, urls, spared."""
    taken: int = 0
    """Letters that were taken in so far."""
    leaving: tuple[str, ...] = ()
    """Hosts that go to another partition as soon as no visit of them is open."""
    coming: int = 0
    """Hosts that come from other partitions."""


class HandBack(_Message, frozen=True):
    """Send no new request in these visits, and hand them back: another pipeline waits for their host or address."""

    visits: tuple[int, ...]


class Visits(_Message, frozen=True):
    """A set for a Crawl Worker, at most ArgumentUrl pairs."""

    assignments: tuple[Assignment, ...]


class Stop(_Message, frozen=True):
    """No new request; end what is on the wire within so many seconds, then hand everything back."""

    within: float


class RequestProcessed(_Message, frozen=True):
    """A visit is over; its place, host and address are free once `pauses` have passed."""

    visit: int
    pages: int
    requests: int
    pauses: tuple[Pause, ...]
    rests: tuple[float, float] = (0.0, 0.0)
    """For how many seconds its host and its address rest, counted from when this was sent."""


class Slowed(_Message, frozen=True):
    """A robots.txt asks for a longer delay: if the worker's process ends during the visit, the host is paused for that long."""

    visit: int
    delay: float


class WatchStep(Enum):
    """How far a watched request is."""

    SENT = "sent"
    HANDLED = "handled"
    """Its answer is handled on the event loop, which does nothing else meanwhile."""
    IN_THREAD = "in thread"
    """Its document is read in a thread, or waits to be read there."""
    OVER = "over"


class Watched(_Message, frozen=True):
    """A step of a request in a watched visit. It is written to the socket before the step is taken: if the worker's process
    dies with it, the coordinator knows what was under way."""

    visit: int
    site: int
    number: int
    """Of the request, within its visit."""
    step: WatchStep
    url: DueUrl | None = None
    """With SENT; None where something other than a page is requested, such as robots.txt."""


class Report(_Message, frozen=True):
    """How a worker is doing."""

    progress: WorkerProgress


class Credit(_Message, frozen=True):
    """So many bytes of a worker's records were committed: it may send as many again."""

    size: int


BufferRecord = (
    ExternRecord | LinksRecord | PageRecord | UnchangedRecord | SiteRecord | RobotsRedirectRecord | BadRecord | VisitOver
)
FromWorkerToUpdate = WorkerJoined | BufferRecord | PauseRecord
FromCoordinatorToUpdate = (
    Begin | LeaseRequest | AddressesFound | Assigned | WorkerGone | Finish | GoIdle | FollowScope | BadRecord | VisitOver
)
FromUpdateToCoordinator = Ready | CannotRun | CannotGoOn | Leases | Committed | Notice | Idle | Pulse | Finished
FromCoordinatorToWorker = Begin | BufferAddress | Visits | HandBack | Stop
FromAgentToPipeline = Begin
FromPipelineToAgent = CannotRun | Notice
FromWorkerToCoordinator = RequestProcessed | Slowed | Watched | Report | Notice | CannotRun
FromUpdateToWorker = Credit


# --- What passes between the Document and URL Buffer and Update Database: queues, records with their cost, credit -------


_RECORD_CHARGE = 256
_ROW_CHARGE = 64
"""A link takes as many bytes more in memory than in its record: those of a string and of its place in a tuple."""

Item = TypeVar("Item")


class BufferQueue(Enum):
    """The three queues, in the order in which Update Database empties them (P19)."""

    EXTERN = "ExternLQ"
    DOC = "DocURLQ"
    BAD = "BadURLQ"


class BufferedRecord(msgspec.Struct, Generic[Item], frozen=True, gc=False):
    """A record in the buffer, its cost, and the worker (`sender`) and visit whose credit it takes."""

    item: Item
    cost: int
    sender: int
    visit: int
    source: int = 0
    """The visit that it came from. `visit` is the same where the end of the visit waits for the record, else 0."""
    rows: int = 1
    """How many rows of the database it is about, at most."""


class Written(msgspec.Struct):
    """The outcome of a batch of records."""

    stored: int = 0
    """Pages with a document or a redirect that the URL did not have."""
    unchanged: int = 0
    """Pages that did not change, by their bytes or by the server's answer."""
    pages: int = 0
    """Those of `stored` and `unchanged` that MaxPages counts: no redirects, and no members of archives, which nobody asked
    for."""
    not_kept: dict[str, int] = {}
    """Pages of which nothing is kept because they ask for that, by the word of the reason: noindex or noarchive."""
    received: int = 0
    """Bytes on the wire."""
    saved: dict[str, int] = {}
    """Bytes that were not sent, by what saved them: `coding`, `conditional` (requests), `tables`."""
    found: int = 0
    """URLs that were not known before."""
    has_new_work: bool = False
    """A site that is not being visited may have something to do."""
    late: int = 0
    """Records that changed nothing, since their visit is no longer open."""
    instead: BadRecord | None = None
    """What was stored in the place of a record that the database refused."""


def rows_of(record: FromWorkerToUpdate) -> int:
    """How many rows of the database a record is about, at most: one, and one for each URL in it."""
    if isinstance(record, PageRecord):
        return 1 + len(record.internal) + len(record.external) + len(record.refused) + len(record.lastmods)
    if isinstance(record, LinksRecord):
        return 1 + len(record.internal) + len(record.external) + len(record.lastmods)
    return 1 + len(record.urls) if isinstance(record, ExternRecord) else 1


def charge(size: int, rows: int) -> int:
    """What a record of `size` encoded bytes costs in credit: its bytes, what its rows take in memory besides, and a fixed
    amount that bounds the number of records."""
    return size + _RECORD_CHARGE + _ROW_CHARGE * rows


# --- The five signals of the pipeline (statement P20) -------------------------------------------------------------------


class Signal(Enum):
    """A signal, which wakes a box.

    | signal | raised by | wakes |
    |---|---|---|
    | Something to map | URL Dispatcher, after it filled the URL-IP Queue | Mapping Manager |
    | Hungry | URL Mapper, when its set is finished | Mapping Manager |
    | Something to crawl | URL Mapper, after it filled the Resolved URL Queue | Crawl Manager |
    | Request processed | Crawl Worker, when a visit is over | Crawl Manager |
    | Something to update | Crawl Worker, with every record for the buffer | Update Database |

    A signal carries no data: the work is in the queues, so a signal that is raised twice does no harm.
    """

    SOMETHING_TO_MAP = "Something to map"
    HUNGRY = "Hungry"
    SOMETHING_TO_CRAWL = "Something to crawl"
    REQUEST_PROCESSED = "Request processed"
    SOMETHING_TO_UPDATE = "Something to update"


class SignalBoard:
    """The functions that each signal calls; `raise_` calls them at once, in the order in which they were wired."""

    def __init__(self) -> None:
        self._receivers: dict[Signal, list[Callable[[], None]]] = {signal: [] for signal in Signal}

    def wire(self, signal: Signal, receiver: Callable[[], None]) -> None:
        self._receivers[signal].append(receiver)

    def raise_(self, signal: Signal) -> None:
        for receiver in self._receivers[signal]:
            receiver()
