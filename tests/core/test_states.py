"""The life of a URL: every state can be left, every reason has its word, sentence and place."""

from __future__ import annotations

import pytest

from parcahyd.core.states import MOVES, REASONS_OF, SETTINGS_OF, Event, Reason, State, after


@pytest.mark.parametrize("state", [None, *State])
def test_every_answer_is_foreseen_in_every_state(state: State | None) -> None:
    for event in set(Event) - {Event.SEEN, Event.UNCHANGED, Event.SECOND_LOOK, Event.MORE_ROOM}:
        assert after(event, state) in State


def test_a_url_is_new_once_and_cannot_be_confirmed_before_it_is_stored() -> None:
    for event, state in ((Event.UNCHANGED, None), (Event.SECOND_LOOK, None), *((Event.SEEN, state) for state in State)):
        with pytest.raises(ValueError, match=event.name):
            after(event, state)


def test_an_event_leads_from_all_states_that_are_named_to_one() -> None:
    assert after(Event.SEEN) is after(Event.SEEN, None) is State.KNOWN
    assert after(Event.DOCUMENT) is after(Event.DOCUMENT, None, *State) is State.STORED
    assert after(Event.UNCHANGED) is after(Event.UNCHANGED, *State) is State.STORED
    assert after(Event.REFUSAL, State.KNOWN, State.FAILED) is State.REFUSED
    assert after(Event.SECOND_LOOK, State.KNOWN, State.REFUSED) is after(Event.SECOND_LOOK) is State.KNOWN
    with pytest.raises(ValueError, match="refused, stored"):
        after(Event.SECOND_LOOK, State.REFUSED, State.STORED)


def test_an_event_that_leads_to_different_states_cannot_be_one_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MOVES, State.GONE, {**MOVES[State.GONE], Event.FAILURE: State.GONE})
    assert after(Event.FAILURE, State.GONE) is State.GONE
    assert after(Event.FAILURE, State.KNOWN) is State.FAILED
    with pytest.raises(ValueError, match="FAILURE"):
        after(Event.FAILURE)


def test_every_state_can_be_reached_and_left() -> None:
    reached = {target for moves in MOVES.values() for target in moves.values()}
    assert reached == set(State)
    assert all(set(MOVES[state].values()) - {state} for state in State)


def test_words_are_unique_and_sentences_are_sentences() -> None:
    assert len({reason.word for reason in Reason}) == len(Reason)
    assert all(reason.sentence.endswith(".") for reason in Reason)
    assert all(Reason.of(reason.word) is reason for reason in Reason)


def test_every_refusal_names_the_settings_that_would_change_it() -> None:
    # What was too long is not stored as a whole: it comes again with the page that it stands in.
    # Which links lead to local documents and to odd ports is no setting: the user gives a seed.
    assert set(SETTINGS_OF) == REASONS_OF[State.REFUSED] - {Reason.LENGTH, Reason.LOCAL, Reason.PORT}


def test_settings_exist() -> None:
    from parcahyd.config.schema import MapConf, WorkConf

    names = {f"Map.{key}" for key in MapConf.__struct_fields__} | {f"Work.{key}" for key in WorkConf.__struct_fields__}
    assert {setting for settings in SETTINGS_OF.values() for setting in settings} <= names
