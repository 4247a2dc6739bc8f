"""The paper's three classifiers."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import pytest

from parcahyd.topics.model import TopicModel
from parcahyd.topics.training import LabelledPage
from parcahyd.topics.word_statistics import train_bayes, train_lewis, train_rocchio
from tests.topics.small_corpus import corpus


@pytest.mark.parametrize("train", [train_bayes, train_lewis, train_rocchio])
def test_each_learns_what_its_pages_have_in_common(train: Callable[..., TopicModel]) -> None:
    model = train(corpus(), "en")
    right = [model.topic_of_counts(page.words) == page.topic for page in corpus(10, first=50)]
    assert all(right)


def test_bayes_weighs_words_by_their_probability() -> None:
    pages = [LabelledPage("a", {b"x": 3, b"y": 1}), LabelledPage("b", {b"x": 1, b"y": 3})]
    model = train_bayes(pages)
    assert model.topic_of_counts({b"x": 30, b"y": 25}) == "a"
    assert model.topic_of_counts({b"x": 25, b"y": 30}) == "b"
    # Weights are centred: the distance of the two topics is that of their logarithms.
    share = [(3 + 0.1) / 4.2, (1 + 0.1) / 4.2]
    first, second = model._weights[0], model._weights[1]
    assert (first - second) * (log(share[0]) - log(share[1])) > 0
    assert model.head.bias[0] == model.head.bias[1]


def test_lewis_takes_absence_for_evidence() -> None:
    both = {b"x": 30, b"y": 30}
    pages = [LabelledPage("a", both)] * 5 + [LabelledPage("b", {b"x": 60})] * 5
    model = train_lewis(pages)
    assert model.topic_of_counts(both) == "a"
    assert model.topic_of_counts({b"x": 60}) == "b"
    assert train_rocchio(pages).topic_of_counts(both) == "a"
