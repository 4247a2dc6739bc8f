"""How often a page's topic is right: the four methods, on several splits of data, beside the paper's figures.

Tested in tests/lab/test_topic.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from zlib import crc32

import msgspec

from parcahyd.lab.data import DataFile
from parcahyd.lab.report import LabRow, LabTable, spread
from parcahyd.topics.confusion import Confusion, confusion_of
from parcahyd.topics.linear import train_linear
from parcahyd.topics.model import TopicModel
from parcahyd.topics.training import LabelledPage, has_short_texts
from parcahyd.topics.word_statistics import train_bayes, train_lewis, train_rocchio

__all__ = ["METHODS", "accuracy_table"]

_Train = Callable[[Sequence[LabelledPage], int], TopicModel]
_Split = tuple[list[LabelledPage], list[LabelledPage]]

_PARTS = 5


def _linear(pages: Sequence[LabelledPage], least: int, *, reads_url: bool = False) -> TopicModel:
    return train_linear(pages, least_words=least, has_pieces=has_short_texts(pages), reads_url=reads_url)


METHODS: dict[str, _Train] = {
    "linear": _linear,
    "linear, words of the URL too": partial(_linear, reads_url=True),
    "Naive Bayes": lambda pages, least: train_bayes(pages, least_words=least),
    "Lewis": lambda pages, least: train_lewis(pages, least_words=least),
    "Rocchio-TFIDF": lambda pages, least: train_rocchio(pages, least_words=least),
}

_PAPER = {"Naive Bayes": 0.607, "Lewis": 0.582, "Rocchio-TFIDF": 0.437}
_NOTES = (
    (
        "Paper: 15 categories of the Open Directory, 500 pages of each to train and 500 to test. Its data are not public, so "
        "its figures and ours are of different pages."
    ),
    (
        "Other splits: without groups, five parts, each tested with a model of the others; with groups, each group that is not "
        "trained with is tested with a model of all others."
    ),
)


def accuracy_table(
    pages: Sequence[LabelledPage], files: tuple[DataFile, ...], train: str, *, least: int, command: str, seed: int
) -> LabTable:
    """`train`: the group to train with, where the data have groups; the others are the pages to test."""
    main = _main_split(pages, train)
    splits = _splits(pages, train, seed)
    rows = [_row(name, method, main, splits, least) for name, method in METHODS.items()]
    majority = max(sum(page.topic == topic for page in pages) for topic in {page.topic for page in pages}) / len(pages)
    rest = ("", "") if main else ()
    rows.append(LabRow("always the most frequent topic", "rival", (f"{majority:.3f}", *rest), {"accuracy": majority}))
    rows += [LabRow(name, "paper", (f"{value:.3f}", *rest), {"accuracy": value}) for name, value in _PAPER.items()]
    heading = (f"trained with {train}" if main else "", "language first", "other splits") if main else ("splits",)
    return LabTable("accuracy", "Accuracy", heading, tuple(rows), command, seed, len(splits), files, _NOTES)


def _row(name: str, train: _Train, main: _Split | None, splits: Sequence[_Split], least: int) -> LabRow:
    found = [_tried(train, split, least) for split in splits]
    over = spread([confusion.accuracy for confusion in found])
    if main is None:
        return LabRow(name, "ours", (over.text(),), {"accuracy": over.mean})
    model = train(main[0], least)
    accuracy, of_english = confusion_of(model, main[1]).accuracy, confusion_of(_in_english(model), main[1]).accuracy
    cells = (f"{accuracy:.3f}", f"{of_english:.3f}", over.text())
    return LabRow(name, "ours", cells, {"accuracy": accuracy, "language first": of_english, "other splits": over.mean})


def _in_english(model: TopicModel) -> TopicModel:
    """The same model, which first asks whether a page is in English."""
    return TopicModel(msgspec.structs.replace(model.head, language="en"), *model.arrays)


def _tried(train: _Train, split: _Split, least: int) -> Confusion:
    return confusion_of(train(split[0], least), split[1])


def _main_split(pages: Sequence[LabelledPage], train: str) -> _Split | None:
    if not train:
        return None
    return [page for page in pages if page.group == train], [page for page in pages if page.group != train]


def _splits(pages: Sequence[LabelledPage], train: str, seed: int) -> list[_Split]:
    """By groups, each of which is left out of the training once; else by chance."""
    groups = sorted({page.group for page in pages if page.group != train}) if train else []
    if groups:
        return [([p for p in pages if p.group != group], [p for p in pages if p.group == group]) for group in groups]
    return list(_by_chance(pages, seed))


def _by_chance(pages: Sequence[LabelledPage], seed: int) -> Iterator[_Split]:
    parts = [crc32(b"%d %b" % (seed, page.url.encode())) % _PARTS for page in pages]
    for part in range(_PARTS):
        inside = [page for page, own in zip(pages, parts, strict=True) if own != part]
        yield inside, [page for page, own in zip(pages, parts, strict=True) if own == part]
