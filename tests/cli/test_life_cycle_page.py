from __future__ import annotations

from pathlib import Path

from parcahyd.cli.life_cycle_page import MEANINGS, life_cycle_page
from parcahyd.core.states import MOVES, REASONS_OF, Reason, State

PAGE = Path(__file__).parents[2] / "docs" / "life-of-a-url.md"


def test_the_page_is_the_rendering() -> None:
    assert PAGE.read_text(encoding="utf-8") == life_cycle_page(), "run: make docs"


def test_every_state_has_a_meaning_and_every_reason_its_sentence_where_it_belongs() -> None:
    assert set(MEANINGS) == set(State)
    page = life_cycle_page()
    for reason in Reason:
        tables = sum(reason in reasons for reasons in REASONS_OF.values()) or 1  # Reasons of pauses have a table of their own.
        assert page.count(reason.sentence) == tables, reason


def test_every_move_is_drawn() -> None:
    page = life_cycle_page()
    for state, targets in MOVES.items():
        for target in set(targets.values()):
            before = "[*]" if state is None else state.word
            assert page.count(f"    {before} --> {target.word}: ") == 1
