"""What the processes of a run say to each other, beside the records of `records.py`.

| from | to | says |
|---|---|---|
| coordinator | Update Database | Begin, LeaseRequest, Assigned, WorkerJoined (with its socket), WorkerGone, Finish, |
| | | and BadRecord and VisitOver of pairs that never reached a worker |
| Update Database | coordinator | Ready or Mistake, Leases, Committed, Trouble, Finished |
| coordinator | Crawl Worker | Begin, Visits, Stop |
| Crawl Worker | coordinator | RequestProcessed, Slowed, Report, Misbehaviour, Mistake |
| Crawl Worker | Update Database | ShelfBuilt (with its memory), the records of `records.py`; PauseRecord passes the buffer by |
| Update Database | Crawl Worker | Credit, PlacesCleared |
"""

# Annotations are not postponed here: msgspec reads those of records, and would compile each from its text in every process.

import msgspec

from parcahyd.core.progress import WorkerProgress
from parcahyd.core.records import (
    Assignment,
    BadRecord,
    ErrandRecord,
    ExternRecord,
    PageRecord,
    Pair,
    Pause,
    PauseRecord,
    SiteRecord,
    UnchangedRecord,
    VisitOver,
)

__all__ = [
    "Assigned",
    "Begin",
    "BufferRecord",
    "Committed",
    "Credit",
    "Finish",
    "Finished",
    "FromCoordinatorToUpdate",
    "FromCoordinatorToWorker",
    "FromUpdateToCoordinator",
    "FromUpdateToWorker",
    "FromWorkerToCoordinator",
    "FromWorkerToUpdate",
    "LeaseRequest",
    "Leases",
    "Misbehaviour",
    "Mistake",
    "PlacesCleared",
    "Ready",
    "Report",
    "RequestProcessed",
    "ShelfBuilt",
    "Slowed",
    "Stop",
    "Trouble",
    "Visits",
    "WorkerGone",
    "WorkerJoined",
]


class _Message(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """The common form of a message."""


class Begin(_Message, frozen=True):
    """The first message to a child: what to work by."""

    configuration: bytes
    """The Configuration, encoded: this package knows no settings."""
    seeds: tuple[str, ...] = ()
    worker: int = 0
    credit: int = 0
    """How many bytes each worker may have on their way to the database."""
    strangers: bool = True
    """There are plugins beside the shipped ones."""


class Ready(_Message, frozen=True):
    """The database is open and the last run's leftovers are put in order."""

    run: int
    started_at: float
    pauses: tuple[Pause, ...]
    empty: bool
    """The database knows no URL at all."""


class Mistake(_Message, frozen=True):
    """The run cannot start or go on, for a reason that the user can put right."""

    message: str
    remedy: str = ""


class LeaseRequest(_Message, frozen=True):
    """The URL Dispatcher wants sites."""

    count: int
    again_before: float
    """Stored documents count as due when they fell due before this."""


class Leases(_Message, frozen=True):
    """The answer: pairs, and when the next site falls due if there were fewer than asked for."""

    pairs: tuple[Pair, ...]
    next_due: float | None


class Assigned(_Message, frozen=True):
    """Which address each of these visits was given: should everything be killed, those addresses rest for a full delay."""

    addresses: dict[int, str]


class WorkerJoined(_Message, frozen=True):
    """A new Crawl Worker; its socket comes with the message."""

    worker: int


class WorkerGone(_Message, frozen=True):
    """A Crawl Worker's process has ended; `visits` are those of its visits whose end is not committed, as far as is known."""

    worker: int
    visits: tuple[int, ...]


class Committed(_Message, frozen=True):
    """What the last transactions brought; counts are of the whole run."""

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


class Trouble(_Message, frozen=True):
    """The database does not take what it is given, for now."""

    sentence: str


class Finish(_Message, frozen=True):
    """Everything is released: close the run's row and the database."""

    outcome: str
    requests: int


class Finished(_Message, frozen=True):
    """The last word of Update Database."""

    waiting: dict[str, int]
    next_due: float | None


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


class Slowed(_Message, frozen=True):
    """A robots.txt asks for a longer delay: should the worker die during the visit, its host rests for that."""

    visit: int
    delay: float


class Report(_Message, frozen=True):
    """How a worker is doing."""

    progress: WorkerProgress


class Misbehaviour(_Message, frozen=True):
    """A plugin did what it must not; said once per plugin and kind."""

    sentence: str


class Credit(_Message, frozen=True):
    """So many bytes of a worker's records were committed: it may send as many again."""

    size: int


class ShelfBuilt(_Message, frozen=True):
    """A worker has a shelf; its memory comes with the message."""


class PlacesCleared(_Message, frozen=True):
    """What lay on a worker's shelf at these starts is packed: the places are its own again."""

    starts: tuple[int, ...]


BufferRecord = ExternRecord | PageRecord | UnchangedRecord | SiteRecord | ErrandRecord | BadRecord | VisitOver
FromWorkerToUpdate = BufferRecord | PauseRecord | ShelfBuilt
FromCoordinatorToUpdate = Begin | LeaseRequest | Assigned | WorkerJoined | WorkerGone | Finish | BadRecord | VisitOver
FromUpdateToCoordinator = Ready | Mistake | Leases | Committed | Trouble | Finished
FromCoordinatorToWorker = Begin | Visits | Stop
FromWorkerToCoordinator = RequestProcessed | Slowed | Report | Misbehaviour | Mistake
FromUpdateToWorker = Credit | PlacesCleared
