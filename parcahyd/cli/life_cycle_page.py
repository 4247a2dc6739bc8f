"""Draws docs/life-of-a-url.md from the tables of `core/states.py`: `python -m parcahyd.cli.life_cycle_page` prints it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from parcahyd.core.states import MOVES, REASONS_OF, SETTINGS_OF, Event, Reason, State

__all__ = ["MEANINGS", "life_cycle_page"]

MEANINGS = {
    State.KNOWN: "seen and in scope; waiting for its turn, or on its way while its site is being visited",
    State.STORED: "its document is in the database, or it is a redirect with its target; asked for again when it is due",
    State.FAILED: "the last request failed; tried again, each time after a longer wait, until MaxTries is reached",
    State.REFUSED: "a rule of ours forbids the request; looked at again when robots.txt expires or the setting changes",
    State.GONE: "the server says that there is no such document, or every try failed; looked at again rarely",
}

_OPENING = """\
# The life of a URL

A URL is in exactly one of five states. What happens to it moves it to another, and a reason says why it is where it is.
`parcahyd explain URL` shows all this for one URL, `parcahyd urls --state STATE` lists the URLs in a state, and
`parcahyd verify` checks that every row of the database obeys the tables below.

This page is drawn from `parcahyd/core/states.py`; `make docs` draws it again.
"""


def life_cycle_page() -> str:
    """The whole page, in Markdown."""
    return "\n".join([_OPENING, *_states(), "", *_drawing(), "", *_moves(), "", *_reasons(), "", *_second_look()]) + "\n"


def _states() -> Iterator[str]:
    yield from ("## States", "")
    yield from _table(("state", "meaning"), ((f"`{state.word}`", MEANINGS[state]) for state in State))


def _drawing() -> Iterator[str]:
    yield from ("## The drawing", "", "```mermaid", "stateDiagram-v2")
    for state, moves in MOVES.items():
        events_to: dict[State, list[str]] = {}
        for event in Event:
            if event in moves:
                events_to.setdefault(moves[event], []).append(_name(event))
        for target, events in events_to.items():
            yield f"    {'[*]' if state is None else state.word} --> {target.word}: {', '.join(events)}"
    yield "```"


def _moves() -> Iterator[str]:
    yield from (
        "## Moves",
        "",
        "The program looks up every change of a state in this table. A dash means that the event cannot happen there. *New* is",
        "a URL that is not in the database: it may be answered before a document names it, because a table of links named it,",
        "or because it is a member of an archive.",
        "",
    )
    rows = (
        (
            f"**{_name(event)}**: {event.value}",
            *(f"`{moves[event].word}`" if event in moves else "-" for moves in MOVES.values()),
        )
        for event in Event
    )
    heading = ("*new*" if state is None else f"from `{state.word}`" for state in MOVES)
    yield from _table(("event", *heading), rows)
    yield from (
        "",
        "A stored URL keeps its document through every later failure: `failed` and `gone` say how the last visit went. So a",
        "`known` URL can be confirmed, too: it was stored, then refused, and got a second look. A stored page is `known` again",
        "when it is to be read again for links that there was no room for.",
    )


def _reasons() -> Iterator[str]:
    yield from ("## Reasons", "", "A reason is one word for programs and one sentence for people.")
    for state in State:
        named = [reason for reason in Reason if reason in REASONS_OF[state]]
        if named:
            optional = " (or no reason)" if None in REASONS_OF[state] else ""
            yield from ("", f"### `{state.word}`{optional}", "")
            yield from _table(("reason", "sentence"), ((f"`{reason.word}`", reason.sentence) for reason in named))
    rest = [reason for reason in Reason if not any(reason in REASONS_OF[state] for state in State)]
    if rest:
        yield from (
            "",
            "### In the history only",
            "",
            "These stand in the record of a request or visit, never beside a state.",
            "",
        )
        yield from _table(("reason", "sentence"), ((f"`{reason.word}`", reason.sentence) for reason in rest))


def _second_look() -> Iterator[str]:
    yield from (
        "## A second look at refused URLs",
        "",
        "A refused URL is looked at again when one of these settings differs from the last run's. One that robots.txt forbids",
        "is looked at again when that robots.txt expires, too.",
        "",
    )
    yield from _table(
        ("reason", "settings"),
        ((f"`{reason.word}`", ", ".join(f"`{name}`" for name in names)) for reason, names in SETTINGS_OF.items()),
    )


def _name(event: Event) -> str:
    return event.name.lower().replace("_", " ")


def _table(heading: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    cells = list(heading)
    yield f"| {' | '.join(cells)} |"
    yield "|" + "---|" * len(cells)
    for row in rows:
        yield f"| {' | '.join(row)} |"


if __name__ == "__main__":
    sys.stdout.write(life_cycle_page())
