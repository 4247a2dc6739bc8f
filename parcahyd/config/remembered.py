"""The settings of a crawl stay with it: what the row of a run records of them, and what the next run does with that.

Whose setting each is stands in `schema.py`. What belongs to the crawl is taken over where the next run is not given it. What
belongs to the user is never taken from a database, which others may have written: the run stops and says what to repeat.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from parcahyd.config.checking import Place, checked
from parcahyd.config.explaining import Conf, Declared, declared, shown, toml_text, without_secrets
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import ConfigurationError, DatabaseUnusable, UserError

__all__ = ["GIVEN", "AgreedSettings", "given", "join_run", "read_record", "recorded", "take_over"]

GIVEN = "given"
"""The key of a run's record under which it says which settings its user gave, and where. The other keys are settings."""

_LAST_RUN = "last run: "
_FILES = ("MapConf.toml", "WorkConf.toml")
_NOT_RECORDED = frozenset({"DbUrl", "DbName", "DbUser", "DbPassword"})
"""Access data of the database may be secret, and do not affect what is crawled."""
_HIDDEN = "***"
_LONGEST_OPTION = 2000
"""A longer value is named and not printed: nobody reads it, and somebody else may have written it."""


_Plain = str | int | float | bool | None
_read = msgspec.json.Decoder(dict[str, _Plain | list[_Plain | dict[str, _Plain | dict[str, str]]] | dict[str, str]]).decode
"""The forms that settings have, tables of hosts being the deepest: what is nested deeper could not be printed."""


class AgreedSettings(msgspec.Struct, frozen=True):
    """What a run works by, once it has seen the settings of the last one."""

    configuration: Configuration
    told: tuple[str, ...]
    """A line for each setting that was taken over, and for each that differs from the last run's."""


def recorded(configuration: Configuration) -> dict[str, Any]:
    """Every setting as decoded JSON, without secrets."""
    found: dict[str, Any] = {}
    for which, conf in (("Map", configuration.map), ("Work", configuration.work)):
        for key in conf.__struct_fields__:
            if key not in _NOT_RECORDED:
                found[f"{which}.{key}"] = without_secrets(key, getattr(conf, key))
    if folder := found["Map.PluginDir"]:
        # The next run may start elsewhere. The other paths are absolute already.
        found["Map.PluginDir"] = os.path.abspath(os.path.join(configuration.folder, folder))
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
    return decoded


def read_record(text: str) -> dict[str, Any]:
    """The record of a run, as its row has it: settings by `Map.KEY` and `Work.KEY`, and which of them were given."""
    try:
        return {**_read(text)}
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise DatabaseUnusable("the database's settings of the last run are damaged", "restore it from a copy") from None


def given(configuration: Configuration) -> dict[str, str]:
    """Where each setting was given that has not its default; one that was taken over keeps the place where it was given first.

    A configuration that a program made has no places: what differs from its default was given.
    """
    places = {}
    for which, setting in _settings():
        name = f"{which}.{setting.key}"
        conf = configuration.map if which == "Map" else configuration.work
        # `load` empties PluginDir itself where there is no folder.
        by_program = getattr(conf, setting.key) != setting.default and name != "Map.PluginDir"
        if setting.belongs_to != "apart" and (name in configuration.sources or by_program):
            places[name] = configuration.sources.get(name, "program").removeprefix(_LAST_RUN)
    return places


def take_over(configuration: Configuration, last: Mapping[str, Any] | None, *, as_configured: bool = False) -> AgreedSettings:
    """The configuration with what it takes over from the last run, whose record is `last`; None where there was no run.

    Raises UserError where the last run was given something of the user's own that this one is not: with `as_configured`, it is
    left out instead. What comes from a database is checked as a file is, and keys that are not known here are passed over.
    """
    if last is None:
        return AgreedSettings(configuration, ())
    now, given_now, given_before = recorded(configuration), given(configuration), _given_before(last)
    taken: dict[str, Any] = {}
    sources: dict[str, str] = {}
    told: list[str] = []
    missing: dict[str, Any] = {}
    for which, setting in _settings():
        name = f"{which}.{setting.key}"
        if setting.belongs_to == "apart" or name not in last or last[name] == now[name]:
            continue
        was, place = last[name], given_before.get(name, "")
        if not place and name not in given_now:
            continue  # Only its default differs, as in another version.
        if name not in given_now and _is_the_users(setting, was) and not as_configured:
            missing[name] = was
        elif name in given_now or _is_the_users(setting, was) or not _stays(setting, place, configuration):
            told.append(f"{name}: was {shown(was)} -> is {shown(now[name])}")
        else:
            taken[setting.key] = _checked(which, setting, was)
            sources[name] = f"{_LAST_RUN}{place}"
            told.append(f"{name} = {shown(was)}, as in the last run")
    if missing:
        raise _to_be_repeated(missing)
    if not taken:
        return AgreedSettings(configuration, tuple(told))
    work = msgspec.structs.replace(configuration.work, **taken)
    if work.RevisitMin is not None and work.RevisitMax is not None and work.RevisitMin > work.RevisitMax:
        raise ConfigurationError(
            "RevisitMin is more than RevisitMax, and one of them is the last run's", "give both with --set"
        )
    agreed = msgspec.structs.replace(configuration, work=work, sources={**configuration.sources, **sources})
    return AgreedSettings(agreed, tuple(told))


def join_run(configuration: Configuration, record: Mapping[str, Any]) -> Configuration:
    """The configuration of a machine that joins a run whose record this is: what belongs to the crawl is the run's.

    What is the user's own is this machine's. Raises UserError where the run was given something of it that the machine is not.
    """
    crawl = {
        setting.key: setting.default for which, setting in _settings() if which == "Work" and setting.belongs_to == "crawl"
    }
    kept = {name: place for name, place in configuration.sources.items() if name.removeprefix("Work.") not in crawl}
    bare = msgspec.structs.replace(
        configuration, work=msgspec.structs.replace(configuration.work, **crawl), sources=kept, has_folder=False
    )
    return take_over(bare, record).configuration


def _settings() -> Iterator[tuple[Conf, Declared]]:
    confs: tuple[Conf, ...] = ("Map", "Work")
    return ((which, setting) for which in confs for setting in declared(which).values())


def _given_before(last: Mapping[str, Any]) -> dict[str, str]:
    places = last.get(GIVEN, {})
    return {name: str(place) for name, place in places.items()} if isinstance(places, dict) else {}


def _is_the_users(setting: Declared, value: object) -> bool:
    # An order or a partition strategy is a plugin's name, or the dotted path of code to be loaded.
    is_path = setting.key in ("Order", "Partition") and not {".", ":"}.isdisjoint(str(value))
    return is_path or setting.belongs_to not in ("crawl", "run")


def _stays(setting: Declared, place: str, configuration: Configuration) -> bool:
    """Whether a setting belongs to the crawl, and the user did not take it out of a file."""
    return setting.belongs_to == "crawl" and not (configuration.has_folder and place.startswith(_FILES))


def _checked(which: Conf, setting: Declared, value: object) -> object:
    try:
        return checked(which, setting, value, Place("the settings of the last run", _LAST_RUN))
    except ConfigurationError as error:
        raise ConfigurationError(error.message, f"give it anew: --set {which}.{setting.key}=VALUE") from None


def _to_be_repeated(missing: Mapping[str, Any]) -> UserError:
    options = {name: _option(name, value) for name, value in missing.items()}
    remedies = []
    if printed := " ".join(filter(None, options.values())):
        remedies.append(f"repeat {printed}")
    if hidden := [name for name, option in options.items() if not option and name != "Work.Host"]:
        remedies.append(f"give {', '.join(hidden)} again")
    if "Work.Host" in missing:
        remedies.append("name the folder with the [[Host]] tables: --conf DIR")
    remedies.append("or go on without: --as-configured")
    names = ", ".join(missing)
    return UserError(f"the last run was given {names}, which no run takes from a database", "; ".join(remedies))


def _option(name: str, value: object) -> str:
    """What to paste; empty where that cannot be said, or is nobody else's business."""
    text = "" if value is None else toml_text(value)
    if name == "Work.Host" or _HIDDEN in text or len(text) > _LONGEST_OPTION:
        return ""
    return f"--set {shlex.quote(f'{name}={text}')}"
