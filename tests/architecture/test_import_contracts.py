"""Imports point one way, boxes never import each other, values and rules act on nothing: the contracts of pyproject.toml."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_contracts_hold() -> None:
    if find_spec("importlinter") is None:
        pytest.skip("import-linter is not installed: pip install '.[lint]'")
    # In a process of its own: it looks through what is loaded, and some of what other tests load does not like that.
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_contracts_name_every_box() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (independence,) = (contract for contract in contracts if contract["type"] == "independence")
    boxes = {
        path.stem
        for path in (ROOT / "parcahyd" / "pipeline").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert {name.rpartition(".")[2] for name in independence["modules"]} == boxes - {"__init__"}
