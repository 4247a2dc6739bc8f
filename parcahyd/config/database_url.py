"""The database that DbUrl, DbName, DbUser and DbPassword name together, as one URL that the store takes.

A crawl must survive its process, so a database in memory is refused. Secrets are read from the environment only when the
URL is asked for, and nothing here puts one into a message.
"""

from __future__ import annotations

import os
import re
from urllib.parse import parse_qsl, quote, unquote

from parcahyd.config.schema import Configuration
from parcahyd.core.errors import ConfigurationError

__all__ = [
    "DATABASE_KEYS",
    "database_url",
    "hub_address",
    "named_database",
    "shown_database_url",
    "sqlite_file",
    "without_password",
]

DATABASE_KEYS = ("DbUrl", "DbName", "DbUser", "DbPassword")
"""The keys that both files have and that must agree."""

_HIDDEN = "***"
_FORMS = 'supported are "sqlite:///FILE" and "postgresql://USER@HOST:PORT/NAME"'
_FROM_ENVIRONMENT = "env:"
_SQLITE_FILE = "sqlite:///"

_POSTGRESQL = re.compile(
    r"""(?:(?P<user>[^:/?]*)(?::(?P<password>[^/?]*))?@)?
        (?P<host>(?:\[[^\]@/?]*\]|[^:@/?\[\]]*)(?::\d*)?)
        (?:/(?P<name>[^@/?]*))?
        (?:\?(?P<query>[^?]*))?""",
    re.VERBOSE,
)
_HIDE_IN_URL = re.compile(r"(://[^:/?]*:).*@")
_HIDE_IN_QUERY = re.compile(r"(?i)((?:^|[?&])\w*password=)[^&]*")


def database_url(configuration: Configuration) -> str:
    """The URL to connect with, its password included: `sqlite:////ABSOLUTE` or `postgresql+psycopg://...`.

    `map` and `work` agree on the database after loading; `map` is asked. A URL that no store serves, or a password in an
    environment variable that is not set, is a ConfigurationError.
    """
    return _assembled(configuration, shown=False)


def shown_database_url(configuration: Configuration) -> str:
    """The same URL for people to read: the password is hidden, and the environment is not read."""
    return _assembled(configuration, shown=True)


def hub_address(configuration: Configuration) -> str:
    """The same URL without any password, for another machine, which has its own."""
    address, _, query = shown_database_url(configuration).partition("?")
    kept = [pair for pair in query.split("&") if pair and not pair.endswith(f"={_HIDDEN}")]
    return f"{address.replace(f':{_HIDDEN}@', '@')}{'?' if kept else ''}{'&'.join(kept)}"


def named_database(given: str) -> str:
    """The DbUrl that `--db` stands for: a file, looked for from the current folder, or a URL."""
    if any("\ud800" <= one <= "\udfff" for one in given):
        raise ConfigurationError("--db: the file's name is not UTF-8", "choose another")
    if "://" in given and not given.startswith(_SQLITE_FILE):
        return given
    file = given.removeprefix(_SQLITE_FILE)
    if not file:
        raise ConfigurationError("--db is empty", "name a file, such as crawl.db, or a postgresql:// URL")
    if os.path.isdir(file):
        inside = _in_one_line(os.path.join(file, "crawl.db"))
        raise ConfigurationError(f'--db: "{_in_one_line(file)}" is a folder', f"name a file in it, such as {inside}")
    return f"{_SQLITE_FILE}{os.path.abspath(file)}"


def sqlite_file(url: str) -> str | None:
    """The file of an SQLite URL that `database_url` gave; None for a server."""
    return url.removeprefix(_SQLITE_FILE) if url.startswith(_SQLITE_FILE) else None


def without_password(url: str) -> str:
    """Any URL with its password hidden, whether it is well formed or not: hides too much rather than too little."""
    return _HIDE_IN_QUERY.sub(rf"\1{_HIDDEN}", _HIDE_IN_URL.sub(rf"\1{_HIDDEN}@", url))


def _assembled(configuration: Configuration, *, shown: bool) -> str:
    scheme, separator, rest = configuration.map.DbUrl.partition("://")
    match scheme.lower() if separator else "":
        case "sqlite" | "sqlite+pysqlite":
            return _sqlite(configuration, rest)
        case "postgresql" | "postgres" | "postgresql+psycopg":
            return _postgresql(configuration, rest, shown=shown)
    # Only the part before the first colon is repeated: the rest of the paper's jdbc:oracle:... may hold a password.
    name, colon, _ = configuration.map.DbUrl.partition(":")
    raise _refusal(configuration, "DbUrl", f'"{name}{colon and ":..."}" names no database that PARCAHYD can use', _FORMS)


def _sqlite(configuration: Configuration, rest: str) -> str:
    if rest in ("", "/") or ":memory:" in rest or "mode=memory" in rest:
        raise _refusal(
            configuration,
            "DbUrl",
            "a database in memory is refused, since a crawl must survive its process",
            'name a file, such as "sqlite:///crawl.db"',
        )
    if not rest.startswith("/"):
        raise _refusal(configuration, "DbUrl", "a slash is missing before the file's name", f'write "sqlite:///{rest}"')
    path = os.path.abspath(os.path.join(configuration.folder, rest[1:]))
    # Readers of such URLs disagree about percent-escapes in a file's name, and a question mark ends it for most.
    if "?" in path or "%" in path:
        raise _refusal(configuration, "DbUrl", f'"{path}" has a "?" or "%" in it', "choose a file and folder without them")
    if rest.endswith("/"):
        raise _refusal(configuration, "DbUrl", f'"{path}" is named as a folder', "name a file in it")
    return f"{_SQLITE_FILE}{path}"


def _postgresql(configuration: Configuration, rest: str, *, shown: bool) -> str:
    parts = _POSTGRESQL.fullmatch(rest)
    if parts is None:
        raise _refusal(
            configuration,
            "DbUrl",
            "its parts cannot be told apart",
            "write postgresql://USER:PASSWORD@HOST:PORT/NAME and percent-encode / ? @ : in user and password",
        )
    query = parts["query"] or ""
    given = dict(parse_qsl(query, keep_blank_values=True))
    conf = configuration.map
    user = unquote(parts["user"] or "") or ("" if "user" in given else conf.DbUser)
    name = parts["name"] or ("" if "dbname" in given else conf.DbName)
    if "?" in name or (not parts["name"] and "%" in name):
        raise _refusal(configuration, "DbName", f'"{name}" has a "?" or "%" in it', "choose a name without them")
    password = unquote(parts["password"] or "")
    if not password and "password" not in given and conf.DbPassword:
        password = _HIDDEN if shown else _password(configuration)
    if shown:
        password, query = password and _HIDDEN, _HIDE_IN_QUERY.sub(rf"\1{_HIDDEN}", query)
    login = quote(user, safe="") + (f":{quote(password, safe='*')}" if password else "")
    return f"postgresql+psycopg://{login and login + '@'}{parts['host']}/{name}{query and '?' + query}"


def _password(configuration: Configuration) -> str:
    password = configuration.map.DbPassword
    if not password.startswith(_FROM_ENVIRONMENT):
        return password
    variable = password.removeprefix(_FROM_ENVIRONMENT)
    if variable not in os.environ:
        raise _refusal(
            configuration,
            "DbPassword",
            f'the environment variable "{variable}" is not set',
            f"export {variable or 'NAME'}, or name another variable",
        )
    return os.environ[variable]


def _refusal(configuration: Configuration, key: str, message: str, remedy: str) -> ConfigurationError:
    source, colon, line = configuration.sources.get(f"Map.{key}", "").partition(":")
    place = f"{source}, line {line}: " if colon else f"{source} " if source else ""
    return ConfigurationError(f"{place}{key}: {_in_one_line(message)}", _in_one_line(remedy))


def _in_one_line(text: str) -> str:
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
