"""One run at a time on a PostgreSQL database, whichever machine it runs on."""

from __future__ import annotations

import pytest

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import CrawlBusy, StoreFailure
from parcahyd.storage.store import Store
from tests.support.postgres import fresh_database

CONFIGURATION = Configuration(MapConf(), WorkConf())


def test_a_second_run_finds_the_database_claimed_until_the_first_is_gone(postgres: str) -> None:
    with fresh_database(postgres) as url:
        first, second = Store.open(url), Store.open(url)
        first.claim(wait=0.0)
        first.begin_run(CONFIGURATION, 1.0)
        with pytest.raises(CrawlBusy, match="another run"):
            second.claim(wait=0.0)
        first.close()
        second.claim(wait=5.0)
        second.begin_run(CONFIGURATION, 2.0)
        second.close()


def test_a_writer_that_lost_its_connection_claims_the_database_again(postgres: str) -> None:
    with fresh_database(postgres) as url:
        first, second = Store.open(url), Store.open(url)
        first.claim(wait=0.0)
        first.begin_run(CONFIGURATION, 1.0)
        _end_other_sessions(url)
        with pytest.raises(StoreFailure):
            first.add_seeds(["http://a.example/"], 2.0)
        first.add_seeds(["http://a.example/"], 3.0)
        second = Store.open(url)
        with pytest.raises(CrawlBusy):
            second.claim(wait=0.0)
        first.close()
        second.close()


def _end_other_sessions(url: str) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
