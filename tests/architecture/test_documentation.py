"""The pages name every command, option and setting, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from parcahyd.cli.application import COMMANDS, application
from parcahyd.config.schema import MapConf, WorkConf
from parcahyd.storage.reports.records import UrlReport

ROOT = Path(__file__).parents[2]
PAGES = [
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md", "plugins/README.md")
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
]


def _command(name: str) -> click.Command:
    command = application.get_command(click.Context(application), name)
    assert command is not None
    return command


def _parameters(command: click.Command) -> list[click.Parameter]:
    """Those of the command, and of its parts where it has any."""
    parts = command.commands.values() if isinstance(command, click.Group) else ()
    return [*command.params, *(parameter for part in parts for parameter in part.params)]


def _sections() -> dict[str, str]:
    """The part of docs/command-line.md that is about each command."""
    parts = re.split(
        r"^## `parcahyd (\w+)`$", (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_command_has_its_section_in_order() -> None:
    assert list(_sections()) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name: str) -> None:
    section = _sections()[name]
    for parameter in _parameters(_command(name)):
        if isinstance(parameter, click.Option) and parameter.name not in ("folder", "overrides", "database"):
            assert f"`{parameter.opts[-1]}" in section, f"{parameter.opts[-1]} of {name}"


def test_the_options_of_every_crawl_are_documented_once() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8").partition("## `parcahyd run`")[0]
    assert "`--conf DIR`" in page
    assert "`--set Map.KEY=VALUE`" in page
    assert "`--db FILE`" in page


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_a_sentence_examples_and_a_sentence_for_each_option(name: str) -> None:
    command = _command(name)
    assert command.help
    assert command.help.partition("\n")[0] == COMMANDS[name]
    assert f"parcahyd {name}" in command.help, "an example"
    for parameter in _parameters(command):
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_every_command_that_reads_a_crawl_takes_its_options() -> None:
    for name in set(COMMANDS) - {"augment", "completion", "init", "lab", "topic"}:
        command = _command(name)
        for part in command.commands.values() if isinstance(command, click.Group) else (command,):
            options = {option for parameter in part.params for option in parameter.opts}
            assert {"--conf", "--set", "--db"} <= options, (name, part.name)


def test_every_field_of_a_url_in_json_is_documented() -> None:
    for field in UrlReport.__struct_fields__:
        assert f"`{field}`" in _sections()["urls"], field


def test_every_folder_of_the_program_is_in_the_architecture_page() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("## The folders")[2]
    for folder in (ROOT / "parcahyd").iterdir():
        if (folder / "__init__.py").exists():
            assert f"`{folder.name}/`" in page, folder.name


@pytest.mark.parametrize("conf", [MapConf, WorkConf])
def test_every_setting_is_in_the_settings_page(conf: type[MapConf | WorkConf]) -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    section = page.partition(f"## {conf.__name__}.toml")[2].partition("\n## ")[0]
    for key in conf.__struct_fields__:
        assert f"`{key}`" in section, key


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_the_pages_can_be_typed(page: Path) -> None:
    for name, rest in re.findall(r"(?:^ {4}|`|\$ )parcahyd ([a-z]+)([^`\n#]*)", page.read_text(encoding="utf-8"), re.MULTILINE):
        assert name in COMMANDS, name
        options = {
            option
            for parameter in _parameters(_command(name))
            for option in (*parameter.opts, *parameter.secondary_opts, "--help")
        }
        assert set(re.findall(r"(?<!\S)--[\w-]+", rest)) <= options, rest


@pytest.mark.parametrize("name", ["for-site-authors.md", "augmented-hypertext.md", "tol-tvi-format.md"])
def test_pages_for_site_authors_name_every_marker(name: str) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    for marker in ("data-vol=", 'class="volatile"', "<Vol#>", "<!--vol "):
        assert marker in page, marker


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"^- \d+: \[.*?\]\((.*?)\)$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == sorted(path.name for path in folder.glob("0*.md"))
