from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from parcahyd.config.explaining import Conf, declared
from parcahyd.config.first_conf import FILES, Answers, first_files, host_delay, user_agent
from parcahyd.config.loading import load
from parcahyd.core.errors import ConfigurationError
from parcahyd.rules.robots.robots_file import product_token

CONFS: tuple[Conf, ...] = ("Map", "Work")


def _written(folder: Path, answers: Answers) -> Path:
    for name, text in first_files(answers).items():
        (folder / name).write_text(text)
    return folder


def test_the_answers_are_in_force(tmp_path: Path) -> None:
    seeds = ("http://a.example/", "http://b.example/#part")
    answers = Answers(seeds, "domain", 2.5, "me@a.example")
    assert tuple(first_files(answers)) == FILES
    configuration = load(_written(tmp_path, answers))
    work = configuration.work
    assert (work.Scope, work.HostDelay, work.UserAgent) == ("domain", 2.5, "parcahyd (+mailto:me@a.example)")
    assert configuration.map.PluginDir == "", "the folder above is anybody's"
    assert work.Seeds == seeds


def test_without_answers_all_settings_have_their_defaults(tmp_path: Path) -> None:
    configuration = load(_written(tmp_path, Answers(("http://a.example/",))))
    for which, conf in (("Map", configuration.map), ("Work", configuration.work)):
        for key, setting in declared("Map" if which == "Map" else "Work").items():
            if key not in {"PluginDir", "Seeds"}:
                assert getattr(conf, key) == setting.default, key


@pytest.mark.parametrize("which", CONFS)
def test_what_is_commented_out_can_be_used_and_has_its_sentence(which: Conf, tmp_path: Path) -> None:
    text = first_files(Answers(()))[f"{which}Conf.toml"]
    flowing = " ".join(line.removeprefix("# ") for line in text.splitlines())
    examples = [line.removeprefix("# ") for line in text.splitlines() if " = " in line]
    assert len(examples) >= 3
    (tmp_path / f"{which}Conf.toml").write_text("\n".join(examples))
    load(tmp_path)
    for key in tomllib.loads("\n".join(examples)):
        assert declared(which)[key].sentence in flowing
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("contact", "agent"),
    [
        ("me@a.example", "parcahyd (+mailto:me@a.example)"),
        ("mailto:me@a.example", "parcahyd (+mailto:me@a.example)"),
        ("https://a.example/bot", "parcahyd (+https://a.example/bot)"),
    ],
)
def test_a_contact_is_part_of_the_name(contact: str, agent: str) -> None:
    assert user_agent(contact) == agent
    assert product_token(agent) == "parcahyd"


@pytest.mark.parametrize("contact", ["ümlaut@a.example", "a\nb", "a\x1b"])
def test_a_contact_that_no_header_can_have(contact: str) -> None:
    with pytest.raises(ConfigurationError, match="the contact: "):
        user_agent(contact)


@pytest.mark.parametrize("text", ["", "soon", "-1", "nan", "inf", "1e99"])
def test_a_delay_that_is_none(text: str) -> None:
    with pytest.raises(ConfigurationError, match="the delay: HostDelay: expected a number"):
        host_delay(text)


def test_a_delay() -> None:
    assert host_delay("0.5") == 0.5
