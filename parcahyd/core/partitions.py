"""The port of a cluster's central question, whose is it?, with the records that the question and its answers are made of.

A cluster divides its crawl into partitions, numbered from 0: each is a set of sites with its own tables, its own pipeline and
its own writer. A strategy, which is a `Partitioner`, says which partition a host belongs to and which machine each partition
is wanted on. The strategies that come with PARCAHYD are in `parcahyd/partition/`; others are offered by
`parcahyd_partitioners`.

Tested in tests/core/test_partitions.py and tests/partition/test_by_hash.py.
"""

# Annotations are not postponed here: these records travel, and msgspec would compile each annotation from its text.

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Protocol, runtime_checkable

import msgspec

__all__ = [
    "MAX_SHARED",
    "ClusterNode",
    "ClusterView",
    "JudgedPage",
    "Neighbours",
    "Observation",
    "Observed",
    "Partitioner",
    "Plan",
    "Routing",
    "Seen",
    "SiteMove",
    "Undecided",
]

MAX_SHARED = 1024 * 1024
"""How many bytes `Partitioner.share` and `Routing.state` have at most: every pipeline of a cluster reads them."""


class Routing(msgspec.Struct, frozen=True):
    """What all pipelines of a cluster decide by. Two partitioners with equal settings and equal routing answer alike."""

    partitions: int
    """How many there are, at least 1. It is fixed when the cluster is made."""
    version: int = 0
    """It grows with each plan that changes `state`."""
    state: bytes = b""
    """What the last plan decided, in the strategy's own form; empty at first."""
    secret: bytes = b""
    """Bytes that were drawn by chance when the cluster was made. A hash that takes them in cannot be foreseen by the author of
    a page, who chooses the names of his hosts."""


class Neighbours(msgspec.Struct, frozen=True):
    """How many hosts live where, as far as it is known; the figures may be some minutes old."""

    at_address: Mapping[int, int]
    """Hosts with the same address, by the partition that they live in."""
    hosts: Mapping[int, int]
    """All hosts, by the partition that they live in."""


class Seen(msgspec.Struct, frozen=True):
    """A host whose home is asked for, with the path of the URL that led to it."""

    host: str
    """As in a canonical URL. Page authors choose it: it may be long, odd, or one of a million of the same domain."""
    path: str = "/"
    """As in a canonical URL, with the query."""
    finder: int = 0
    """The partition that found the URL."""
    address: str = ""
    """The address that the host was mapped to; empty before it was mapped."""
    neighbours: Neighbours | None = None
    """Who else lives at that address; None before the host was mapped."""
    size: int | None = None
    """Pages of the host's last crawl; None: not known."""
    failed: bool = False
    """The partition that had the host before was given up."""


class Undecided(msgspec.Struct, frozen=True):
    """No home yet: the named partitions first measure how near `Seen.address` is, and `home` is asked again."""

    probe: tuple[int, ...]
    """In the order in which they measure. The results come back through `observe`."""


class JudgedPage(msgspec.Struct, frozen=True):
    """A stored page, by whose content `belongs` decides."""

    url: str
    """Canonical."""
    media_type: str = ""
    """In lower case, without parameters."""
    language: str = ""
    """A language tag in lower case; empty: not known."""
    title: str = ""
    """One line."""
    text: str = ""
    """As the summary has it; empty unless `Summaries` is "full"."""


class Observed(Enum):
    """What a pipeline can report to its partitioner."""

    VISITS = "visits"
    """`value` URLs with the path or prefix `subject` were met: they are visited, or are to be visited. Those that wait when
    a routing begins are told again."""
    FETCHED = "fetched"
    """`value` of the URLs with the path or prefix `subject` that were met have been visited."""
    LINKS = "links"
    """`value` links lead from pages of `subject` to pages of `target`."""
    RATE = "rate"
    """`value` pages a second came from the host `subject`."""
    SIZE = "size"
    """The host `subject` had `value` pages when it was last crawled to its end."""
    PROBE = "probe"
    """The partition with the number `target` reached the address `subject` in `value` seconds. Infinity: it did not reach it.
    Not a number: what it measured there has expired."""


class Observation(msgspec.Struct, frozen=True, gc=False):
    """One fact that a pipeline saw. It stands for many pages or links: there is none for a single link."""

    what: Observed
    """Which kind of fact: it says what the other fields mean."""
    subject: str
    """A host, a host and a path ("www.example.org/docs/"), or an address."""
    value: float = 1.0
    """A number, a rate or a time."""
    target: str = ""
    """Of links, where they lead; of a probe, who measured."""


class ClusterNode(msgspec.Struct, frozen=True):
    """A machine that may run partitions, with what it has (statements G3, G10). A figure that is None limits nothing."""

    name: str
    """Different from those of all other nodes."""
    cores: float
    """Cores that this machine has."""
    memory: float | None = None
    """Bytes that the crawl may use."""
    disk: float | None = None
    """Bytes that are free where partitions are stored; None where they are stored elsewhere (statement G18)."""
    bandwidth: float | None = None
    """Bytes a second to the Web."""
    load: float = 0.0
    """Cores that programs other than the crawl use, as a mean over some minutes."""
    address: str = ""
    """An address at which others reach it; empty: not known."""


class ClusterView(msgspec.Struct, frozen=True):
    """What a plan is made from. The order of `nodes` and of `shared` says nothing."""

    routing: Routing
    """The one that holds now."""
    nodes: tuple[ClusterNode, ...]
    """The machines that may run partitions: one that is silent, or is to leave, is not among them."""
    placed: tuple[str | None, ...]
    """For each partition the node that it is wanted on so far, or else that runs it; None: there is none. It may be a node
    that is not among `nodes`."""
    shared: tuple[bytes, ...] = ()
    """What the pipelines gave with `share`, of each the latest."""
    sizes: Mapping[int, int] = {}
    """Pages by partition, as far as they are known."""
    idle: frozenset[int] = frozenset()
    """Partitions that have had nothing to do for some time: they cost a machine nothing."""


class SiteMove(msgspec.Struct, frozen=True):
    """A site that is to live elsewhere from now on."""

    site: str
    """A host, or a host and the beginning of a path."""
    partition: int
    """Where it is to live."""


class Plan(msgspec.Struct, frozen=True):
    """What is to change. Who asked for the plan carries it out; the strategy itself changes nothing by planning."""

    wanted: tuple[str | None, ...]
    """For each partition the name of the node that should run it; None: there is no node, whoever comes first may take it."""
    moves: tuple[SiteMove, ...] = ()
    """Each is a lot of work: its queued and its visited URLs go along."""
    state: bytes | None = None
    """The state of the next routing; None: it stays as it is."""


@runtime_checkable
class Partitioner(Protocol):
    """Says whose a host, a page and a partition are. It decides and does nothing else: no network, database, clock or chance.

    One is made for each pipeline and for each version of the routing. What it has observed ends with it, unless a plan puts it
    into the next `Routing.state`. Every method returns quickly, keeps a bounded memory whatever the names are, and raises
    nothing but ValueError, and that only in `share`, for bytes that no partitioner of its kind gave.

    *The same everywhere* means: the same settings, routing and arguments give the same answer on every machine, in every
    process and at every time. So nothing may depend on `hash()` of a text, on the order of a set, or on what was asked before.
    """

    one_home: bool
    """A host lives in one partition, and what `home` says of a mapped host is written down for all; false: whoever finds a host
    keeps it, several partitions may visit it in turns, and nothing is written down."""
    home_may_change: bool
    """What `home` says of a host may be another with another routing, or None. So it is written down for all when somebody
    first finds the host, and holds until the host is moved; false: what is not written down follows from the name."""
    observes: frozenset[Observed]
    """What it wants to be told by `observe`; a pipeline collects nothing else."""

    def home(self, seen: Seen) -> int | Undecided | None:
        """The partition of a host that has no home on record; None: the host waits until `next_for` gives it away.

        It is asked up to twice. When a URL of the host is found, `address` is empty. The answer is the same everywhere, since
        every pipeline that finds the host must post it to the same partition; that partition maps it. Then, before the first
        visit, the partition that mapped the host asks again, with `address` and `neighbours`. An answer that names another
        partition is written down once, for all, and holds from then on; this answer may also depend on what was observed.
        A partition that does not exist must never be named. `Undecided` is an answer to the second question only.
        """
        ...

    def belongs(self, page: JudgedPage, here: int) -> int:
        """The partition that a page belongs to by its content, the same everywhere; mostly `here`, where it is stored."""
        ...

    def next_for(self, partition: int, waiting: Sequence[Seen], room: int) -> tuple[str, ...]:
        """Of the hosts that wait (`home` was None), those that a partition with room for so many gets now, the first one first.

        All of them are among `waiting`, none is named twice, and there are `room` at most. Two partitions may ask about the
        same hosts at the same time: whoever commits first gets a host, so an answer is a wish.
        """
        ...

    def observe(self, facts: Iterable[Observation]) -> None:
        """Takes in what this pipeline saw, of the kinds that `observes` names; others are passed over."""
        ...

    def share(self, others: Sequence[bytes] = ()) -> bytes:
        """What this pipeline has observed, merged with what other pipelines gave, as at most MAX_SHARED bytes.

        Nothing is changed by it: asked again, the answer is the same. The order of `others` does not matter, and neither does
        who merges first: `a.share([b.share(), c.share()])` equals `b.share([a.share([c.share()])])`. Merged with what a
        partitioner gave that has observed nothing, bytes stay as they are. Raises ValueError for bytes that `share` never
        gave.
        """
        ...

    def plan(self, view: ClusterView) -> Plan:
        """Which node each partition is wanted on, which sites are to move, and the next routing; the same everywhere.

        It is asked by whoever holds the planning lock, when nodes come and go and from time to time. Every partition is named,
        no node is named that is not in the view, and no partition that does not exist is a target. Where nothing has changed,
        it moves nothing.
        """
        ...
