"""Which links are followed first."""

from __future__ import annotations

from parcahyd.topics.focus import Focus, Turn


def test_links_of_other_topics_come_later_or_never() -> None:
    for other, turn in (("later", Turn.LATER), ("never", Turn.NEVER)):
        focus = Focus(("trains",), other)
        assert focus.turn_of("trains", False) is Turn.IN_ORDER
        assert focus.turn_of("violins", False) is turn
        assert focus.turn_of("unclassifiable", False) is turn


def test_seeds_and_documents_without_a_topic_are_not_judged() -> None:
    focus = Focus(("trains",), "never")
    assert focus.turn_of("violins", True) is Turn.IN_ORDER
    assert focus.turn_of("", False) is Turn.IN_ORDER
    assert Focus((), "never").turn_of("violins", False) is Turn.IN_ORDER
