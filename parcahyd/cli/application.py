"""The program `parcahyd`: it imports a command when that command is run. `exit_codes.py` says how it ends."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from parcahyd import __version__
from parcahyd.cli.exit_codes import PROGRAM, exit_code, print_error
from parcahyd.core.errors import UserError

__all__ = ["COMMANDS", "COMPLETE_VARIABLE", "PROGRAM", "application", "run_command"]

COMPLETE_VARIABLE = "_PARCAHYD_COMPLETE"
COMMANDS = {
    "run": "Crawl until nothing is due; go on where a run stopped.",
    "node": "Take part in a cluster: run pipelines on this machine.",
    "init": "Write a small configuration for a new crawl.",
    "status": "Show what is stored, what waits, and how the last run went.",
    "urls": "List the URLs with their state, reason, status and depth.",
    "show": "Write a stored document to standard output, byte for byte.",
    "history": "List every exchange with one URL, and what it brought.",
    "diff": "Show what changed between two stored versions of a URL.",
    "export": "Write what is stored as WARC, WACZ, or files to browse.",
    "import": "Read WARC, WACZ and ARC files into the crawl.",
    "explain": "Show what is known about one URL: its state, and why.",
    "fetch": "Visit one URL and print everything; nothing is stored.",
    "forget": "Remove URLs, or a whole site, from the crawl.",
    "verify": "Check that everything in the database is as it must be.",
    "cluster": "Make, start, watch and steer a crawl on several machines.",
    "topic": "Train and test models that say what pages are about.",
    "lab": "Try the strategies of a cluster on recorded data.",
    "augment": "Write, check and serve the tables of a site that you publish.",
    "config": "Show every setting in force, and where its value comes from.",
    "plugins": "List the plugins: what they offer, and which are in use.",
    "completion": "Print the completion script of a shell.",
}
"""Each command with its first sentence: `parcahyd --help` and completion do not import the commands' files."""


class _Commands(click.Group):
    """Commands by the name of their file."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - the signature is click's
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"parcahyd.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - the signature is click's
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [CompletionItem(name, help=sentence) for name, sentence in COMMANDS.items() if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            nearest = get_close_matches(args[0], COMMANDS, 1)
            meant = f"run {args[0]}" if "://" in args[0] else repr(nearest[0]) if nearest else ""
            raise UserError(
                f"there is no command {args[0]!r}", f"did you mean {meant}?" if meant else "parcahyd --help lists them"
            )
        return super().resolve_command(ctx, args)


@click.group(
    PROGRAM,
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="parcahyd %(version)s")
@click.pass_context
def application(ctx: click.Context) -> None:
    """A fast, polite, crash-proof parallel web crawler.

    One command crawls a site into a database; stop it or kill it whenever you like, and the same command goes on where
    it was. The other commands look at what was stored.

    \b
    A first crawl, into ./crawl.db:
      parcahyd run https://www.example.org/
      parcahyd status
      parcahyd urls --state stored
      parcahyd show https://www.example.org/ > page.html

    Settings come from MapConf.toml and WorkConf.toml in the folder given with --conf, else in ./conf, else from the built-in
    defaults with the database crawl.db in the current folder; --set changes single ones, and --db names another database.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run_command(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(application, {}, PROGRAM, COMPLETE_VARIABLE, instruction)
    try:
        return exit_code(partial(_invoke, list(arguments)))
    except click.UsageError as error:
        message = error.format_message().rstrip(".")
        return print_error(f"{message[:1].lower()}{message[1:]} (see {_path_of(error, arguments)} --help)", 2)
    except click.ClickException as error:
        return print_error(error.format_message(), 2)
    except click.Abort:
        return 130


def _invoke(arguments: list[str]) -> int:
    try:
        with application.make_context(PROGRAM, arguments) as ctx:
            return application.invoke(ctx) or 0
    except click.exceptions.Exit as end:
        return end.exit_code


def _path_of(error: click.UsageError, arguments: Sequence[str]) -> str:
    """The command line's commands up to the one with the error; click does not always name it."""
    if error.ctx is not None:
        return error.ctx.command_path
    return " ".join((PROGRAM, *(word for word in arguments[:1] if word in COMMANDS)))
