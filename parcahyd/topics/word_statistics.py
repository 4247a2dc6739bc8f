"""The three classifiers that the paper compares (X8), each brought into one form: a weight of each word for each topic.

| method | a page's sum for a topic | words count |
|---|---|---|
| bayes | the logarithm of the probability that the topic makes its words (multinomial) | as often as they occur |
| lewis | how much more probable the topic is, given which words occur and which do not (binary) | once |
| rocchio | the cosine between the page and the topic's pages taken together, minus a part of all others, by TF-IDF | as often |

Words that no training page has count for nothing.

Tested in tests/topics/test_word_statistics.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt
from zlib import crc32

from parcahyd.topics.features import url_words
from parcahyd.topics.model import LEAST_WORDS, ModelHead, TopicModel
from parcahyd.topics.training import LabelledPage, frequent, topics_of, whole_numbers

__all__ = ["train_bayes", "train_lewis", "train_rocchio"]

_BAYES_SMOOTHING = 0.1
_LEWIS_SMOOTHING = 0.5
_LEAST_PAGES = 2
_TOWARDS, _AWAY = 16.0, 4.0
"""What Rocchio's method takes of the pages of a topic, and of all others: the usual values."""

_Counts = Mapping[int, int]
_Weights = tuple[list[list[float]], list[float]]


def train_bayes(
    pages: Sequence[LabelledPage], language: str = "", *, least_words: int = LEAST_WORDS, reads_url: bool = False
) -> TopicModel:
    """Naive Bayes."""
    return _train("bayes", _bayes, pages, language, True, reads_url, least_words)


def train_lewis(
    pages: Sequence[LabelledPage], language: str = "", *, least_words: int = LEAST_WORDS, reads_url: bool = False
) -> TopicModel:
    """Lewis' probabilistic classifier."""
    return _train("lewis", _lewis, pages, language, False, reads_url, least_words)


def train_rocchio(
    pages: Sequence[LabelledPage], language: str = "", *, least_words: int = LEAST_WORDS, reads_url: bool = False
) -> TopicModel:
    """Rocchio's relevance feedback with TF-IDF."""
    return _train("rocchio", _rocchio, pages, language, True, reads_url, least_words)


def _train(
    method: str,
    weigh: Callable[[Sequence[_Counts], Sequence[int], int, list[int]], _Weights],
    pages: Sequence[LabelledPage],
    language: str,
    counts_repeats: bool,
    reads_url: bool,
    least_words: int,
) -> TopicModel:
    topics = topics_of(pages)
    found = [_counts(page, reads_url) for page in pages]
    numbers = frequent(found, _LEAST_PAGES)
    weights, bias = weigh(found, [topics.index(page.topic) for page in pages], len(topics), numbers)
    head = ModelHead(method, topics, (), False, language, counts_repeats, False, reads_url, len(pages), least_words)
    return whole_numbers(head, numbers, weights, bias)


def _counts(page: LabelledPage, reads_url: bool) -> Counter[int]:
    counts: Counter[int] = Counter()
    for word, count in page.words.items():
        counts[crc32(word)] += count
    if reads_url:
        counts.update(map(crc32, url_words(page.path)))
    return counts


def _bayes(pages: Sequence[_Counts], labels: Sequence[int], topics: int, numbers: list[int]) -> _Weights:
    totals: list[Counter[int]] = [Counter() for _ in range(topics)]
    for page, label in zip(pages, labels, strict=True):
        totals[label].update(page)
    weights = []
    for total in totals:
        level = log(sum(total[number] for number in numbers) + _BAYES_SMOOTHING * len(numbers))
        weights.append([log(total[number] + _BAYES_SMOOTHING) - level for number in numbers])
    return _centred(weights), [log(labels.count(topic) / len(labels)) for topic in range(topics)]


def _centred(weights: list[list[float]]) -> list[list[float]]:
    """Less the mean of all topics, which decides nothing: so small differences keep their digits as whole numbers."""
    means = [sum(of_word) / len(of_word) for of_word in zip(*weights, strict=True)]
    return [[weight - mean for weight, mean in zip(of_topic, means, strict=True)] for of_topic in weights]


def _lewis(pages: Sequence[_Counts], labels: Sequence[int], topics: int, numbers: list[int]) -> _Weights:
    """The product of P(w|topic) / P(w) over words that occur, and of their complements over those that do not."""
    having: list[Counter[int]] = [Counter() for _ in range(topics)]
    for page, label in zip(pages, labels, strict=True):
        having[label].update(page.keys())
    everywhere: Counter[int] = Counter()
    for counts in having:
        everywhere.update(counts)
    all_shares = [_share(everywhere[number], len(pages)) for number in numbers]
    weights, bias = [], []
    for topic, counts in enumerate(having):
        own = labels.count(topic)
        shares = [_share(counts[number], own) for number in numbers]
        absent = [log((1 - share) / (1 - of_all)) for share, of_all in zip(shares, all_shares, strict=True)]
        present = [log(share / of_all) for share, of_all in zip(shares, all_shares, strict=True)]
        weights.append([here - away for here, away in zip(present, absent, strict=True)])
        bias.append(log(own / len(labels)) + sum(absent))
    return weights, bias


def _share(count: int, pages: int) -> float:
    return (count + _LEWIS_SMOOTHING) / (pages + 2 * _LEWIS_SMOOTHING)


def _rocchio(pages: Sequence[_Counts], labels: Sequence[int], topics: int, numbers: list[int]) -> _Weights:
    having = Counter(number for page in pages for number in page)
    rarity = {number: log(len(pages) / having[number]) for number in numbers}
    sums: list[dict[int, float]] = [{} for _ in range(topics)]
    for page, label in zip(pages, labels, strict=True):
        vector = {number: count * rarity[number] for number, count in page.items() if number in rarity}
        length = sqrt(sum(value * value for value in vector.values())) or 1.0
        of_topic = sums[label]
        for number, value in vector.items():
            of_topic[number] = of_topic.get(number, 0.0) + value / length
    everything = {number: sum(of_topic.get(number, 0.0) for of_topic in sums) for number in numbers}
    weights = []
    for topic, of_topic in enumerate(sums):
        own = labels.count(topic)
        others = max(len(labels) - own, 1)
        prototype = []
        for number in numbers:
            inside = of_topic.get(number, 0.0)
            prototype.append(max(0.0, _TOWARDS * inside / own - _AWAY * (everything[number] - inside) / others))
        length = sqrt(sum(value * value for value in prototype)) or 1.0
        weights.append([value / length * rarity[number] for value, number in zip(prototype, numbers, strict=True)])
    return weights, [0.0] * topics
