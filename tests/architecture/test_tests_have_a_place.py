"""A module's test is where one looks for it: at the module's path, or where the module's docstring says.

The test of `parcahyd/x/y.py` is `tests/x/test_y.py`, and that of the package `parcahyd/x` is `tests/x/test_x.py` or
`tests/test_x.py`. A module that is tested elsewhere says so in its docstring: "Tested in tests/end_to_end/test_robots.py and
tests/x/test_z.py." Such a file exists, and names the module or something that the module exports. Tests of whole crawls
(`end_to_end`, `torture`) see the program from outside and name no module.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_TESTED_IN = re.compile(r"\bTested in\s+((?:tests/[\w/]+\.py|,|\s|and)+)\.")

FROM_OUTSIDE = ("end_to_end", "torture")


def modules() -> list[Path]:
    """All that has code of its own, which a package's opening need not have."""
    found = sorted((ROOT / "parcahyd").rglob("*.py"))
    return [path for path in found if path.name != "__init__.py" or _has_code(ast.parse(path.read_text(encoding="utf-8")))]


def _has_code(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in tree.body)


def places(module: Path) -> list[Path]:
    """Where the module's test is looked for, the docstring aside."""
    inside = module.relative_to(ROOT / "parcahyd")
    folder = ROOT / "tests" / inside.parent
    if module.name == "__init__.py":
        return [folder / f"test_{folder.name}.py", folder.parent / f"test_{folder.name}.py"]
    return [folder / f"test_{module.stem.strip('_')}.py"]


def named_in_docstring(module: Path) -> list[Path]:
    said = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return [ROOT / name for sentence in _TESTED_IN.findall(said) for name in re.findall(r"tests/[\w/]+\.py", sentence)]


def names(module: Path) -> set[str]:
    """What a test of the module may be known by: the module's own name and all that it exports."""
    dotted = ".".join(module.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__").removesuffix(".__main__")
    exported: set[str] = set()
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]:
            exported.update(ast.literal_eval(node.value))
    return {dotted, dotted.rpartition(".")[2], *exported}


def mentions(test: Path, known_by: set[str]) -> bool:
    if test.parent.name in FROM_OUTSIDE:
        return True
    words = set(re.findall(r"[\w.]+", test.read_text(encoding="utf-8")))
    words |= {part for word in words for part in word.split(".")}
    return not known_by.isdisjoint(words)


def missing_test(module: Path) -> str:
    """Why one does not find the module's test; empty where one does."""
    named = named_in_docstring(module)
    missing = [str(test.relative_to(ROOT)) for test in named if not test.exists()]
    if missing:
        return f"its docstring names {', '.join(missing)}, which does not exist"
    if not named and not any(test.exists() for test in places(module)):
        return f'there is no {places(module)[0].relative_to(ROOT)}, and its docstring does not say "Tested in tests/...py."'
    silent = [str(test.relative_to(ROOT)) for test in named if not mentions(test, names(module))]
    return f"its docstring names {', '.join(silent)}, which does not name it or anything that it exports" if silent else ""


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.relative_to(ROOT).as_posix())
def test_the_test_of_a_module_is_found(module: Path) -> None:
    assert missing_test(module) == ""
