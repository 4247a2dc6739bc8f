"""What every test may ask for: servers on loopback, a database of each kind, a crawl in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.crawl import Crawl, CrawlFactory, Setting
from tests.support.postgres import fresh_database, postgres_server
from tests.support.site_server import SiteServer

# The same examples in every run, however long one takes: `--hypothesis-profile=search` looks for new ones. They are the same as
# long as the same modules are imported, because Hypothesis takes constants from our modules for some of its values. So a test
# may fail among others and pass alone; `print_blob` tells how to repeat it.
_EXAMPLES = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", _EXAMPLES)
settings.register_profile("same", _EXAMPLES, derandomize=True)
settings.load_profile("same")


@pytest.fixture
def server() -> Iterator[SiteServer]:
    """An HTTP server without listeners and sites."""
    with SiteServer() as running:
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server of this test process, to which a database's name is appended."""
    with postgres_server() as server:
        yield server.prefix


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database, once of each kind, as a user writes it."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'crawl.db'}"
        return
    with fresh_database(request.getfixturevalue("postgres")) as url:
        yield url


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFactory:
    """Makes a crawl on SQLite."""
    return _factory(tmp_path, f"sqlite:///{tmp_path / 'crawl.db'}")


@pytest.fixture
def crawl_on(tmp_path: Path, database: str) -> CrawlFactory:
    """Makes a crawl, once on each kind of database."""
    return _factory(tmp_path, database)


@pytest.fixture
def crawl_apart(tmp_path: Path) -> CrawlFactory:
    """Makes a crawl on SQLite in another folder, to compare the first with."""
    return _factory(tmp_path / "apart", f"sqlite:///{tmp_path / 'apart' / 'crawl.db'}")


def _factory(folder: Path, database: str) -> CrawlFactory:
    def make(settings: Mapping[str, Setting | None] | None = None) -> Crawl:
        return Crawl(folder, database, settings)

    return make
