"""The linear classifier: for each topic a plane that parts its pages from all others with the widest margin.

It is a support vector machine with squared hinge loss, solved in its dual one page at a time (Hsieh et al., ICML 2008).
Before that, each feature is scaled by how much more frequent it is in the topic than elsewhere (Wang and Manning, ACL 2012):
words that say nothing then do not add up. Repeats of a word on a page do not count. The order of pages is that of checksums.

Tested in tests/topics/test_linear.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt
from operator import mul
from zlib import crc32

from parcahyd.topics.model import LEAST_WORDS, ModelHead, TopicModel
from parcahyd.topics.training import LabelledPage, frequent, summed_features, topics_of, whole_numbers

__all__ = ["train_linear"]

_LOSS = 1.0
"""How much an error weighs against a wide margin. This and what follows was chosen by cross-validation on training pages."""
_SMOOTHING = 1.0
_CONSTANT = 0.3
"""The value of what every page has beside its features."""
_LEAST_PAGES, _LEAST_PAGES_WITH_PIECES = 2, 1
_ROUNDS = 30
_CLOSE = 0.05

_Page = tuple[list[int], list[float]]


def train_linear(
    pages: Sequence[LabelledPage],
    language: str = "",
    *,
    least_words: int = LEAST_WORDS,
    has_pieces: bool = True,
    reads_url: bool = False,
    told: Callable[[str], None] = lambda _: None,
) -> TopicModel:
    """A model from labelled pages; `told` gets a line for each topic."""
    topics = topics_of(pages)
    found = [summed_features(page.words, page.path, has_pieces=has_pieces, reads_url=reads_url) for page in pages]
    numbers = frequent(found, _LEAST_PAGES_WITH_PIECES if has_pieces else _LEAST_PAGES)
    places = {number: place for place, number in enumerate(numbers)}
    rows = [_row(page, places) for page in found]
    found.clear()
    weights, bias = [], []
    for topic in topics:
        told(f"{topic}: {sum(page.topic == topic for page in pages):,} pages")
        plane = _plane(rows, [page.topic == topic for page in pages], len(numbers))
        bias.append(plane.pop() * _CONSTANT)
        weights.append(plane)
    head = ModelHead("linear", topics, (), True, language, False, has_pieces, reads_url, len(pages), least_words)
    return whole_numbers(head, numbers, weights, bias)


def _row(page: Mapping[int, int], places: Mapping[int, int]) -> _Page:
    """A page as a vector: divided by the root of how many features it has, known or not, and the constant behind it."""
    length = sqrt(sum(page.values())) or 1.0
    known = [(places[number], count / length) for number, count in page.items() if number in places]
    return [*(place for place, _ in known), len(places)], [*(value for _, value in known), _CONSTANT]


def _plane(rows: Sequence[_Page], is_topic: Sequence[bool], features: int) -> list[float]:
    """The weights of the features and of the constant, for one topic."""
    ratios = _ratios(rows, is_topic, features)
    scaled = [(places, [value * ratios[place] for place, value in zip(places, values, strict=True)]) for places, values in rows]
    size = sqrt(sum(sum(map(mul, values, values)) for _, values in scaled) / len(scaled)) or 1.0
    scaled = [(places, [value / size for value in values]) for places, values in scaled]
    plane = _widest_margin(scaled, [1.0 if it_is else -1.0 for it_is in is_topic], features + 1)
    return [weight * ratio / size for weight, ratio in zip(plane, ratios, strict=True)]


def _ratios(rows: Sequence[_Page], is_topic: Sequence[bool], features: int) -> list[float]:
    """Of each feature: the logarithm of how much more frequent it is in pages of the topic. Of the constant: one."""
    inside, outside = [_SMOOTHING] * features, [_SMOOTHING] * features
    for (places, _), it_is in zip(rows, is_topic, strict=True):
        counts = inside if it_is else outside
        for place in places[:-1]:
            counts[place] += 1.0
    pages = sum(is_topic)
    level = log((pages + 2 * _SMOOTHING) / (len(rows) - pages + 2 * _SMOOTHING))
    return [*(log(here / there) - level for here, there in zip(inside, outside, strict=True)), 1.0]


def _widest_margin(rows: Sequence[_Page], sides: Sequence[float], features: int) -> list[float]:
    plane = [0.0] * features
    steps = [0.0] * len(rows)
    slack = 0.5 / _LOSS
    sizes = [sum(map(mul, values, values)) + slack for _, values in rows]
    weight_at = plane.__getitem__
    order = list(range(len(rows)))
    for turn in range(_ROUNDS):
        order.sort(key=[crc32(b"%d,%d" % (number, turn)) for number in range(len(rows))].__getitem__)
        farthest = 0.0
        for number in order:
            places, values = rows[number]
            before = steps[number]
            slope = sides[number] * sum(map(mul, map(weight_at, places), values)) - 1.0 + slack * before
            if before == 0.0 and slope >= 0.0:
                continue
            after = max(before - slope / sizes[number], 0.0)
            if after == before:
                continue
            farthest = max(farthest, abs(slope))
            steps[number] = after
            step = (after - before) * sides[number]
            for place, value in zip(places, values, strict=True):
                plane[place] += step * value
        if farthest < _CLOSE:
            break
    return plane
