"""A store at work on a small database: visits by hand, in a few words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, create_engine, event, inspect, select
from sqlalchemy.exc import OperationalError

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.messages import Written
from parcahyd.core.records import BadRecord, PageRecord, SiteLease, UnchangedRecord, VisitOver
from parcahyd.core.states import Reason, State
from parcahyd.refresh.schedule import NEVER, Revisits
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.rules.urls.orders import ByDepth
from parcahyd.storage.connection import open_database
from parcahyd.storage.packing import PackedPage, compressor, pack
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.reports.records import Finding
from parcahyd.storage.schema import metadata, runs, schema_version, urls
from parcahyd.storage.store import RunStart, Store
from parcahyd.storage.writer import Writer

START = 1_000_000.0
REVISIT = 1000.0


class Desk:
    """A database, its store, and a clock that stands still unless a test moves it."""

    schema = ""
    """Where the tables are, if not where the database has them by itself."""

    def __init__(self, url: str, key_of: Callable[[str], int] = key_of) -> None:
        self.url = url
        self.key_of = key_of
        self.now = START
        self.run_started = START
        self._is_running = False
        path = {"options": f"-csearch_path={self.schema}"} if self.schema else {}
        self.look = create_engine(url.replace("postgresql://", "postgresql+psycopg://"), connect_args=path)
        """Another way in, to see what is committed."""
        self._reports: Reports | None = None
        self.statements = 0
        """How many the store has run."""
        self._refused = 0
        """The number of the statement that the database refuses; 0: it refuses none."""
        self.store: Store
        self._open()

    def _open(self) -> None:
        writer = self._new_writer()
        event.listen(writer._database.engine, "before_cursor_execute", self._count_statement)
        self.store = Store(writer, self.key_of)
        execute = writer._execute

        def counted(text: str, parameters: Any) -> Any:
            self._count_statement()
            return execute(text, parameters)

        writer._execute = counted  # type: ignore[method-assign]  # its statements run on the driver's cursor: no event for them

    def _new_writer(self) -> Writer:
        return Writer(open_database(self.url, create=True))

    def _count_statement(self, *_: object) -> None:
        self.statements += 1
        if self.statements == self._refused:
            raise OperationalError("", {}, Exception("planted failure"))

    def close(self) -> None:
        self.store.close()
        self.look.dispose()
        if self._reports:
            self._reports.close()

    # --- runs -----------------------------------------------------------------------------------------------------------

    def begin(self, allow_addresses: tuple[str, ...] = (), *, forever: bool = False, **work: Any) -> RunStart:
        """Begins a run. The one before has come to its end, unless it was killed: then this goes on with it."""
        work.setdefault("RevisitAfter", REVISIT)
        if self._is_running:
            self.end()
        self.run_started = self.now
        configuration = Configuration(MapConf(AllowAddresses=allow_addresses), WorkConf(**work))
        start = self.store.begin_run(configuration, self.now, forever=forever)
        self._is_running = True
        return start

    def end(self, outcome: str = "done") -> None:
        """Notes how the run ended, without a statement of the store."""
        self._is_running = False
        with self.look.begin() as connection:
            connection.execute(runs.update().where(runs.c.outcome.is_(None)).values(outcome=outcome, ended_at=self.now))

    def killed(self) -> None:
        """The process is gone and everything in its memory with it."""
        self._is_running = False
        self.store.close()
        self._open()

    def clear(self) -> None:
        """Empties the tables, to be used by the next test: much quicker than to open another database."""
        self.now = self.run_started = START
        self._refused = 0
        self._is_running = False
        self.store.set_order(ByDepth())
        with self.look.begin() as connection:
            present = inspect(connection).get_table_names()
            for table in metadata.sorted_tables:
                if table.name in present and table is not schema_version:
                    connection.execute(table.delete())

    def seed(self, *addresses: str) -> None:
        self.store.add_seeds(addresses, self.now)

    # --- visits ---------------------------------------------------------------------------------------------------------

    def lease(
        self, count: int = 10, *, again_before: float | None = None, pages: int = 100, keys: int = 1000
    ) -> list[SiteLease]:
        return self.lease_and_next(count, again_before=again_before, pages=pages, keys=keys)[0]

    def lease_and_next(
        self, count: int = 10, *, again_before: float | None = None, pages: int = 100, keys: int = 1000
    ) -> tuple[list[SiteLease], float | None]:
        return self.store.lease(count, self.now, again_before, pages, keys)

    def visit(self, origin: str | None = None) -> SiteLease:
        """Leases the one site that is due, or the one named."""
        pairs = self.lease()
        found = [pair for pair in pairs if origin in (None, pair.origin)]
        assert len(found) == 1, [pair.origin for pair in pairs]
        for pair in pairs:
            if pair is not found[0]:
                self.over(pair)
        return found[0]

    def page(self, pair: SiteLease, path: str = "/", body: bytes = b"<p>hello</p>", **more: Any) -> PackedPage:
        known = {due.path: due for due in pair.urls}.get(path)
        record = PageRecord(
            visit=pair.visit,
            site=pair.site,
            key=known.key if known else self.key_of(path),
            path=path,
            depth=known.depth if known else 1,
            hops=known.hops if known else 0,
            seed=known.seed if known else False,
            fetched_at=self.now,
            status=200,
            address="192.0.2.1",
            head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
            media_type="text/html",
            body=body,
            received=len(body),
        )
        return pack(msgspec.structs.replace(record, **more), compressor(WorkConf()), True)

    def redirect(self, pair: SiteLease, path: str, target: str, **more: Any) -> PackedPage:
        return self.page(pair, path, b"", redirect=target, status=301, media_type="", **more)

    def unchanged(self, pair: SiteLease, path: str = "/", **more: Any) -> UnchangedRecord:
        record = UnchangedRecord(pair.visit, pair.site, self.key_of(path), path, checked_at=self.now, status=304)
        return msgspec.structs.replace(record, **more)

    def bad(
        self, pair: SiteLease, path: str = "/", state: State = State.FAILED, reason: Reason = Reason.RESET, **more: Any
    ) -> BadRecord:
        known = {due.path: due for due in pair.urls}.get(path)
        record = BadRecord(
            visit=pair.visit,
            site=pair.site,
            key=known.key if known else self.key_of(path),
            path=path,
            depth=known.depth if known else 1,
            hops=0,
            seed=known.seed if known else False,
            at=self.now,
            state=int(state),
            reason=reason.word,
            due_at=NEVER if state is State.REFUSED else self.now + 60,
            tries=1,
        )
        return msgspec.structs.replace(record, **more)

    def write(self, *pages: Any) -> Written:
        return self.store.store_documents(pages, self.now)

    def over(self, pair: SiteLease, **more: Any) -> None:
        over = VisitOver(visit=pair.visit, site=pair.site, at=self.now, not_before=self.now)
        self.store.release([msgspec.structs.replace(over, **more)], self.now)

    def crawl(self, pair: SiteLease, path: str = "/", body: bytes = b"<p>hello</p>", **more: Any) -> None:
        """One page, and the visit is over."""
        self.write(self.page(pair, path, body, **more))
        self.over(pair)

    def first_due(self, path: str = "/") -> float:
        """When a page is due that is stored now for the first time."""
        return Revisits(WorkConf(RevisitAfter=REVISIT)).first(self.now, self.key_of(path))

    def set_due(self, path: str, due_at: float | None) -> None:
        """Puts a URL at a time of the test's choice; its site learns of that when the visit is over."""
        with self.look.begin() as connection:
            connection.execute(urls.update().where(urls.c.path == path).values(due_at=due_at))

    # --- a look inside --------------------------------------------------------------------------------------------------

    def rows(self, table: Table) -> list[dict[str, Any]]:
        with self.look.connect() as connection:
            return _rows(connection, table)

    def row(self, path: str) -> dict[str, Any]:
        (row,) = [row for row in self.rows(urls) if row["path"] == path]
        return row

    @property
    def reports(self) -> Reports:
        if self._reports is None:
            self._reports = Reports(Reader(self.url, self.schema))
        return self._reports

    def states(self) -> dict[str, str]:
        """State and reason of every URL, by its text."""
        return {found.url: " ".join(filter(None, (found.state, found.reason))) for found in self.reports.urls()}

    def everything(self) -> dict[str, list[dict[str, Any]]]:
        with self.look.connect() as connection:
            return {name: _rows(connection, table) for name, table in metadata.tables.items()}

    def findings(self, *, running: bool = True) -> list[Finding]:
        return list(self.reports.verify(running=running))

    def fail_at(self, statement: int) -> Callable[[], None]:
        """Lets the database refuse the n-th statement from now; gives the way to end that."""
        self._refused = self.statements + statement
        return self._heal

    def _heal(self) -> None:
        self._refused = 0


def _rows(connection: Connection, table: Table) -> list[dict[str, Any]]:
    order = list(table.primary_key.columns) or list(table.columns)
    return [dict(row._mapping) for row in connection.execute(select(table).order_by(*order))]
