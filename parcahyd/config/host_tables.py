"""The [[Host]] tables of WorkConf.toml: each key checked where it stands, as those of the file itself are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parcahyd.config.checking import Place, checked, nearest
from parcahyd.config.explaining import Conf, declared, declared_of_host, plain
from parcahyd.config.schema import HostRule
from parcahyd.config.toml_reading import read_toml
from parcahyd.core.errors import ConfigurationError

__all__ = ["HostTables", "rules_in_line"]


class HostTables:
    """Takes headings and keys in the order of the file, and gives the rules; `values` is what tomllib made of the file."""

    def __init__(self, which: Conf, values: Mapping[str, Any]) -> None:
        self._which = which
        self._values = values
        self._rules: list[dict[str, Any]] = []
        self._places: list[Place] = []
        self._inside_headers = False

    @property
    def place(self) -> Place:
        """Of the first table."""
        return self._places[0]

    def heading(self, text: str, place: Place) -> None:
        meaning = _meaning(text)
        if meaning == {"Host": [{}]} and self._which == "Work":
            self._inside_headers = False
            self._rules.append({})
            self._places.append(place)
        elif meaning == {"Host": {"Headers": {}}} and self._rules:
            self.key("Headers", place)
            self._inside_headers = True
        else:
            raise _unknown_table(self._which, text, meaning, place)

    def key(self, key: str, place: Place) -> None:
        if not self._inside_headers:
            self._rules[-1][key] = _checked(key, self._values["Host"][len(self._rules) - 1][key], place)

    def rules(self) -> tuple[HostRule, ...]:
        return tuple(map(_rule, self._rules, self._places))


def rules_in_line(value: object, place: Place) -> tuple[HostRule, ...]:
    """The rules of `Host = [{ Pattern = ... }]`, all on one place."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ConfigurationError(f"{place.text}: Host: expected tables", "write each as a table [[Host]]")
    return tuple(_rule({key: _checked(key, one[key], place) for key in one}, place) for one in value)


def _rule(values: dict[str, Any], place: Place) -> HostRule:
    if "Pattern" not in values:
        raise ConfigurationError(f"{place.text}: [[Host]]: has no Pattern", 'write Pattern = "example.org"')
    return HostRule(**values)


def _checked(key: str, value: object, place: Place) -> object:
    setting = declared_of_host().get(key)
    if setting is None:
        raise _unknown_key(key, place)
    return checked("Work", setting, value, place)


def _unknown_key(key: str, place: Place) -> ConfigurationError:
    near = nearest(key, declared_of_host())
    if key in declared("Work"):
        remedy = "a key of the whole file stands above the first [[Host]]"
        remedy += f"; did you mean {near}?" if near else ""
    else:
        remedy = f"did you mean {near}?" if near else f"[[Host]] has {', '.join(declared_of_host())}"
    return ConfigurationError(f"{place.text}: {plain(key)}: unknown key in [[Host]]", remedy)


def _unknown_table(which: Conf, text: str, meaning: Mapping[str, Any], place: Place) -> ConfigurationError:
    if "Host" not in meaning:
        remedy = "all keys stand at the top level, without headings"
    elif which == "Map":
        remedy = "[[Host]] belongs in WorkConf.toml"
    else:
        remedy = "a rule starts with [[Host]], in two pairs of brackets"
    return ConfigurationError(f"{place.text}: {plain(text)}: unknown table", remedy)


def _meaning(heading: str) -> dict[str, Any]:
    try:
        return read_toml(heading)
    except (ValueError, RecursionError):
        return {}
