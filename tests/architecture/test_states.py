"""No module but `core/life_cycle.py` chooses the state of a URL: what is written comes from its table.

A state is written where a call or a dictionary names `state`: a record, or the values of a statement. There it must come from
`after`, be a parameter of a statement, or be copied from something that has a state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import parcahyd

ROOT = Path(parcahyd.__file__).parent
READS_ONLY = "cli"
"""The command line changes no state: there, `state` is what the user wants to see."""
FROM_TABLE = frozenset({"after", "state_after"})
PARAMETERS = frozenset({"bindparam"})
COPIES = frozenset({"state", "word"})
"""Attributes: a state that something has already, or its word for people."""


def written_states(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "state")
        elif isinstance(node, ast.Dict):
            yield from (
                value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and key.value == "state"
            )
        elif isinstance(node, ast.Assign):
            yield from (node.value for target in node.targets if isinstance(target, ast.Attribute) and target.attr == "state")


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _comes_from_table(value: ast.expr, names: frozenset[str]) -> bool:
    if isinstance(value, ast.Call):
        called = _called(value)
        if called in FROM_TABLE or called in PARAMETERS:
            return True
        return bool(value.args) and all(_comes_from_table(argument, names) for argument in value.args)
    if isinstance(value, ast.IfExp):
        return _comes_from_table(value.body, names) and _comes_from_table(value.orelse, names)
    if isinstance(value, ast.Attribute):
        return value.attr in COPIES
    return isinstance(value, ast.Name) and value.id in names


def _named(tree: ast.Module) -> frozenset[str]:
    """Names that the module gives to states of the table, alone or several in a line."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = [*zip(target.elts, value.elts, strict=False)]
            names |= {name.id for name, given in pairs if isinstance(name, ast.Name) and _comes_from_table(given, frozenset())}
    return frozenset(names)


def chosen(source: str) -> list[str]:
    """The states that a module chooses by itself."""
    tree = ast.parse(source)
    names = _named(tree)
    return [
        f"line {value.lineno}: {ast.unparse(value)}"
        for value in written_states(tree)
        if not _comes_from_table(value, names) and not _is_a_description(value)
    ]


def _is_a_description(value: ast.expr) -> bool:
    """A type or a text, as in a schema of settings or an option of the command line."""
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


@pytest.mark.parametrize(
    "source",
    [
        "BadRecord(state=int(State.FAILED))",
        "BadRecord(state=3)",
        "def bad(state): return BadRecord(state=int(state))",
        "update(urls).values(state=KNOWN)",
        "update(urls).values({'state': REFUSED, 'reason': None})",
        "_KNOWN = int(State.KNOWN)\nrow = {'state': _KNOWN}",
        "row = {'state': after(Event.SEEN) if is_known else _REFUSED}",
        "row.state = State.GONE",
    ],
)
def test_a_state_that_is_chosen_is_found(source: str) -> None:
    assert len(chosen(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "BadRecord(state=int(after(event, State(item.state))))",
        "update(urls).values(state=state_after(Event.SECOND_LOOK, State.REFUSED))",
        "_SEEN, _BAD = int(after(Event.SEEN)), int(after(Event.REFUSAL, None))\nrow = {'state': _SEEN if is_known else _BAD}",
        "insert(urls).values({'state': bindparam('state')})",
        "DueUrl(state=row.state)",
        "ReasonCount(state=State(row.state).word)",
        "url.state == State.STORED",
    ],
)
def test_a_state_of_the_table_is_not(source: str) -> None:
    assert chosen(source) == []


def test_every_state_that_is_written_comes_from_the_table() -> None:
    modules = [path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] != READS_ONLY]
    found = {str(path.relative_to(ROOT)): lines for path in modules if (lines := chosen(path.read_text(encoding="utf-8")))}
    assert found == {}
    assert sum(len([*written_states(ast.parse(path.read_text(encoding="utf-8")))]) for path in modules) >= 3
