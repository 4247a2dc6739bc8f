"""`parcahyd topic`: models that say what pages are about are trained and tested.

Tested in tests/cli/test_topic.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import click

from parcahyd.cli.wording import plural, size
from parcahyd.core.errors import UserError
from parcahyd.lab.labelled_pages import chosen, read_labelled
from parcahyd.topics.confusion import confusion_lines, confusion_of
from parcahyd.topics.language import LANGUAGES
from parcahyd.topics.linear import train_linear
from parcahyd.topics.model import LEAST_WORDS, TopicModel, read_model
from parcahyd.topics.training import LabelledPage, has_short_texts, trainable
from parcahyd.topics.word_statistics import train_bayes, train_lewis, train_rocchio

__all__ = ["command"]

_STATISTICS = {"bayes": train_bayes, "lewis": train_lewis, "rocchio": train_rocchio}
_METHODS = ("linear", *_STATISTICS)
_Function = TypeVar("_Function", bound=Callable[..., object])


@click.group(invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Train and test models that say what pages are about.

    The setting Topics takes a model: each document is then labelled with its topic. docs/topics.md shows how to train one of
    your own in five minutes.

    \b
    Examples:
      parcahyd topic train pages/ --out kettles.model
      parcahyd topic test kettles.model other-pages/
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _data_options(function: _Function) -> _Function:
    """Which pages of the data."""
    function = click.option(
        "--without", multiple=True, metavar="TOPIC", help="Leave the pages of this topic out. May be repeated."
    )(function)
    return click.option(
        "--group", "groups", multiple=True, metavar="NAME", help="Only pages of this group of the data. May be repeated."
    )(function)


@command.command("train")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The model file to write.")
@click.option("--method", type=click.Choice(_METHODS), default="linear", show_default=True, help="How it is trained.")
@click.option(
    "--language",
    type=click.Choice(["", *LANGUAGES]),
    default="en",
    show_default=True,
    metavar="TAG",
    help="The pages' language: pages in others are called other-language. Empty: the model takes any.",
)
@click.option("--url/--no-url", "reads_url", default=False, help="Words of the URL count, too.")
@click.option("--pieces/--no-pieces", default=None, help="Pieces of words count, too. Else they do where texts are short.")
@click.option(
    "--least", default=LEAST_WORDS, show_default=True, metavar="N", help="How many words a page must have to be classified."
)
@_data_options
def train(
    data: Path,
    out: Path,
    method: str,
    language: str,
    reads_url: bool,
    pieces: bool | None,
    groups: tuple[str, ...],
    without: tuple[str, ...],
    least: int,
) -> None:
    """Train a model from pages whose topics are known.

    DATA is a folder with one folder of pages for each topic, or a table of word counts.

    \b
    Examples:
      parcahyd topic train pages/ --out kettles.model
      parcahyd topic train counts.tsv --out kettles.model --method bayes --language de
    """
    found = _pages(data, groups, without, least)
    if method == "linear":
        short = has_short_texts(found) if pieces is None else pieces
        told = partial(click.echo, err=True)
        model = train_linear(found, language, least_words=least, has_pieces=short, reads_url=reads_url, told=told)
    elif pieces:
        raise UserError(f"--pieces: {method} counts words", "leave --pieces out, or take --method linear")
    else:
        model = _STATISTICS[method](found, language, least_words=least, reads_url=reads_url)
    content = model.encode()
    try:
        out.write_bytes(content)
    except OSError as error:
        raise UserError(f"{out} cannot be written: {error.strerror}", "name another file with --out") from error
    topics = ", ".join(model.head.topics)
    click.echo(f"{out}: {size(len(content))}, {plural(model.head.pages, 'page')} of {topics}")


@command.command("test")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@_data_options
def test(model: Path, data: Path, groups: tuple[str, ...], without: tuple[str, ...]) -> None:
    """Show how often a model is right about pages whose topics are known, and which topics it takes for which.

    Test with pages that the model was not trained with. Pages with fewer words than the model asks for are left out.

    \b
    Examples:
      parcahyd topic test kettles.model other-pages/
      parcahyd topic test webkb.model topic-webkb/ --group texas --without other
    """
    trained = _model(model)
    confusion = confusion_of(trained, _pages(data, groups, without, trained.head.least_words))
    click.echo(f"accuracy   {confusion.accuracy:.4f} of {plural(confusion.pages, 'page')}")
    for line in confusion_lines(confusion):
        click.echo(line)


def _pages(data: Path, groups: Sequence[str], without: Sequence[str], least: int) -> list[LabelledPage]:
    found = trainable(chosen(read_labelled(data).pages, groups, without), least)
    if not found:
        raise UserError(f"{data} holds no page with {least} words", "parcahyd topic train --least N takes shorter ones")
    return found


def _model(path: Path) -> TopicModel:
    try:
        return read_model(path.read_bytes(), str(path))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}", "parcahyd topic train writes a model") from error
