"""`parcahyd init`: write a small configuration for a new crawl, after four questions or none."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

import click

from parcahyd.cli.exit_codes import PROGRAM, print_error
from parcahyd.cli.seed_list import GivenSeed, seed_errors
from parcahyd.config.database_url import shown_database_url
from parcahyd.config.explaining import declared
from parcahyd.config.first_conf import FILES, Answers, first_files, host_delay, user_agent
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import UserError

__all__ = ["command"]

_Answer = TypeVar("_Answer")


@click.command()
@click.argument("folder", metavar="DIR")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--yes", is_flag=True, help="Ask nothing: the URLs are the seeds, and all settings have their defaults.")
def command(folder: str, urls: tuple[str, ...], yes: bool) -> int:
    """Write a small configuration for a new crawl.

    DIR gets MapConf.toml and WorkConf.toml, with the few settings that a first crawl changes and a comment for each. Nothing
    is overwritten. Four questions are asked: where the crawl starts, how far it goes, how quickly, and how owners of sites can
    reach you. The command that starts the crawl is printed.

    \b
    Examples:
      parcahyd init mycrawl
      parcahyd init mycrawl https://www.example.org/ --yes
    """
    _refuse_what_cannot_be_used(folder)
    errors = seed_errors(map(GivenSeed, urls))
    for error in errors:
        print_error(str(error), 2)
    if errors:
        return 2
    usage = f"parcahyd init {shlex.quote(folder)} URL --yes"
    if yes and not urls:
        raise UserError("--yes needs a URL that the crawl starts from", usage)
    if not yes and not sys.stdin.isatty():
        raise UserError("init asks questions, and standard input is no terminal", f"{usage} asks none")
    _write(folder, first_files(Answers(urls) if yes else _ask(urls)))
    written = " and ".join([os.path.join(folder, name) for name in FILES])
    click.echo(f"{written} are written. To start the crawl, and to go on with it:")
    click.echo(f"  {shlex.join([PROGRAM, 'run', '--conf', folder])}")
    return 0


def _ask(urls: tuple[str, ...]) -> Answers:
    """Each question again until its answer can be used."""
    work = declared("Work")
    seeds = urls or click.prompt("Where does the crawl start? One URL or more, with blanks between", value_proc=_asking(_seeds))
    click.echo('What belongs to it? "site": these sites only; "domain": other hosts of their domains too; "any": everything.')
    scope = click.prompt("Scope", type=click.Choice(work["Scope"].choices), default=work["Scope"].default)
    delay = click.prompt(
        "How many seconds lie between two requests to one host?",
        default=str(work["HostDelay"].default),
        value_proc=_asking(host_delay),
    )
    contact = click.prompt(
        "Your mail address or page, for owners of sites (each server sees it; empty: none)",
        default="",
        show_default=False,
        value_proc=_asking(_contact),
    )
    return Answers(seeds, scope, delay, contact)


def _asking(read: Callable[[str], _Answer]) -> Callable[[str], _Answer]:
    """The same for click, which shows its own kind of error and asks again."""

    def answer(text: str) -> _Answer:
        try:
            return read(text.strip())
        except UserError as error:
            raise click.UsageError(str(error)) from None

    return answer


def _seeds(text: str) -> tuple[str, ...]:
    seeds = tuple(text.split())
    if errors := seed_errors(map(GivenSeed, seeds or ("",))):
        raise errors[0]
    return seeds


def _contact(text: str) -> str:
    if text:
        user_agent(text)  # For its error.
    return text


def _refuse_what_cannot_be_used(folder: str) -> None:
    """Before anything is asked: a name that a database could not have, and files that are there."""
    if not folder or not folder.isprintable():
        raise UserError("the folder has no name that can be shown", "choose another")
    shown_database_url(Configuration(MapConf(), WorkConf(), os.path.abspath(folder)))
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise UserError(f'"{folder}" is a file', "name a new folder")
    there = [name for name in FILES if os.path.lexists(os.path.join(folder, name))]
    if there:
        raise UserError(f"{os.path.join(folder, there[0])} is there already, and is not overwritten", "name another folder")


def _write(folder: str, files: Mapping[str, str]) -> None:
    """All of them or none."""
    written: list[str] = []
    try:
        os.makedirs(folder, exist_ok=True)
        for name, text in files.items():
            path = os.path.join(folder, name)
            with open(path, "x", encoding="utf-8") as stream:
                written.append(path)
                stream.write(text)
    except OSError as error:
        for path in written:
            with suppress(OSError):
                os.unlink(path)
        raise UserError(f'"{folder}" cannot be written to: {error.strerror}', "name another folder") from None
