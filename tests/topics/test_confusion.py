"""How good a model is."""

from __future__ import annotations

from parcahyd.topics.confusion import Confusion, confusion_lines, confusion_of
from parcahyd.topics.linear import train_linear
from tests.topics.small_corpus import corpus


def test_accuracy_counts_what_was_said_of_each_page() -> None:
    pages = corpus(4, first=40)
    wrong = [pages[0]._replace(topic="trains" if pages[0].topic != "trains" else "violins"), *pages[1:]]
    found = confusion_of(train_linear(corpus()), wrong)
    assert found.pages == 12
    assert found.accuracy == 11 / 12


def test_the_table_has_a_row_for_each_true_topic() -> None:
    confusion = Confusion(confusion_of(train_linear(corpus()), corpus(2)).counts)
    head, *rows = confusion_lines(confusion)
    assert head.split() == ["true", "kettles", "trains", "violins", "right"]
    assert rows[1].split() == ["trains", "-", "2", "-", "100.0%"]
