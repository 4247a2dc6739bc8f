"""The tables of a crawl, the same on SQLite and PostgreSQL.

| table | one row is |
|---|---|
| `schema_version` | the version of these tables |
| `runs` | a run: when, with which settings, how it ended |
| `sites` | scheme, host and port: addresses, robots.txt, when it falls due, the visit that has it |
| `seeds` | a URL that the user gave, or that the redirect of one led to |
| `urls` | a URL, in exactly one state |
| `documents` | the bytes of a skeleton, once, however many URLs have it |
| `fetches` | an answer that brought something new: a version of a URL |
| `head_bases` | a head of a site, which other heads of it are compressed against |
| `own_bodies` | the bytes that a fetch brought and no document holds: a redirect's, or another coded form of a document |
| `exchanges` | an answer that brought no version: a check that found nothing new, an error, or robots.txt |
| `requests` | the headers of requests, as far as they hold no secret |
| `volatile` | what a fetch had in one volatile region of its skeleton |
| `tvis` | the table of variable information that a fetch is refreshed by |
| `learned` | what was learned, up to a fetch, of how its page changes |
| `links` | the table of links of a document |
| `summaries` | what a summarizer made of a document |
| `pauses` | until when no request goes to a host or an address |
| `overfull` | a page with links that were left out, since its site had no room for them |
| `errands` | a robots.txt that redirects to another site, and is to be fetched there |

Rows refer to each other by id without declared foreign keys: there is one writer, checking every link of every page again in
the database costs more than writing it, and `parcahyd verify` reports references that lead nowhere.
The writer gives out ids, so that a batch is written without asking the database for each of them.

Tested in tests/storage/test_migrations.py and tests/storage/test_query_plans.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    event,
    literal_column,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex

from parcahyd.core.states import Event, State, after

__all__ = [
    "FAILED",
    "GONE",
    "HELD",
    "KNOWN",
    "REFUSED",
    "STORED",
    "documents",
    "errands",
    "exchanges",
    "fetches",
    "head_bases",
    "learned",
    "links",
    "metadata",
    "overfull",
    "own_bodies",
    "pauses",
    "requests",
    "runs",
    "schema_version",
    "seeds",
    "sites",
    "state_after",
    "summaries",
    "tvis",
    "urls",
    "volatile",
]


# A partial index serves only a query whose condition the planner can compare with its own, so states stand in SQL as literals.
def _state(state: State) -> ColumnElement[int]:
    return literal_column(str(int(state)), SmallInteger)


def state_after(event: Event, *states: State | None) -> ColumnElement[int]:
    """The state that a statement writes, from the table of moves: see `core.states.after`."""
    return _state(after(event, *states))


KNOWN, STORED, FAILED, REFUSED, GONE = map(_state, State)

HELD = -1
"""In place of a visit: no visit begins here. The site is on its way to another partition, or waits to be given to one."""

metadata = MetaData()

# Only INTEGER PRIMARY KEY is the row's own number on SQLite; it holds 64 bits all the same.
_ID = BigInteger().with_variant(Integer, "sqlite")
_ZERO = text("0")
_EMPTY = text("''")
_FALSE = text("false")


def _id() -> Column[int]:
    return Column("id", _ID, primary_key=True, autoincrement=False)


def _count(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default=_ZERO)


def _time(name: str) -> Column[float]:
    """A time in seconds since the epoch; 0 is long past."""
    return Column(name, Double, nullable=False, server_default=_ZERO)


def _words(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, server_default=_EMPTY)


# Both databases write a partial index alike. SQLAlchemy's own way is an argument for each dialect, which loads both.
def _partial_index(name: str, *columns: Column[Any], where: ColumnElement[bool]) -> None:
    Index(name, *columns, info={"where": where})


@compiles(CreateIndex)
def _create_index(create: CreateIndex, compiler: Any, **options: Any) -> str:
    statement: str = compiler.visit_create_index(create, **options)
    where = create.element.info.get("where")
    if where is None:
        return statement
    return f"{statement} WHERE {compiler.sql_compiler.process(where, literal_binds=True, include_table=False)}"


schema_version = Table("schema_version", metadata, Column("version", Integer, nullable=False))

runs = Table(
    "runs",
    metadata,
    _id(),
    Column("started_at", Double, nullable=False),
    Column("ended_at", Double),
    Column("settings", Text, nullable=False),  # JSON, `Work.KEY` and `Map.KEY`, and which were given; never how to reach it
    Column("version", Text, nullable=False),
    Column("outcome", Text),
    Column("counts", Text),  # JSON
    Column("crawl_run", BigInteger),  # the run that this start belongs to, by the id of its first start; null: it never ends
)

sites = Table(
    "sites",
    metadata,
    _id(),
    Column("scheme", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("port", Integer, nullable=False),
    Column("in_scope", Boolean, nullable=False),
    _words("addresses"),  # comma separated; blank: resolve again
    _time("addresses_expire"),
    Column("robots_status", Text),
    Column("robots_text", LargeBinary),
    _time("robots_fetched_at"),
    _time("robots_expires_at"),
    _words("robots_detail"),
    _time("robots_failing_since"),  # 0: the last attempt read it
    Column("robots_delay", Double, nullable=False, server_default=_ZERO),  # Crawl-delay, as it stands there
    _time("errand_until"),  # its URLs wait until then for a robots.txt from another site; 0: they do not
    Column("augmentation", LargeBinary),
    Column("guards", LargeBinary),  # what the trap guards learned
    _time("not_before"),
    Column("failures", Integer, nullable=False, server_default=_ZERO),
    Column("reason", Text),  # why no request goes to it before `not_before`
    Column("due_at", Double),  # when known or failed URLs, or a robots.txt for another site, are due
    Column("again_at", Double),  # earliest due_at of its stored, refused and gone URLs
    Column("visit", BigInteger),  # or HELD
    _words("visit_address"),
    _count("urls"),
    _count("urls_from_others"),  # of these, the ones that a page of another site brought
    _count("urls_for_others"),  # URLs of other sites that its pages brought
    _count("pages"),  # URLs that have a document
    _count("bytes"),  # that came from it on the wire; before version 5, those of its documents
    _count("requests"),
    Column("lastmod_trust", Integer, nullable=False, server_default=_ZERO),  # in what its sitemaps say (refresh.lastmod)
    _count("rested_in"),  # the last start (`runs.id`) that found nothing more to visit again
    UniqueConstraint("host", "scheme", "port"),
)

_partial_index(
    "sites_due",
    sites.c.due_at,
    where=sites.c.visit.is_(None) & sites.c.due_at.is_not(None),
)
_partial_index(
    "sites_again",
    sites.c.again_at,
    sites.c.not_before,
    where=sites.c.visit.is_(None) & sites.c.again_at.is_not(None),
)
_partial_index(
    "sites_visited",
    sites.c.visit,
    where=sites.c.visit.is_not(None),
)

seeds = Table(
    "seeds",
    metadata,
    Column("url", Text, primary_key=True),
    Column("site_id", BigInteger, nullable=False),
    Column("via", Text),  # the URL whose redirect brought it in
    Column("first_seen", Double, nullable=False),
)

urls = Table(
    "urls",
    metadata,
    Column("site_id", BigInteger, primary_key=True, autoincrement=False),
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("path", Text, nullable=False),
    Column("state", SmallInteger, nullable=False),
    Column("reason", Text),
    Column("depth", Integer, nullable=False),
    Column("hops", Integer, nullable=False),
    Column("seed", Boolean, nullable=False, server_default=_FALSE),
    Column("priority", Integer, nullable=False),  # the depth: breadth first
    Column("first_seen", Double, nullable=False),
    Column("due_at", Double),  # null: not before the settings change
    Column("tries", Integer, nullable=False, server_default=_ZERO),
    Column("status", Integer),
    Column("checked_at", Double),
    _words("etag"),
    _words("modified"),
    Column("document_id", BigInteger),
    Column("fetch_id", BigInteger),  # its latest version
    Column("checks", Integer, nullable=False, server_default=_ZERO),
    Column("changes", Integer, nullable=False, server_default=_ZERO),
    Column("changed_at", Double),
    Column("confirmed_at", Double),  # the last check that found it there, changed or not
    Column("change_weight", Double),  # what is known of its rate of change (refresh.change_rate); null: nothing yet
    Column("change_span", Double),
    Column("change_restless", Double),
    Column("lastmod", Double),  # when it changed, as a sitemap says
    Column("lastmod_read", Double),  # when that sitemap was read
    Column("detail", Text),
    _count("visited_in"),  # the last run (`crawl_run`) that visited it; 0: none
    _count("via_site"),  # the site of the page that it was first seen on; 0: its own
    Column("via_key", BigInteger),  # the key of that page; null: a seed, a table's, or from before version 5
    sqlite_with_rowid=False,
)

# `due_at` of a known URL is when it was found, so pages of one depth are asked for in the order they were found in.
_partial_index(
    "urls_known",
    urls.c.site_id,
    urls.c.priority,
    urls.c.due_at,
    urls.c.key,
    where=urls.c.state == KNOWN,
)
# What is out of scope has no due_at and costs no index entry.
_partial_index(
    "urls_rest",
    urls.c.site_id,
    urls.c.state,
    urls.c.due_at,
    urls.c.key,
    where=(urls.c.state != KNOWN) & urls.c.due_at.is_not(None),
)

documents = Table(
    "documents",
    metadata,
    _id(),
    Column("df", BigInteger, nullable=False),
    Column("sha256", LargeBinary, nullable=False),
    Column("length", BigInteger, nullable=False),
    _words("media_type"),
    _words("charset"),
    _words("title"),
    _words("language"),
    Column("similarity", BigInteger),  # 0: too little text to say; null: not taken yet
    _words("topic"),  # as the model of the setting Topics says; empty: not labelled. Before the body, so it is read without it.
    Column("body", LargeBinary, nullable=False),  # as `coding` says
    _words("coding"),  # the server's, where its bytes are stored as they came (gzip, deflate, br); empty: zlib, ours
    Column("coded_sha256", LargeBinary),  # of the server's bytes, where they are stored
    # DF finds the candidates and SHA-256 confirms, both in the index.
    Index("documents_df", "df", "sha256", unique=True),
)

# Nothing is written to it where documents are not labelled. With it, they are counted by topic without their bodies.
_partial_index("documents_topic", documents.c.topic, where=documents.c.topic != literal_column("''"))

fetches = Table(
    "fetches",
    metadata,
    _id(),
    Column("site_id", BigInteger, nullable=False),
    Column("key", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
    Column("status", Integer, nullable=False),
    Column("address", Text, nullable=False),
    Column("headers", LargeBinary, nullable=False),  # before version 5: header lines as they were read; else empty
    Column("redirect", Text),
    Column("document_id", BigInteger, index=True),
    Column("sha256", LargeBinary),  # of the whole, as the length
    Column("length", BigInteger),
    _words("coding"),  # content codings that the answer came with; its bytes are the document's where that has the same coding
    Column("coded_sha256", LargeBinary),  # of the bytes as they were transferred, where the document does not have them
    Column("head", LargeBinary),  # as it was received; compressed where `head_base` says against what. Null: before version 5
    Column("head_base", BigInteger),
    Column("marks", Integer, nullable=False, server_default=_ZERO),  # bits of `core.exchange_marks`
    _words("protocol"),  # of HTTP, where it is known: 1.0, 1.1, 2 or 3
    Column("started_at", Double),  # when the request was sent; `at` is when the answer was read
    Column("seconds", Double),  # from there to the last byte of the answer
    Column("request_id", BigInteger),
    Index("fetches_of_url", "site_id", "key", "id"),
)

head_bases = Table(
    "head_bases",
    metadata,
    _id(),
    Column("site_id", BigInteger, nullable=False, index=True),
    Column("content", LargeBinary, nullable=False),
)

own_bodies = Table(
    "own_bodies",
    metadata,
    Column("fetch_id", _ID, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),  # as `coding` says
    Column("length", BigInteger, nullable=False),  # without its coding
    _words("coding"),  # as in `documents`
)

exchanges = Table(
    "exchanges",
    metadata,
    _id(),
    Column("site_id", BigInteger, nullable=False),
    Column("key", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
    Column("status", Integer, nullable=False),
    Column("address", Text, nullable=False),
    Column("fetch_id", BigInteger, index=True),  # the version that a check found unchanged; null: no check
    Column("head", LargeBinary, nullable=False),  # this and what follows: as in `fetches`
    Column("head_base", BigInteger),
    Column("marks", Integer, nullable=False, server_default=_ZERO),
    _words("protocol"),
    Column("started_at", Double),
    Column("seconds", Double),
    Column("request_id", BigInteger),
    Column("body", LargeBinary),  # of an error: as `body_coding` says
    Column("length", BigInteger),  # of the body without its coding
    _words("body_coding"),  # as `coding` in `documents`
    _words("coding"),  # content codings that the answer came with
    _words("file"),  # the path of a robots.txt, which need not be a URL of the crawl; empty: it is that of the URL
    Column("coded_sha256", LargeBinary),  # of a check that brought the stored document again: the bytes that were transferred
    Index("exchanges_of_url", "site_id", "key", "id"),
)

requests = Table(
    "requests",
    metadata,
    _id(),
    Column("content", LargeBinary, nullable=False),  # header lines; Host and validators are told by other columns
)

volatile = Table(
    "volatile",
    metadata,
    Column("fetch_id", BigInteger, primary_key=True, autoincrement=False),
    Column("region", Integer, primary_key=True, autoincrement=False),
    Column("offset", BigInteger, nullable=False),  # in the skeleton
    Column("content", LargeBinary, nullable=False),  # zlib; empty where the document is whole, so that it holds the content
    _words("id"),  # its author's name for it; empty where versions were compared
    Column("length", BigInteger),  # of the content, in bytes
)

tvis = Table(
    "tvis",
    metadata,
    Column("fetch_id", _ID, primary_key=True, autoincrement=False),
    _words("etag"),
    _words("modified"),
    Column("refresh", BigInteger, nullable=False, server_default=_ZERO),  # seconds; 0: not said
    Column("merges", Integer, nullable=False, server_default=_ZERO),  # in a row
)

learned = Table(
    "learned",
    metadata,
    Column("fetch_id", _ID, primary_key=True, autoincrement=False),
    Column("skeleton_sha256", LargeBinary, nullable=False),  # of the version without what is volatile in it
    Column("content", LargeBinary, nullable=False),  # `augment.volatile_places`
)

links = Table(
    "links",
    metadata,
    Column("document_id", _ID, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),  # zlib of `kind TAB href` lines
)

summaries = Table(
    "summaries",
    metadata,
    Column("document_id", _ID, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),  # zlib of a Summary in msgpack
)

pauses = Table(
    "pauses",
    metadata,
    Column("subject", Text, primary_key=True),
    Column("not_before", Double, nullable=False),
    _words("reason"),  # where it is more than the usual delay
    Column("failures", Integer, nullable=False, server_default=_ZERO),  # such pauses in a row
    sqlite_with_rowid=False,
)

overfull = Table(
    "overfull",
    metadata,
    Column("site_id", BigInteger, primary_key=True, autoincrement=False),
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("left_out", Integer, nullable=False),  # links to its own site
    Column("left_out_external", Integer, nullable=False),
    Column("reads", Integer, nullable=False, server_default=_ZERO),  # how often it was read again for these
    sqlite_with_rowid=False,
)

errands = Table(
    "errands",
    metadata,
    Column("asker", _ID, primary_key=True, autoincrement=False),
    Column("site_id", BigInteger, nullable=False, index=True),
    Column("path", Text, nullable=False),
    Column("hops", Integer, nullable=False),
    Column("asked_at", Double, nullable=False),
)

_alter: Callable[[str], DDL] = DDL  # which comes untyped

# These blobs are compressed already: PostgreSQL need not try again.
for _table, _column in ((documents, "body"), (links, "content"), (summaries, "content"), (volatile, "content")):
    event.listen(
        _table,
        "after_create",
        _alter(f'ALTER TABLE {_table.name} ALTER COLUMN "{_column}" SET STORAGE EXTERNAL').execute_if(dialect="postgresql"),
    )
