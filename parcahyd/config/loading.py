"""Reads MapConf.toml and WorkConf.toml, applies `--set`, and gives a Configuration or one line that says what is wrong.

Statements of a file and texts of `--set` become `_Given` values, each with its place; every value is checked where it stands;
the database keys are shared between both files; then the structs of `schema.py` are built.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from parcahyd.config.checking import HostTables, Place, checked, nearest, rules_in_line
from parcahyd.config.database_url import DATABASE_KEYS, named_database, shown_database_url, sqlite_file
from parcahyd.config.explaining import SECRETS_OF_OVERRIDES, Conf, Declared, declared, declared_of_host, plain, shown, toml_text
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import ConfigurationError

__all__ = ["Statement", "load", "statements"]

_CONFS: dict[str, Conf] = {"Map": "Map", "Work": "Work"}
_OTHER: dict[Conf, Conf] = {"Map": "Work", "Work": "Map"}
_SPELLINGS = {"DnsResloverClass": "DnsResolverClass"}
"""Keys as the paper's tables spell them (P12, reading 12)."""
_PATHS = ("Map.HostsFile", "Work.CaFile", "Work.Registries", "Work.Topics")
"""Paths that are given to plugins, which do not know the folder. The code that opens the other paths joins them to it."""
_TOML_ERROR = re.compile(r"(?s)(.*) \(at (?:line (\d+), column \d+|end of document)\)")
_LEXEME = re.compile(
    r"""(?xs)(?P<text>"{3}(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')
      | (?P<bare>[A-Za-z0-9_-]+)
      | (?P<blank>[ \t\r]+|\#[^\n]*)
      | (?P<newline>\n)
      | (?P<open>[\[{])
      | (?P<close>[\]}])
      | (?P<sign>.)"""
)


class Statement(msgspec.Struct, frozen=True):
    """A statement of a TOML file: its key, or the heading of a table, and the line on which it starts."""

    key: str
    line: int
    is_table: bool
    table: int = 0
    """How many headings there are up to here; 0 at the top level."""


class _Given(msgspec.Struct, frozen=True):
    value: Any
    place: Place


def load(
    folder: str | os.PathLike[str] | None,
    overrides: Sequence[str] = (),
    hints: list[str] | None = None,
    database: str | None = None,
) -> Configuration:
    """The configuration in `folder` with `overrides`, the texts of `--set`, applied to it.

    Without a folder the defaults count, and relative paths start in the current directory; there are no plugin files, since
    nobody named the folder above the current one as a place of code. `database`, the text of `--db`, wins over every DbUrl; a
    file in it is looked for from the current directory. What was understood but should be
    written differently, or has no effect, is appended to `hints`. Raises ConfigurationError, one line, at the first error.
    """
    hints = [] if hints is None else hints
    where = _absolute(os.curdir if folder is None else os.fspath(folder))
    in_files = {} if folder is None else _given_in_folder(where, hints)
    given = {**_shared(in_files), **_shared(_given_by_overrides(overrides, hints)), **_given_database(database)}
    values = {name: one.value for name, one in given.items()}
    if folder is None:
        values.setdefault("Map.PluginDir", "")
    values |= {name: os.path.join(where, values[name]) for name in _PATHS if values.get(name)}
    configuration = Configuration(
        map=MapConf(**_of("Map", values)),
        work=WorkConf(**_of("Work", values)),
        folder=where,
        sources={name: one.place.source for name, one in given.items()},
        has_folder=folder is not None,
    )
    _refuse_min_above_max(configuration.work, given)
    if sqlite_file(shown_database_url(configuration)) and not configuration.is_cluster:
        hints += _unused_machines(configuration, given)
    return configuration


def _unused_machines(configuration: Configuration, given: dict[str, _Given]) -> Iterator[str]:
    """A hint for each ListIP that names machines while everything runs on this one."""
    for which, conf in (("Map", configuration.map), ("Work", configuration.work)):
        if conf.ListIP:
            place = given[f"{which}.ListIP"].place.text
            yield f"{place}: ListIP is not used while LocalInstance is true: everything runs on this machine (remove ListIP)"


def statements(text: str) -> Iterator[Statement]:
    """The statements of a TOML text, in order: its keys, the headings of tables, and the keys of those.

    tomllib gives no line numbers. Strings and brackets are followed, so that what stands inside a value that spans lines is
    not taken for a key. A text that is not valid TOML gives the statements that can be recognized.
    """
    line, depth, fresh, table = 1, 0, True, 0
    for token in _LEXEME.finditer(text):
        kind = token.lastgroup
        if fresh and kind not in ("blank", "newline"):
            fresh = False
            if kind == "open":
                table += 1
                end = text.find("\n", token.start())
                heading = text[token.start() : end if end >= 0 else len(text)].partition("#")[0]
                yield Statement(heading.strip(), line, is_table=True, table=table)
            else:
                yield Statement(_key(token[0], quoted=kind == "text"), line, is_table=False, table=table)
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "newline" and depth == 0:
            fresh = True
        line += token[0].count("\n")


def _key(token: str, *, quoted: bool) -> str:
    if not quoted:
        return token
    try:
        return next(iter(tomllib.loads(f"{token} = 0")))
    except ValueError:
        return token


def _absolute(folder: str) -> str:
    try:
        where = os.path.abspath(folder)
    except FileNotFoundError:
        raise ConfigurationError("the current folder is gone", "go to another one") from None
    if not where.isprintable() and any("\ud800" <= one <= "\udfff" for one in where):
        raise ConfigurationError(f"{toml_text(where)}: its name is not UTF-8", "rename the folder, or work in another one")
    return where


def _given_in_folder(folder: str, hints: list[str]) -> dict[str, _Given]:
    if not os.path.isdir(folder):
        what = "is a file" if os.path.exists(folder) else "does not exist"
        raise ConfigurationError(f"{toml_text(folder)}: {what}", "name a folder with MapConf.toml and WorkConf.toml in it")
    present = [which for which in _OTHER if os.path.lexists(_path(folder, which))]
    if not present:
        raise ConfigurationError(
            f"{toml_text(folder)}: has neither MapConf.toml nor WorkConf.toml",
            "either is enough; an empty file means the defaults",
        )
    return {name: one for which in present for name, one in _given_in_file(which, _path(folder, which), hints).items()}


def _path(folder: str, which: Conf) -> str:
    return os.path.join(folder, f"{which}Conf.toml")


def _given_in_file(which: Conf, path: str, hints: list[str]) -> dict[str, _Given]:
    file = os.path.basename(path)
    text = _read(path, file)
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise ConfigurationError(f"{file}: not valid TOML: lists nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, or an integer of too many digits
        raise _syntax_error(which, text, str(error)) from None
    given: dict[str, _Given] = {}
    tables = HostTables(which, values)
    for statement in statements(text):
        place = Place(f"{file}, line {statement.line}", f"{file}:{statement.line}")
        if statement.table:
            (tables.heading if statement.is_table else tables.key)(statement.key, place)
            continue
        setting = _setting(which, statement.key, place, hints)
        name = f"{which}.{setting.key}"
        if name in given:  # TOML refuses a key twice, so this is the same key in two spellings
            first = given[name].place.text
            raise ConfigurationError(
                f"{place.text}: {statement.key}: another spelling of this key is in {first}", f"keep {setting.key}"
            )
        given[name] = _Given(_value(which, setting, values[statement.key], place), place)
    if rules := tables.rules():
        given["Work.Host"] = _Given(rules, tables.place)
    return given


def _value(which: Conf, setting: Declared, value: object, place: Place) -> object:
    return rules_in_line(value, place) if setting.key == "Host" else checked(which, setting, value, place)


def _read(path: str, file: str) -> str:
    try:
        with open(path, "rb") as stream:
            data = stream.read()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(f"{file}, line {line}: not UTF-8", "save the file as UTF-8") from None


def _syntax_error(which: Conf, text: str, error: str) -> ConfigurationError:
    found = _TOML_ERROR.fullmatch(error)
    what = " ".join((found[1] if found else error).split())
    known = list(statements(text))
    line = int(found[2]) if found and found[2] else known[-1].line if known else 1
    place = f"{which}Conf.toml, line {line}"
    before = [statement for statement in known if statement.line <= line]
    if not before:
        return ConfigurationError(f"{place}: not valid TOML: {what}")
    key = before[-1].key
    first = next(one for one in before if (one.key, one.table) == (key, before[-1].table))
    if first is not before[-1]:
        return ConfigurationError(f"{place}: {plain(key)}: given twice, first in line {first.line}", "keep one of the lines")
    setting = (declared_of_host() if before[-1].table else declared(which)).get(key)
    remedy = f"expected {setting.kind}{', in quotes' if setting.is_text else ''}" if setting else ""
    return ConfigurationError(f"{place}: {plain(key)}: not valid TOML: {what}", remedy)


def _given_by_overrides(overrides: Sequence[str], hints: list[str]) -> dict[str, _Given]:
    given: dict[str, _Given] = {}
    for text in overrides:
        name, equals, raw = text.partition("=")
        file, _, key = (part.strip() for part in name.partition("."))
        place = Place(f"--set {_override_shown(key or file, text)}", "--set")
        if not equals:
            raise ConfigurationError(f"{place.text}: no value", "write Map.KEY=VALUE or Work.KEY=VALUE")
        which = _CONFS.get(file)
        if which is None or not key:
            raise _unaddressed(file, key, place)
        setting = _setting(which, key, place, hints)
        if setting.key == "Host":
            raise ConfigurationError(f"{place.text}: Host: is not for --set", "write a table [[Host]] into WorkConf.toml")
        value = _override_value(setting, raw.strip(), place)
        given[f"{which}.{setting.key}"] = _Given(checked(which, setting, value, place), place)
    return given


def _given_database(database: str | None) -> dict[str, _Given]:
    if database is None:
        return {}
    given = _Given(named_database(database), Place("--db", "--db"))
    return {"Map.DbUrl": given, "Work.DbUrl": given}


def _override_shown(key: str, text: str) -> str:
    is_known = any(key in declared(which) for which in _OTHER)
    # A misspelt DbPassword still holds a password.
    if key == "Host" or (key in SECRETS_OF_OVERRIDES if is_known else nearest(key, SECRETS_OF_OVERRIDES)):
        return plain(text.partition("=")[0]) + "=***"
    return plain(text)


def _unaddressed(file: str, key: str, place: Place) -> ConfigurationError:
    names = [f"{which}.{near}" for which in _OTHER if (near := nearest(key or file, declared(which)))]
    remedy = f"did you mean {' or '.join(names)}?" if names else "write Map.KEY=VALUE or Work.KEY=VALUE"
    what = f"{shown(file)} is neither Map nor Work" if key else "not of the form Map.KEY or Work.KEY"
    return ConfigurationError(f"{place.text}: {what}", remedy)


def _override_value(setting: Declared, raw: str, place: Place) -> object:
    """The value as TOML; what is not TOML, and any value but a quoted text where the setting is a text, is taken as text."""
    if not raw and setting.default is None:
        return None
    try:
        parsed = tomllib.loads(f"value = {raw}")
    except (ValueError, RecursionError):
        if raw[:1] in ('"', "'"):
            raise ConfigurationError(f"{place.text}: {setting.key}: the quotes do not close") from None
        return raw
    value = parsed["value"] if parsed.keys() == {"value"} else raw
    return raw if setting.is_text and not isinstance(value, str) else value


def _setting(which: Conf, written: str, place: Place, hints: list[str]) -> Declared:
    key = _SPELLINGS.get(written, written)
    setting = declared(which).get(key)
    if setting is None:
        raise _unknown_key(which, key, place)
    if key != written:
        hints.append(f"{place.text}: {written} is understood as {key} (write {key})")
    return setting


def _unknown_key(which: Conf, key: str, place: Place) -> ConfigurationError:
    own, other = declared(which), declared(_OTHER[which])
    if key in other:
        remedy = f"write {_OTHER[which]}.{key}=..." if place.on_command_line else "move the line there"
        return ConfigurationError(f"{place.text}: {key}: belongs in {_OTHER[which]}Conf.toml, not in {which}Conf.toml", remedy)
    near = nearest(key, [*own, *other])
    if key in _CONFS:
        remedy = f"no key has {key}. before it in a file"
    elif near in own:
        remedy = f"did you mean {near}?"
    elif near:
        remedy = f"did you mean {near}, which belongs in {_OTHER[which]}Conf.toml?"
    else:
        remedy = "`parcahyd config` lists every key"
    return ConfigurationError(f"{place.text}: {plain(key)}: unknown key", remedy)


def _shared(given: dict[str, _Given]) -> dict[str, _Given]:
    """The same with each database key of one file given to the other; two values that differ are an error."""
    both = dict(given)
    for key in DATABASE_KEYS:
        ours, theirs = given.get(f"Map.{key}"), given.get(f"Work.{key}")
        if ours and theirs and ours.value != theirs.value:
            places = f"{ours.place.text} and {theirs.place.text}"
            raise ConfigurationError(f"{places}: {key}: two different values", "both use one database: keep one of them")
        if one := ours or theirs:
            both |= {f"Map.{key}": ours or one, f"Work.{key}": theirs or one}
    return both


def _refuse_min_above_max(work: WorkConf, given: dict[str, _Given]) -> None:
    """Refuse a minimum that is more than its maximum; one of them without the other is always accepted."""
    if work.RevisitMin is not None and work.RevisitMax is not None and work.RevisitMin > work.RevisitMax:
        places = f"{given['Work.RevisitMin'].place.text} and {given['Work.RevisitMax'].place.text}"
        raise ConfigurationError(f"{places}: RevisitMin is more than RevisitMax", "exchange them, or leave one of them out")


def _of(which: Conf, values: dict[str, Any]) -> dict[str, Any]:
    prefix = f"{which}."
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
