"""What all ways of training have in common: labelled pages, which features count, and weights as whole numbers.

Tested in tests/topics/test_linear.py and tests/topics/test_word_statistics.py.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from parcahyd.core.errors import UserError
from parcahyd.topics.features import feature_numbers, url_words
from parcahyd.topics.model import LEAST_WORDS, ModelHead, TopicModel, check_topic

__all__ = ["LabelledPage", "frequent", "has_short_texts", "summed_features", "topics_of", "trainable", "whole_numbers"]

_MOST_FEATURES = 200_000
_LARGEST = 32_767
_SHORT = 50
"""Different words of a page: where pages have fewer on average, pieces of words help."""


class LabelledPage(NamedTuple):
    """A page of which the topic is known."""

    topic: str
    words: Mapping[bytes, int]
    """How often each word stands on it."""
    url: str = ""
    group: str = ""
    """Of pages that belong together, such as those of one site: what the data call it, or empty."""

    @property
    def path(self) -> str:
        """Of its URL: everything behind the host."""
        return "/" + self.url.partition("//")[2].partition("/")[2]


def topics_of(pages: Iterable[LabelledPage]) -> tuple[str, ...]:
    """Ascending. UserError: there are fewer than two, or one cannot have its name."""
    topics = tuple(sorted({page.topic for page in pages}))
    for topic in topics:
        check_topic(topic)
    if len(topics) < 2:
        raise UserError(f"there are pages of {len(topics)} topics", "to train, give pages of two topics at least")
    return topics


def trainable(pages: Iterable[LabelledPage], least: int = LEAST_WORDS) -> list[LabelledPage]:
    """The pages that have enough words to be classified."""
    return [page for page in pages if sum(page.words.values()) >= least]


def has_short_texts(pages: Sequence[LabelledPage]) -> bool:
    """Whether pages have so few words that pieces of words are worth their time."""
    return sum(len(page.words) for page in pages) < _SHORT * len(pages)


def summed_features(words: Iterable[bytes], path: str, *, has_pieces: bool, reads_url: bool) -> Counter[int]:
    """What a model adds up for a page: how many of its different words bring each feature."""
    found: Counter[int] = Counter()
    for word in words:
        found.update(feature_numbers(word, has_pieces))
    if reads_url:
        for word in url_words(path):
            found.update(feature_numbers(word, has_pieces))
    return found


def frequent(pages: Sequence[Mapping[int, int]], least: int) -> list[int]:
    """The features that stand on so many pages at least, ascending; of very many the most frequent ones."""
    counts = Counter(number for page in pages for number in page)
    chosen = [number for number, count in counts.items() if count >= least]
    if len(chosen) > _MOST_FEATURES:
        chosen = sorted(chosen, key=lambda number: (-counts[number], number))[:_MOST_FEATURES]
    return sorted(chosen)


def whole_numbers(
    head: ModelHead, numbers: Sequence[int], weights: Sequence[Sequence[float]], bias: Sequence[float]
) -> TopicModel:
    """A model from weights of features (ascending, for each topic a list in their order): the largest one becomes 32,767."""
    largest = max((abs(weight) for of_topic in weights for weight in of_topic), default=0.0) or 1.0
    scale = _LARGEST / largest
    rows = array("h", [round(weight * scale) for of_feature in zip(*weights, strict=True) for weight in of_feature])
    head = ModelHead(
        **{name: getattr(head, name) for name in head.__struct_fields__ if name != "bias"},
        bias=tuple(round(weight * scale) for weight in bias),
    )
    return TopicModel(head, array("I", numbers), rows)
