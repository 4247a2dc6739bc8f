"""A trained model: which topic a page has, and the file that it is kept in.

Every method of training ends in the same form: a weight of each feature for each topic, and one of each topic for itself. What
a page has of these is added, and the topic with the largest sum is its own. Weights are whole numbers of 16 bits, so sums do
not depend on the machine or on the order of words.

A word's weights for all topics stand in one large integer, 32 bits for each (a lane). Behind them are the languages that it
speaks for and the number of its features. So a word costs one addition. Integers of words that were met are remembered, a
bounded number of them.

A model file is a line that names it, its version, a checksum, a head in msgpack, the numbers of the features in ascending
order, and their weights; little-endian. It holds no words and no code.

Tested in tests/topics/test_model.py.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from math import isqrt
from struct import Struct, calcsize, pack, unpack_from

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.topics.features import feature_numbers, url_words
from parcahyd.topics.language import LANGUAGES, RIVALS, evidence, is_in_language

__all__ = ["LEAST_WORDS", "OTHER_LANGUAGE", "UNCLASSIFIABLE", "ModelHead", "TopicModel", "check_topic", "read_model"]

UNCLASSIFIABLE = "unclassifiable"
"""What a page is called that has too few words."""
OTHER_LANGUAGE = "other-language"
"""What a page is called that is not in the language of the model."""
LEAST_WORDS = 50
"""Words that a page must have to be classified, where nobody says otherwise (X17)."""

_MAGIC = b"parcahyd topics\n"
_VERSION = 1
_DIGEST = 16
_PLACES = "<II"
_LONGEST_TOPIC = 60
_ZERO = 1 << 15
"""What stands for a weight of zero in a lane: each feature adds it to all lanes, so it makes no difference."""
_MOST_FEATURES = 60_000
"""Features that are added up at most: a lane has room for 65,536."""
_FEATURES_OF_WORD = 32
_REMEMBERED = 16 * 1024 * 1024
"""Bytes for words whose integers are remembered, roughly; longer words than these are not."""
_LONGEST_REMEMBERED = 64
_ENTRY = 300
_NO_NUMBER = 1 << 32
"""Greater than the number of any feature."""


class ModelHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model is."""

    method: str
    topics: tuple[str, ...]
    """Ascending."""
    bias: tuple[int, ...]
    """The weight of each topic for itself."""
    bias_grows: bool
    """That weight counts as often as the root of the number of features says: in a long page more than in a short one."""
    language: str
    """The tag of the language that it was trained for; empty: it takes any."""
    counts_repeats: bool
    """A word counts as often as it occurs, not once."""
    has_pieces: bool
    """Pieces of words are features, too."""
    reads_url: bool
    """Words of the URL are features, too: pages with equal bytes may then have different topics."""
    pages: int
    """That it was trained with."""
    least_words: int = LEAST_WORDS
    """A page with fewer has no topic."""


class TopicModel:
    """Says the topic of pages. Used by one thread at a time."""

    def __init__(self, head: ModelHead, numbers: array[int], weights: array[int]) -> None:
        """`numbers` are those of the features, ascending; `weights` has those of each feature for all topics, in its order."""
        self.head = head
        self._topics = head.topics
        self._lanes = _Lanes(numbers, weights, len(head.topics), head.has_pieces)
        self._numbers, self._weights = numbers, weights
        lanes = len(head.topics) + RIVALS + 1
        self._unpack = Struct(f"<{lanes}I").unpack
        self._size = 4 * lanes
        self._most_words = _MOST_FEATURES // (_FEATURES_OF_WORD if head.has_pieces else 1)

    @property
    def arrays(self) -> tuple[array[int], array[int]]:
        """The numbers of the features, and their weights."""
        return self._numbers, self._weights

    @property
    def labels(self) -> tuple[str, ...]:
        """All that it may say."""
        return (*self._topics, UNCLASSIFIABLE, *((OTHER_LANGUAGE,) if self.head.language else ()))

    def topic_of(self, words: Sequence[bytes], path: str = "") -> str:
        """The topic of a page with these words, under this path of its site."""
        if len(words) < self.head.least_words:
            return UNCLASSIFIABLE
        words = words[: self._most_words]
        counted: Collection[bytes] = words if self.head.counts_repeats else set(words)
        return self._decide(sum(map(self._lanes.__getitem__, counted)), len(counted), path)

    def topic_of_counts(self, counts: Mapping[bytes, int], path: str = "") -> str:
        """The same for a page of which it is known how often it has each word."""
        if sum(counts.values()) < self.head.least_words:
            return UNCLASSIFIABLE
        total = words = 0
        for word, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
            times = min(count if self.head.counts_repeats else 1, self._most_words - words)
            if times <= 0:
                break
            total += self._lanes[word] * times
            words += times
        return self._decide(total, words, path)

    def _decide(self, total: int, words: int, path: str) -> str:
        """Language first, then the topic: of equal sums the first one in the order of names."""
        head, topics = self.head, len(self._topics)
        if head.reads_url:  # These speak for no language.
            total += sum(map(self._lanes.__getitem__, url_words(path)))
        lanes = self._unpack(total.to_bytes(self._size, "little"))
        if head.language and not is_in_language(head.language, lanes[topics:-1], words):
            return OTHER_LANGUAGE
        # The root in sixteenths.
        times, shift = (isqrt(256 * lanes[-1]), 4) if head.bias_grows else (1, 0)
        sums = [lane + (times * bias >> shift) for lane, bias in zip(lanes, head.bias, strict=False)]
        return self._topics[sums.index(max(sums))]

    def encode(self) -> bytes:
        """The model file."""
        head = msgspec.msgpack.encode(self.head)
        places = pack(_PLACES, len(head), len(self._numbers))
        content = b"".join((places, head, _little_endian(self._numbers), _little_endian(self._weights)))
        return b"".join((_MAGIC, pack("<I", _VERSION), blake2b(content, digest_size=_DIGEST).digest(), content))


class _Lanes(dict[bytes, int]):
    """By word: its weights, one lane for each topic, what it says of the language, and the number of its
    features."""

    def __init__(self, numbers: array[int], weights: array[int], topics: int, has_pieces: bool) -> None:
        super().__init__()
        self._numbers = array("Q", [*numbers, _NO_NUMBER])
        self._weights, self._topics, self._has_pieces = weights, topics, has_pieces
        self._shift = 32 * (topics + RIVALS)
        self._pack = Struct(f"<{topics + RIVALS + 1}I").pack
        self._most = max(1, _REMEMBERED // (_ENTRY + 4 * (topics + RIVALS + 1)))

    def __missing__(self, word: bytes) -> int:
        if len(self) >= self._most:
            self.clear()
        numbers, topics = self._numbers, self._topics
        features, said = feature_numbers(word, self._has_pieces), evidence(word)
        places = [place for number in features if numbers[place := bisect_left(numbers, number)] == number]
        if places or any(said):
            sums = [0] * topics
            for place in places:
                for topic, weight in enumerate(self._weights[place * topics : (place + 1) * topics]):
                    sums[topic] += weight + _ZERO
            lanes = int.from_bytes(self._pack(*sums, *said, len(features)), "little")
        else:  # Most words that a crawl meets for the first time are names.
            lanes = len(features) << self._shift
        if len(word) <= _LONGEST_REMEMBERED:
            self[word] = lanes
        return lanes


def read_model(content: bytes, name: str) -> TopicModel:
    """The model in the bytes of a file. UserError: it is none, of another version, or damaged."""
    start = len(_MAGIC) + 4 + _DIGEST
    if not content.startswith(_MAGIC) or len(content) < start + calcsize(_PLACES):
        raise UserError(f"{name} is not a model of topics", "parcahyd topic train makes one")
    (version,) = unpack_from("<I", content, len(_MAGIC))
    if version != _VERSION:
        raise UserError(f"{name} is a model of version {version}, and this program reads version {_VERSION}", "train it again")
    if blake2b(memoryview(content)[start:], digest_size=_DIGEST).digest() != content[start - _DIGEST : start]:
        raise UserError(f"{name} is damaged: its checksum is another one", "copy it again, or train it again")
    size, features = unpack_from(_PLACES, content, start)
    start += calcsize(_PLACES)
    try:
        head = msgspec.msgpack.decode(content[start : start + size], type=ModelHead)
    except msgspec.DecodeError as error:
        raise UserError(f"{name} cannot be read: {error}", "train it again") from None
    start += size
    if head.language and head.language not in LANGUAGES:
        raise UserError(f'{name} is for the language "{head.language}"', f"languages are {', '.join(LANGUAGES)}")
    middle, end = start + 4 * features, start + 4 * features + 2 * features * len(head.topics)
    if end != len(content) or len(head.bias) != len(head.topics) or not head.topics:
        raise UserError(f"{name} cannot be read: its parts do not fit together", "train it again")
    return TopicModel(head, _array("I", content[start:middle]), _array("h", content[middle:end]))


def check_topic(topic: str) -> None:
    """UserError: a topic cannot have this name."""
    if topic in {UNCLASSIFIABLE, OTHER_LANGUAGE}:
        raise UserError(f'a topic cannot be called "{topic}"', "this is what pages without a topic are called")
    if not topic.isprintable() or not 0 < len(topic) <= _LONGEST_TOPIC or topic != topic.strip():
        raise UserError(f"a topic cannot be called {topic!r}", f"name it in one to {_LONGEST_TOPIC} characters of one line")


def _array(kind: str, content: bytes) -> array[int]:
    found: array[int] = array(kind, content)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def _little_endian(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers = array(numbers.typecode, numbers)
        numbers.byteswap()
    return numbers.tobytes()
