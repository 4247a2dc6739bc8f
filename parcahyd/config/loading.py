"""Reads MapConf.toml and WorkConf.toml, lays `--set` over them, and gives one Configuration or one line saying what is wrong.

Statements of a file and texts of `--set` become `_Given` values, each with its place; every value is checked where it stands;
the database keys are shared between both files; then the structs of `schema.py` are built.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from parcahyd.config.database_url import DATABASE_KEYS, shown_database_url
from parcahyd.config.explaining import Conf, Declared, declared, plain, shown, toml_text
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import ConfigurationError

__all__ = ["Statement", "load", "seed_problem", "statements"]

_CONFS: dict[str, Conf] = {"Map": "Map", "Work": "Work"}
_OTHER: dict[Conf, Conf] = {"Map": "Work", "Work": "Map"}
_SPELLINGS = {"DnsResloverClass": "DnsResolverClass"}
"""Keys as the paper's tables spell them (P12, reading 12)."""
_PATHS = ("Map.HostsFile", "Work.CaFile")
"""Paths handed to plugins, which do not know the folder; the others are joined to it by whoever opens them."""
_SECRETS = ("DbUrl", "DbPassword")
_LARGEST = 2**63 - 1
"""Databases and C libraries count in 64 bits."""

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_ABSOLUTE_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\\s]+(?:[/?#].*)?")
_TOML_MISTAKE = re.compile(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<text>"{3}(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')
      | (?P<bare>[A-Za-z0-9_-]+)
      | (?P<blank>[ \t\r]+|\#[^\n]*)
      | (?P<newline>\n)
      | (?P<open>[\[{])
      | (?P<close>[\]}])
      | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)


class Statement(NamedTuple):
    """A statement of a TOML file: its top-level key, or the heading of a table, and the line on which it starts."""

    key: str
    line: int
    is_table: bool


class _Place(NamedTuple):
    text: str
    """As a message begins: "WorkConf.toml, line 12" or "--set Work.HostDelay=slow"."""
    source: str
    """As `Configuration.sources` has it."""

    @property
    def on_command_line(self) -> bool:
        return self.source == "--set"


class _Given(NamedTuple):
    value: Any
    place: _Place


class _Problem(NamedTuple):
    message: str
    remedy: str


def load(folder: str | os.PathLike[str] | None, overrides: Sequence[str] = (), hints: list[str] | None = None) -> Configuration:
    """The configuration in `folder` with `overrides`, the texts of `--set`, laid over it.

    Without a folder the defaults count, and relative paths start in the current directory. What was understood but should be
    written differently is appended to `hints`. Raises ConfigurationError, one line, at the first mistake.
    """
    heard = [] if hints is None else hints
    where = os.path.abspath(os.curdir if folder is None else os.fspath(folder))
    in_files = {} if folder is None else _given_in_folder(where, heard)
    given = {**_shared(in_files), **_shared(_given_by_overrides(overrides, heard))}
    values = {name: one.value for name, one in given.items()}
    values |= {name: os.path.join(where, values[name]) for name in _PATHS if values.get(name)}
    configuration = Configuration(
        map=MapConf(**_of("Map", values)),
        work=WorkConf(**_of("Work", values)),
        folder=where,
        sources={name: one.place.source for name, one in given.items()},
    )
    _refuse_crossed(configuration.work, given)
    shown_database_url(configuration)  # for its errors: a DbUrl that nothing serves is told now, with its place
    return configuration


def statements(text: str) -> Iterator[Statement]:
    """The top-level statements of a TOML text, in order, up to and with the first table heading.

    tomllib gives no line numbers. Strings and brackets are followed, so that what stands inside a value that spans lines is
    not taken for a key. Of a text that is not valid TOML it makes what it can.
    """
    line, depth, fresh = 1, 0, True
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if fresh and kind not in ("blank", "newline"):
            fresh = False
            if kind == "open":
                heading = text[token.start() :].partition("\n")[0].partition("#")[0]
                yield Statement(heading.strip(), line, is_table=True)
                return
            yield Statement(_key(token[0], quoted=kind == "text"), line, is_table=False)
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "newline" and depth == 0:
            fresh = True
        line += token[0].count("\n")


def seed_problem(seed: str) -> str:
    """What keeps a seed from being an absolute URL with scheme and host, remedy included; empty when nothing does."""
    try:
        parts = urlsplit(seed)
        fits = _ABSOLUTE_URL.fullmatch(seed) is not None and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if fits:
        return ""
    return f"{shown(seed)} is not an absolute URL, which starts like https://example.com/"


def _key(token: str, *, quoted: bool) -> str:
    if not quoted:
        return token
    try:
        return next(iter(tomllib.loads(f"{token} = 0")))
    except tomllib.TOMLDecodeError:
        return token


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
    except ValueError as mistake:  # TOMLDecodeError, or an integer of too many digits
        raise _syntax_error(which, text, str(mistake)) from None
    given: dict[str, _Given] = {}
    for statement in statements(text):
        place = _Place(f"{file}, line {statement.line}", f"{file}:{statement.line}")
        if statement.is_table:
            raise ConfigurationError(
                f"{place.text}: {plain(statement.key)}: unknown table", "all keys stand at the top level, without headings"
            )
        setting = _setting(which, statement.key, place, hints)
        name = f"{which}.{setting.key}"
        if name in given:  # TOML refuses a key twice, so this is the same key in two spellings
            first = given[name].place.text
            raise ConfigurationError(
                f"{place.text}: {statement.key}: another spelling of this key is in {first}", f"keep {setting.key}"
            )
        given[name] = _Given(_checked(which, setting, values[statement.key], place), place)
    return given


def _read(path: str, file: str) -> str:
    try:
        with open(path, "rb") as stream:
            data = stream.read()
        return data.decode("utf-8-sig")
    except OSError as mistake:
        raise ConfigurationError(f"{file}: cannot be read: {mistake.strerror}") from None
    except UnicodeDecodeError as mistake:
        line = data.count(b"\n", 0, mistake.start) + 1
        raise ConfigurationError(f"{file}, line {line}: not UTF-8", "save the file as UTF-8") from None


def _syntax_error(which: Conf, text: str, mistake: str) -> ConfigurationError:
    found = _TOML_MISTAKE.fullmatch(mistake)
    what = " ".join((found[1] if found else mistake).split())
    known = list(statements(text))
    line = int(found[2]) if found and found[2] else known[-1].line if known else 1
    place = f"{which}Conf.toml, line {line}"
    before = [statement for statement in known if statement.line <= line]
    if not before:
        return ConfigurationError(f"{place}: not valid TOML: {what}")
    key = before[-1].key
    first = next(statement for statement in before if statement.key == key)
    if first is not before[-1]:
        return ConfigurationError(f"{place}: {plain(key)}: given twice, first in line {first.line}", "keep one of the lines")
    setting = declared(which).get(key)
    remedy = f"expected {setting.kind}{', in quotes' if setting.is_text else ''}" if setting else ""
    return ConfigurationError(f"{place}: {plain(key)}: not valid TOML: {what}", remedy)


def _given_by_overrides(overrides: Sequence[str], hints: list[str]) -> dict[str, _Given]:
    given: dict[str, _Given] = {}
    for text in overrides:
        name, equals, raw = text.partition("=")
        file, _, key = (part.strip() for part in name.partition("."))
        place = _Place(f"--set {_override_shown(key or file, text)}", "--set")
        if not equals:
            raise ConfigurationError(f"{place.text}: no value", "write Map.KEY=VALUE or Work.KEY=VALUE")
        which = _CONFS.get(file)
        if which is None or not key:
            raise _unaddressed(file, key, place)
        setting = _setting(which, key, place, hints)
        value = _override_value(setting, raw.strip(), place)
        given[f"{which}.{setting.key}"] = _Given(_checked(which, setting, value, place), place)
    return given


def _override_shown(key: str, text: str) -> str:
    # A misspelt DbPassword still holds a password.
    if _nearest(key, _SECRETS):
        return plain(text.partition("=")[0]) + "=***"
    return plain(text)


def _unaddressed(file: str, key: str, place: _Place) -> ConfigurationError:
    names = [f"{which}.{near}" for which in _OTHER if (near := _nearest(key or file, declared(which)))]
    remedy = f"did you mean {' or '.join(names)}?" if names else "write Map.KEY=VALUE or Work.KEY=VALUE"
    what = f"{shown(file)} is neither Map nor Work" if key else "not of the form Map.KEY or Work.KEY"
    return ConfigurationError(f"{place.text}: {what}", remedy)


def _override_value(setting: Declared, raw: str, place: _Place) -> object:
    """The value as TOML; what is not TOML, and any value but a quoted text where text is wanted, is the text itself."""
    if not raw and setting.default is None:
        return None
    try:
        parsed = tomllib.loads(f"value = {raw}")
    except (ValueError, RecursionError):
        if raw[:1] in ('"', "'"):
            raise ConfigurationError(f"{place.text}: {setting.key}: the quotes do not close") from None
        return raw
    # A line break in the text could have added keys of its own.
    value = parsed["value"] if parsed.keys() == {"value"} else raw
    return raw if setting.is_text and not isinstance(value, str) else value


def _setting(which: Conf, written: str, place: _Place, hints: list[str]) -> Declared:
    key = _SPELLINGS.get(written, written)
    setting = declared(which).get(key)
    if setting is None:
        raise _unknown_key(which, key, place)
    if key != written:
        hints.append(f"{place.text}: {written} is understood as {key} (write {key})")
    return setting


def _unknown_key(which: Conf, key: str, place: _Place) -> ConfigurationError:
    own, other = declared(which), declared(_OTHER[which])
    if key in other:
        remedy = f"write {_OTHER[which]}.{key}=..." if place.on_command_line else "move the line there"
        return ConfigurationError(f"{place.text}: {key}: belongs in {_OTHER[which]}Conf.toml, not in {which}Conf.toml", remedy)
    near = _nearest(key, [*own, *other])
    if key in _CONFS:
        remedy = f"no key has {key}. before it in a file"
    elif near in own:
        remedy = f"did you mean {near}?"
    elif near:
        remedy = f"did you mean {near}, which belongs in {_OTHER[which]}Conf.toml?"
    else:
        remedy = "`parcahyd config` lists every key"
    return ConfigurationError(f"{place.text}: {plain(key)}: unknown key", remedy)


def _nearest(word: str, candidates: Sequence[str] | dict[str, Declared]) -> str:
    # The first of two that differ in nothing but their file wins: a key's own file is asked first.
    by_lower = {candidate.lower(): candidate for candidate in reversed(list(candidates))}
    found = difflib.get_close_matches(word.lower(), by_lower, n=1)
    return by_lower[found[0]] if found else ""


def _checked(which: Conf, setting: Declared, value: object, place: _Place) -> object:
    """The value in the schema's type, or the line that says what was expected instead."""
    try:
        fitting = msgspec.convert(value, setting.annotation)
    except (msgspec.ValidationError, UnicodeEncodeError):  # the latter: bytes of a command line that are no text
        raise _wrong_value(which, setting, value, place) from None
    if isinstance(fitting, int | float) and not fitting <= _LARGEST:
        raise ConfigurationError(f"{place.text}: {setting.key}: {shown(value)} is too large", f"at most {_LARGEST}")
    texts = [fitting] if isinstance(fitting, str) else fitting if isinstance(fitting, tuple) else ()
    problem = _control_characters(texts) or _CHECKS.get(setting.key, _no_problem)(fitting)
    if problem:
        raise ConfigurationError(f"{place.text}: {setting.key}: {problem.message}", problem.remedy)
    return fitting


def _wrong_value(which: Conf, setting: Declared, value: object, place: _Place) -> ConfigurationError:
    remedy = ""
    if setting.choices and isinstance(value, str) and (near := _nearest(value, setting.choices)):
        remedy = f'did you mean "{near}"?'
    elif isinstance(setting.default, tuple):
        here = f'--set \'{which}.{setting.key}=["A", "B"]\'' if place.on_command_line else f'{setting.key} = ["A", "B"]'
        remedy = f"write {here}"
    elif setting.is_text and not isinstance(value, str):
        remedy = "text stands in quotes"
    got = "something else" if setting.key in _SECRETS else shown(value)
    return ConfigurationError(f"{place.text}: {setting.key}: expected {setting.kind}, got {got}", remedy)


def _control_characters(texts: Sequence[str]) -> _Problem | None:
    if any(_CONTROLS.search(text) for text in texts):
        return _Problem("has a control character in it", "remove line breaks, tabs and the like")
    return None


def _no_problem(_: Any) -> _Problem | None:
    return None


def _seeds(seeds: Sequence[str]) -> _Problem | None:
    return next((_Problem(wrong, "") for wrong in map(seed_problem, seeds) if wrong), None)


def _networks(networks: Sequence[str]) -> _Problem | None:
    for network in networks:
        try:
            ipaddress.ip_network(network, strict=False)
        except ValueError:
            return _Problem(f"{shown(network)} is not a network", 'such as "127.0.0.0/8", "192.168.7.5" or "fd00::/8"')
    return None


def _nameservers(servers: Sequence[str]) -> _Problem | None:
    for server in servers:
        if not _is_nameserver(server):
            return _Problem(
                f"{shown(server)} is not the address of a name server",
                'such as "192.0.2.1", "192.0.2.1:53" or "[2001:db8::1]:53"',
            )
    return None


def _is_nameserver(server: str) -> bool:
    address, port = server, "53"
    if server.startswith("["):
        address, _, port = server[1:].partition("]:")
    elif server.count(":") == 1:
        address, _, port = server.partition(":")
    try:
        version = ipaddress.ip_address(address).version
    except ValueError:
        return False
    if version == 4 and server.startswith("["):
        return False
    return re.fullmatch(r"[0-9]{1,5}", port) is not None and 0 < int(port) < 65536


def _local_instance(local: bool) -> _Problem | None:
    if local:
        return None
    return _Problem(
        "false is not available yet: the cluster comes as an extra, parcahyd[cluster]", "write LocalInstance = true"
    )


_CHECKS: dict[str, Callable[[Any], _Problem | None]] = {
    "AllowAddresses": _networks,
    "LocalInstance": _local_instance,
    "Nameservers": _nameservers,
    "Seeds": _seeds,
}
"""What a type cannot say of a value."""


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


def _refuse_crossed(work: WorkConf, given: dict[str, _Given]) -> None:
    """A least that is more than its most is an error; one of them without the other never is."""
    if work.RevisitMin is not None and work.RevisitMax is not None and work.RevisitMin > work.RevisitMax:
        places = f"{given['Work.RevisitMin'].place.text} and {given['Work.RevisitMax'].place.text}"
        raise ConfigurationError(f"{places}: RevisitMin is more than RevisitMax", "exchange them, or leave one of them out")


def _of(which: Conf, values: dict[str, Any]) -> dict[str, Any]:
    prefix = f"{which}."
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
