"""Imports point one way, boxes never import each other, values and rules act on nothing: the contracts of pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_contracts_hold(capsys: pytest.CaptureFixture[str]) -> None:
    linter = pytest.importorskip("importlinter.cli", reason="import-linter is not installed: pip install '.[lint]'")
    code = linter.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert code == 0, capsys.readouterr().out


def test_the_contracts_name_every_box() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (independence,) = (contract for contract in contracts if contract["type"] == "independence")
    boxes = {
        path.stem
        for path in (ROOT / "parcahyd" / "pipeline").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert {name.rpartition(".")[2] for name in independence["modules"]} == boxes - {"__init__"}
