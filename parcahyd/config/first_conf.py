"""A small configuration for a new crawl: the few settings that a newcomer changes. `parcahyd init` writes it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from parcahyd.config.checking import Place, checked
from parcahyd.config.explaining import Conf, commented, declared, toml_text

__all__ = ["FILES", "Answers", "first_files", "host_delay", "user_agent"]

FILES = ("MapConf.toml", "WorkConf.toml")

_SHOWN: dict[Conf, dict[str, object]] = {
    "Map": {"AllowAddresses": ["192.168.7.0/24"]},
    "Work": {
        "Domains": ["example.org"],
        "Exclude": ["*/private/*"],
        "MaxDepth": 3,
        "MaxPages": 1000,
        "Embedded": True,
        "UserAgent": "parcahyd (+mailto:you@example.org)",
    },
}
"""Settings that are commented out, with an example each."""


class Answers(msgspec.Struct, frozen=True):
    """What a newcomer decides; the defaults are those of the settings."""

    seeds: tuple[str, ...]
    scope: str = "site"
    delay: float = 1.0
    contact: str = ""
    """A mail address or a URL under which owners of sites reach the user; empty: none."""


def user_agent(contact: str) -> str:
    """The UserAgent that names a contact. It has no version, since the file outlives it. A ConfigurationError for no header."""
    link = f"mailto:{contact}" if "@" in contact and ":" not in contact else contact
    agent = f"parcahyd (+{link})"
    checked("Work", declared("Work")["UserAgent"], agent, Place("the contact", "init"))
    return agent


def host_delay(text: str) -> float:
    """The HostDelay that a user wrote; ConfigurationError for what is none."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    checked("Work", declared("Work")["HostDelay"], number if math.isfinite(number) else text, Place("the delay", "init"))
    return number


def first_files(answers: Answers) -> dict[str, str]:
    """The texts of the files by their names."""
    work: dict[str, object] = {"Seeds": list(answers.seeds), "Scope": answers.scope, "HostDelay": answers.delay}
    if answers.contact:
        work["UserAgent"] = user_agent(answers.contact)
    # The folder above this one may be anybody's: newcomers have no plugins.
    mapping: dict[str, object] = {"DbUrl": declared("Map")["DbUrl"].default, "PluginDir": ""}
    return dict(zip(FILES, (_conf("Map", mapping), _conf("Work", work)), strict=True))


def _conf(which: Conf, values: Mapping[str, object]) -> str:
    lines = commented(
        f"{which}Conf.toml. A key that is left out has its default: `parcahyd config` lists all of them. Take away a # to use "
        "what stands behind it."
    )
    settings: dict[str, Any] = {**_SHOWN[which], **values}
    for key, setting in declared(which).items():
        if key in settings:
            mark = "" if key in values else "# "
            lines += ["", *commented(setting.sentence), f"{mark}{key} = {toml_text(settings[key])}"]
    return "\n".join(lines) + "\n"
