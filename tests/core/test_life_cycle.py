"""The life of a URL: every state can be left, every reason has its word, sentence and place."""

from __future__ import annotations

import pytest

from parcahyd.core.life_cycle import MOVES, REASONS_OF, SETTINGS_OF, Event, Reason, State, move


@pytest.mark.parametrize("state", State)
def test_every_answer_is_foreseen_in_every_state(state: State) -> None:
    for event in set(Event) - {Event.UNCHANGED, Event.SECOND_LOOK}:
        assert move(state, event) in State


def test_what_was_never_stored_cannot_be_confirmed() -> None:
    with pytest.raises(KeyError):
        move(State.KNOWN, Event.UNCHANGED)


def test_every_state_but_known_can_be_reached() -> None:
    reached = {target for moves in MOVES.values() for target in moves.values()}
    assert reached == set(State)


def test_words_are_unique_and_sentences_are_sentences() -> None:
    assert len({reason.word for reason in Reason}) == len(Reason)
    assert all(reason.sentence.endswith(".") for reason in Reason)
    assert all(Reason.of(reason.word) is reason for reason in Reason)


def test_every_refusal_names_the_settings_that_would_change_it() -> None:
    # What was too long is not stored as a whole: it comes again with the page that it stands in.
    assert set(SETTINGS_OF) == REASONS_OF[State.REFUSED] - {Reason.LENGTH}


def test_settings_exist() -> None:
    from parcahyd.config.schema import MapConf, WorkConf

    names = {f"Map.{key}" for key in MapConf.__struct_fields__} | {f"Work.{key}" for key in WorkConf.__struct_fields__}
    assert {setting for settings in SETTINGS_OF.values() for setting in settings} <= names
