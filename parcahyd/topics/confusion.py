"""How good a model is: its accuracy, and which topics it takes for which.

Tested in tests/topics/test_confusion.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from parcahyd.topics.model import TopicModel
from parcahyd.topics.training import LabelledPage

__all__ = ["Confusion", "confusion_lines", "confusion_of"]


class Confusion(NamedTuple):
    """What a model said of labelled pages."""

    counts: Counter[tuple[str, str]]
    """By the true topic and the one that the model said."""

    @property
    def pages(self) -> int:
        return self.counts.total()

    @property
    def accuracy(self) -> float:
        """The share of pages of which the model said the true topic."""
        right = sum(count for (true, said), count in self.counts.items() if true == said)
        return right / self.pages if self.pages else 0.0

    def recall(self, topic: str) -> float:
        """The same of the pages of one topic."""
        own = sum(count for (true, _), count in self.counts.items() if true == topic)
        return self.counts[topic, topic] / own if own else 0.0


def confusion_of(model: TopicModel, pages: Iterable[LabelledPage]) -> Confusion:
    """Asks the model about each page."""
    return Confusion(Counter((page.topic, model.topic_of_counts(page.words, page.path)) for page in pages))


def confusion_lines(confusion: Confusion) -> Iterator[str]:
    """A table: a row for each true topic, a column for each that the model said."""
    rows = sorted({true for true, _ in confusion.counts})
    columns = sorted({said for _, said in confusion.counts} | set(rows))
    width = max(8, *(len(row) for row in rows))
    widths = [max(5, len(column)) for column in columns]
    head = "  ".join(column.rjust(wide) for column, wide in zip(columns, widths, strict=True))
    yield f"{'true':{width}}  {head}  right"
    for row in rows:
        cells = (confusion.counts[row, column] for column in columns)
        shown = "  ".join(f"{cell or '-':>{wide}}" for cell, wide in zip(cells, widths, strict=True))
        yield f"{row:{width}}  {shown}  {confusion.recall(row):5.1%}"
