"""The linear classifier."""

from __future__ import annotations

import pytest

from parcahyd.core.errors import UserError
from parcahyd.topics.linear import train_linear
from parcahyd.topics.training import LabelledPage, frequent, trainable
from tests.topics.small_corpus import OWN, corpus


def test_it_learns_what_its_pages_have_in_common() -> None:
    told: list[str] = []
    model = train_linear(corpus(), has_pieces=False, told=told.append)
    assert told == [f"{topic}: 12 pages" for topic in sorted(OWN)]
    assert all(model.topic_of_counts(page.words) == page.topic for page in corpus(10, first=50))


def test_pieces_know_forms_of_words_that_were_never_seen() -> None:
    strange = {b"the": 40, b"violinist": 1, b"fiddles": 3, b"stringed": 3, b"varnished": 3, b"concerts": 3, b"tuned": 3}
    assert train_linear(corpus(), has_pieces=True).topic_of_counts(strange) == "violins"


def test_one_topic_is_not_enough() -> None:
    with pytest.raises(UserError, match="pages of 1 topics"):
        train_linear([page for page in corpus() if page.topic == "trains"])


def test_pages_with_few_words_teach_nothing_and_rare_features_are_left_out() -> None:
    short = LabelledPage("trains", {b"rail": 49})
    assert trainable([short, *corpus(1)]) == corpus(1)
    assert frequent([{1: 1, 2: 1}, {2: 5}], 2) == [2]
