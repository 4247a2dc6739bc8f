"""`parcahyd lab topic`: what topics are worth for dividing a crawl.

Tested in tests/cli/test_lab_topic.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from parcahyd.cli.lab_output import lab_options, show_tables, this_command
from parcahyd.lab.labelled_pages import LabelledData, chosen, has_links, read_labelled, read_links
from parcahyd.lab.report import LabTable
from parcahyd.lab.topic_accuracy import METHODS, accuracy_table
from parcahyd.lab.topic_links import fetches_table, locality_table, orders_table
from parcahyd.lab.topic_speed import folder_digest, html_of_words, language_table, read_pages, speed_table
from parcahyd.topics.linear import train_linear
from parcahyd.topics.training import LabelledPage, trainable

__all__ = ["topic"]

_DIVIDING = ("linear", "Naive Bayes", "Lewis", "Rocchio-TFIDF")
_ORDERED = ("linear", "Naive Bayes")
_TABLES = ("accuracy", "locality", "orders", "fetches", "speed", "language")
_PICTURES = (("accuracy", "accuracy"), ("locality", "locality"), ("orders", "tau"), ("speed", "MB a second"))


@click.command("topic")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--train", default="", metavar="GROUP", help="The group of pages that models are trained with.")
@click.option("--without", default="", metavar="TOPIC", help="A topic that accuracy leaves out: what is left over, say.")
@click.option("--least", default=50, show_default=True, metavar="N", help="How many words a page must have.")
@click.option(
    "--name", default="topic", show_default=True, metavar="NAME", help="Of the page of tables, and before their names."
)
@click.option(
    "--pages", type=click.Path(path_type=Path, exists=True, file_okay=False), help="A folder of HTML files, for the speed."
)
@click.option(
    "--languages",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder with a folder of HTML files for each language, named by its tag.",
)
@click.option(
    "--table",
    "tables",
    type=click.Choice(_TABLES),
    multiple=True,
    default=_TABLES,
    metavar="TABLE",
    help=f"Only this table, one of {', '.join(_TABLES)}. May be repeated.",
)
@lab_options
def topic(
    data: Path,
    train: str,
    without: str,
    least: int,
    name: str,
    pages: Path | None,
    languages: Path | None,
    tables: tuple[str, ...],
    seed: int,
    json_output: bool,
    report: Path | None,
) -> None:
    """Say what topics are worth for dividing a crawl: accuracy, links that stay, orders that agree, speed.

    DATA are pages with topics, as parcahyd topic reads them; where there is a links.txt, links are followed, too.

    \b
    Examples:
      parcahyd lab topic topic-webkb/ --train misc --without other
      parcahyd lab topic topic-dmoz/ --least 1 --report docs/lab
    """
    command, read = this_command(), read_labelled(data)
    kept = trainable(chosen(read.pages, without=[without]), least)
    made: list[LabTable] = []
    if "accuracy" in tables:
        made.append(accuracy_table(kept, read.files, train, least=least, command=command, seed=seed))
    if train and has_links(data):
        made += _of_links(read, data, train, least, tables, command, seed)
    if (train or pages is not None) and not {"speed", "language"}.isdisjoint(tables):
        model = train_linear(chosen(kept, [train] if train else []), "en", has_pieces=False, reads_url=True)
        if "speed" in tables:
            files = read.files if pages is None else (folder_digest(pages),)
            made.append(speed_table(model, html_of_words(kept) if pages is None else read_pages(pages), files, command))
        if "language" in tables and languages is not None:
            made.append(language_table(model, languages, command))
    named = [_renamed(table, name) for table in made]
    pictures = [(table if name == "topic" else f"{name}-{table}", figure) for table, figure in _PICTURES]
    show_tables(named, json_output=json_output, report=report, page="topic", pictures=pictures)


def _of_links(
    read: LabelledData, data: Path, train: str, least: int, tables: Sequence[str], command: str, seed: int
) -> Iterator[LabTable]:
    """The tables about links, of the pages that are not trained with."""
    if {"locality", "orders", "fetches"}.isdisjoint(tables):
        return
    links, file = read_links(data, len(read.pages))
    rows = [row for row, page in enumerate(read.pages) if page.group != train]
    places = {row: place for place, row in enumerate(rows)}
    pages = [read.pages[row] for row in rows]
    inside = [[places[target] for target in links[row] if target in places] for row in rows]
    labels = _labels(trainable(chosen(read.pages, [train]), least), pages, least)
    files = (*read.files, file)
    if "locality" in tables:
        yield locality_table(labels, [page.topic for page in pages], inside, files, command)
    if "orders" in tables:
        yield orders_table({name: labels[name] for name in _ORDERED}, pages, inside, files, command, seed)
    if "fetches" in tables:
        yield fetches_table(labels, inside, files, command)


def _labels(training: Sequence[LabelledPage], pages: Sequence[LabelledPage], least: int) -> dict[str, list[str]]:
    """What each method says of each page; with all topics, what is left over included."""
    models = {name: METHODS[name](training, least) for name in _DIVIDING}
    return {name: [model.topic_of_counts(page.words, page.path) for page in pages] for name, model in models.items()}


def _renamed(table: LabTable, name: str) -> LabTable:
    if name == "topic":
        return table
    fields = {field: getattr(table, field) for field in table.__struct_fields__}
    return LabTable(**{**fields, "name": f"{name}-{table.name}", "title": f"{table.title} ({name})"})
