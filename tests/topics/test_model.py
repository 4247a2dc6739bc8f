"""A trained model: its decisions, and its file."""

from __future__ import annotations

import pytest

from parcahyd.core.errors import UserError
from parcahyd.topics.linear import train_linear
from parcahyd.topics.model import OTHER_LANGUAGE, UNCLASSIFIABLE, TopicModel, check_topic, read_model
from tests.topics.small_corpus import COMMON, OWN, corpus


@pytest.fixture(scope="module")
def model() -> TopicModel:
    return train_linear(corpus(), "en", reads_url=True)


def words(*kinds: list[bytes], times: int = 3) -> list[bytes]:
    return [word for kind in kinds for word in kind] * times


def test_the_order_of_decisions_is_words_then_language_then_topic(model: TopicModel) -> None:
    german = "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als".encode().split()
    assert model.topic_of(words(COMMON, OWN["trains"], times=1)) == UNCLASSIFIABLE
    assert model.topic_of(words(german, OWN["trains"])) == OTHER_LANGUAGE
    assert model.topic_of(words(COMMON, OWN["trains"])) == "trains"
    assert model.labels == ("kettles", "trains", "violins", UNCLASSIFIABLE, OTHER_LANGUAGE)


def test_counts_and_words_give_one_answer(model: TopicModel) -> None:
    for page in corpus(3, first=20):
        listed = [word for word, count in page.words.items() for _ in range(count)]
        assert model.topic_of(listed, page.path) == model.topic_of_counts(page.words, page.path) == page.topic


def test_the_url_decides_where_words_do_not(model: TopicModel) -> None:
    said = {model.topic_of(words(COMMON), f"/{topic}/1.html") for topic in OWN}
    assert said == set(OWN)


def test_a_file_gives_the_same_answers_and_the_same_file(model: TopicModel) -> None:
    again = read_model(model.encode(), "m")
    assert again.head == model.head
    assert again.encode() == model.encode() == train_linear(corpus(), "en", reads_url=True).encode()
    pages = corpus(5, first=30)
    assert [again.topic_of_counts(page.words, page.path) for page in pages] == [page.topic for page in pages]


def test_more_words_than_are_remembered_change_nothing(model: TopicModel) -> None:
    expected = model.topic_of(words(COMMON, OWN["violins"]))
    for start in range(0, 60_000, 200):
        model.topic_of([b"w%d" % number for number in range(start, start + 200)])
    model.topic_of([b"w" * 100_000] * 50)
    assert model.topic_of(words(COMMON, OWN["violins"])) == expected == "violins"
    assert sum(map(len, model._lanes)) < 1_000_000, "what page authors make up does not fill the memory"


def test_very_many_words_do_not_run_over(model: TopicModel) -> None:
    assert model.topic_of(words(COMMON, OWN["kettles"], times=10_000)) == "kettles"
    assert model.topic_of_counts(dict.fromkeys([*COMMON, *OWN["kettles"]], 10**9)) == "kettles"


def test_what_is_no_model_is_one_line(model: TopicModel) -> None:
    content = model.encode()
    for damaged, sentence in (
        (b"", "not a model"),
        (b"something else" * 10, "not a model"),
        (content[:-1], "damaged"),
        (content[:100] + b"?" + content[101:], "damaged"),
        (content[:16] + b"\2" + content[17:], "version 2"),
    ):
        with pytest.raises(UserError, match=sentence):
            read_model(damaged, "m")


def test_some_names_are_no_topics() -> None:
    for name in (UNCLASSIFIABLE, OTHER_LANGUAGE, "", " a", "a\nb", "x" * 61):
        with pytest.raises(UserError, match="cannot be called"):
            check_topic(name)
