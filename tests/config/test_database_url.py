from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import make_url

from parcahyd.config.database_url import database_url, shown_database_url, without_password
from parcahyd.config.loading import load
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import ConfigurationError


def configured(url: str, name: str = "", user: str = "", password: str = "", folder: str = "/crawls/conf") -> Configuration:
    return Configuration(
        map=MapConf(DbUrl=url, DbName=name, DbUser=user, DbPassword=password),
        work=WorkConf(DbUrl=url, DbName=name, DbUser=user, DbPassword=password),
        folder=folder,
    )


def refusal(configuration: Configuration) -> str:
    with pytest.raises(ConfigurationError) as caught:
        database_url(configuration)
    assert str(caught.value).isprintable()
    return str(caught.value)


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:///crawl.db", "/crawls/conf/crawl.db"),
        ("sqlite:///../data/crawl.db", "/crawls/data/crawl.db"),
        ("sqlite:////srv/my crawl#1.db", "/srv/my crawl#1.db"),
        ("SQLite:///crawl.db", "/crawls/conf/crawl.db"),
        ("sqlite+pysqlite:///crawl.db", "/crawls/conf/crawl.db"),
    ],
)
def test_a_sqlite_file_is_found_from_the_configuration_folder(url: str, file: str) -> None:
    configuration = configured(url, name="ignored", user="ignored", password="env:NOT_SET")
    assert database_url(configuration) == shown_database_url(configuration) == f"sqlite:///{file}"
    assert make_url(database_url(configuration)).database == file


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://:memory:", "sqlite:///file:x?mode=memory&uri=true"]
)
def test_a_database_in_memory_is_refused(url: str) -> None:
    assert "a database in memory is refused" in refusal(configured(url))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sqlite://crawl.db", 'write "sqlite:///crawl.db"'),
        ("sqlite:///crawl.db?timeout=1", '"?" or "%"'),
        ("sqlite:///my%20crawl.db", '"?" or "%"'),
        ("sqlite:///data/", "named as a folder"),
    ],
)
def test_a_sqlite_url_that_is_not_a_file(url: str, message: str) -> None:
    assert message in refusal(configured(url))


def test_a_folder_that_a_url_cannot_carry_is_told_in_one_line() -> None:
    assert '"?" or "%"' in refusal(configured("sqlite:///crawl.db", folder="/why?\n/conf"))


@pytest.mark.parametrize(
    ("configuration", "url"),
    [
        (configured("postgresql://h/db"), "postgresql+psycopg://h/db"),
        (configured("postgres://h:5433/db"), "postgresql+psycopg://h:5433/db"),
        (configured("PostgreSQL+psycopg://u:p@h/db"), "postgresql+psycopg://u:p@h/db"),
        (configured("postgresql://h", "n", "u", "p"), "postgresql+psycopg://u:p@h/n"),
        (configured("postgresql://h/", "n", "u"), "postgresql+psycopg://u@h/n"),
        (configured("postgresql://mine:own@h/db", "n", "u", "p"), "postgresql+psycopg://mine:own@h/db"),
        (configured("postgresql://mine@h/db", "n", "u", "p"), "postgresql+psycopg://mine:p@h/db"),
        (configured("postgresql://[::1]:5432/db", user="u"), "postgresql+psycopg://u@[::1]:5432/db"),
        (configured("postgresql:///db?host=/run/pg&a=b@c"), "postgresql+psycopg:///db?host=/run/pg&a=b@c"),
        (configured("postgresql://u@/db?host=/run/pg"), "postgresql+psycopg://u@/db?host=/run/pg"),
        (
            configured("postgresql://h/?user=q&password=w&dbname=d", "n", "u", "p"),
            "postgresql+psycopg://h/?user=q&password=w&dbname=d",
        ),
        (configured("postgresql://u:p@ss:100%@h/db"), "postgresql+psycopg://u:p%40ss%3A100%25@h/db"),
        (configured("postgresql://h/db", password="p"), "postgresql+psycopg://:p@h/db"),
    ],
)
def test_a_postgresql_url_is_completed(configuration: Configuration, url: str) -> None:
    assert database_url(configuration) == url
    assert make_url(url).drivername == "postgresql+psycopg"


@example("a b@c", "p:/?#[]@%41 +&=")
@settings(deadline=None, max_examples=100, database=None)
@given(st.text(min_size=1), st.text(min_size=1).filter(lambda text: not text.startswith("env:")))
def test_any_user_and_password_arrive_as_they_are(user: str, password: str) -> None:
    made = make_url(database_url(configured("postgresql://h:1/db", user=user, password=password)))
    assert (made.username, made.password, made.host, made.port, made.database) == (user, password, "h", 1, "db")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3/cret@h/db",
        "postgresql://u:1?s3cret@h/db?a",
        "postgresql://h:s3cret/db",
        "postgresql://u:1/s3cret@h/db",
    ],
)
def test_a_url_that_cannot_be_read_is_refused_without_telling_it(url: str) -> None:
    refused = refusal(configured(url))
    assert "percent-encode" in refused
    assert "s3" not in refused


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("jdbc:oracle:thin:u/s3cret@myhost:1521:orcl", '"jdbc:..."'),
        ("mysql://u:s3cret@h/db", '"mysql:..."'),
        ("postgresql+asyncpg://u:s3cret@h/db", '"postgresql+asyncpg:..."'),
        ("crawl.db", '"crawl.db"'),
        ("\ue000", '"\\ue000"'),
        ("", '""'),
    ],
)
def test_other_databases_are_refused_with_what_is_supported(url: str, message: str) -> None:
    refused = refusal(configured(url))
    assert message in refused
    assert "sqlite:///FILE" in refused
    assert "postgresql://" in refused
    assert "s3cret" not in refused


@pytest.mark.parametrize("name", ["a?b", "a%b"])
def test_a_database_name_that_a_url_cannot_carry(name: str) -> None:
    assert refusal(configured("postgresql://h/", name=name)).startswith("DbName: ")


def test_a_password_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = configured("postgresql://u@h/db", password="env:CRAWL_PASSWORD")
    monkeypatch.setenv("CRAWL_PASSWORD", "s3/cret")
    assert database_url(configuration) == "postgresql+psycopg://u:s3%2Fcret@h/db"
    monkeypatch.setenv("CRAWL_PASSWORD", "")
    assert database_url(configuration) == "postgresql+psycopg://u@h/db"
    monkeypatch.delenv("CRAWL_PASSWORD")
    assert refusal(configuration) == (
        'DbPassword: the environment variable "CRAWL_PASSWORD" is not set (export CRAWL_PASSWORD, or name another variable)'
    )


def test_the_shown_url_needs_no_environment_and_has_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRAWL_PASSWORD", raising=False)
    assert (
        shown_database_url(configured("postgresql://u@h/db", password="env:CRAWL_PASSWORD"))
        == "postgresql+psycopg://u:***@h/db"
    )
    assert shown_database_url(configured("postgresql://u:s3@h/db")) == "postgresql+psycopg://u:***@h/db"
    assert shown_database_url(configured("postgresql://u@h/db")) == "postgresql+psycopg://u@h/db"
    shown = shown_database_url(configured("postgresql://h/db?sslpassword=s3&password=s4&a=b@c"))
    assert shown == "postgresql+psycopg://h/db?sslpassword=***&password=***&a=b@c"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///crawl.db", "sqlite:///crawl.db"),
        ("postgresql://u@h/db", "postgresql://u@h/db"),
        ("postgresql://u:s3@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:s3@cr/et@h/db", "postgresql://u:***@h/db"),
        ("postgresql://h/db?password=s3&x=1", "postgresql://h/db?password=***&x=1"),
    ],
)
def test_a_password_is_hidden_in_any_url(url: str, shown: str) -> None:
    assert without_password(url) == shown


def test_mistakes_are_told_with_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRAWL_PASSWORD", raising=False)
    (tmp_path / "WorkConf.toml").write_text('DbUrl = "postgresql://u@h/db"\n\nDbPassword = "env:CRAWL_PASSWORD"\n')
    assert refusal(load(tmp_path)).startswith("WorkConf.toml, line 3: DbPassword: ")
    assert refusal(load(tmp_path, ["Map.DbPassword=env:CRAWL_PASSWORD"])).startswith("--set DbPassword: ")
