"""Modules are loaded one in each turn of a loop."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from parcahyd.runtime.idle_imports import IdleImports
from parcahyd.runtime.lean_loop import LeanLoop

NAMES = ("idle_one", "idle_two", "idle_three")


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in NAMES:
        (tmp_path / f"{name}.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in NAMES:
        sys.modules.pop(name, None)


@pytest.fixture
def loop() -> Iterator[LeanLoop]:
    made = LeanLoop()
    yield made
    made.close()


def _loaded_after_a_turn(loop: LeanLoop) -> list[str]:
    loop.call_soon(loop.stop)
    loop.run_forever()
    return [name for name in NAMES if name in sys.modules]


@pytest.mark.usefixtures("modules")
def test_one_module_is_loaded_in_each_turn(loop: LeanLoop) -> None:
    imports = IdleImports(loop, NAMES)
    assert _loaded_after_a_turn(loop) == []
    imports.begin()
    imports.begin()
    assert [_loaded_after_a_turn(loop) for _ in range(4)] == [
        ["idle_one"],
        ["idle_one", "idle_two"],
        [*NAMES],
        [*NAMES],
    ]
    imports.begin()
    assert _loaded_after_a_turn(loop) == [*NAMES]
