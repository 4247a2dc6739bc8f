"""Nothing that comes from outside can become code: no pickle, no eval, no shell, no import of a computed name.

Ruff's rules S1 to S6 look for the same and more, but a comment can silence them. This gate cannot be silenced; what it allows
is in `DOORS`, with a reason. What hides a name from it, such as `getattr`, is for a reviewer to see.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "parcahyd").rglob("*.py"))

FORBIDDEN_MODULES = {
    *("pickle", "_pickle", "cPickle", "dill", "cloudpickle", "jsonpickle", "joblib", "marshal", "shelve", "copyreg"),
    *("yaml", "ruamel", "code", "codeop", "imp", "runpy", "zipimport", "pkgutil", "pip", "ensurepip", "ctypes", "pty"),
    *("multiprocessing", "subprocess", "importlib", "xmlrpc"),
}
FORBIDDEN_CALLS = {
    *("eval", "exec", "compile", "__import__", "builtins.eval", "builtins.exec", "builtins.compile", "builtins.__import__"),
    *("os.system", "os.popen", "os.startfile", "os.posix_spawn", "os.posix_spawnp", "os.fork", "os.forkpty"),
    *(f"os.{kind}{how}" for kind in ("exec", "spawn") for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    *("subprocess.getoutput", "subprocess.getstatusoutput", "asyncio.create_subprocess_shell"),
    *("ProcessPoolExecutor", "concurrent.futures.ProcessPoolExecutor"),
    *("sys.path.insert", "sys.path.append", "sys.path.extend", "sys.meta_path.insert", "sys.meta_path.append"),
}
HARMLESS = {"importlib.metadata.version", "importlib.resources", "importlib.resources.abc", "importlib.util.find_spec"}
"""They run no code that was not installed."""

DOORS = {
    ("third_party.py", "importlib"): "the door for plugins: what the user installed, named in a setting, or put into PluginDir",
    ("third_party.py", "importlib.machinery.SourceFileLoader"): "the same",
    ("third_party.py", "importlib.metadata.entry_points"): "the same",
    ("third_party.py", "importlib.util.module_from_spec"): "the same",
    ("third_party.py", "importlib.util.spec_from_loader"): "the same",
    ("cli/application.py", "importlib.import_module"): "a command's file, by a name of the table COMMANDS",
    ("runtime/children.py", "subprocess"): "the processes of a run, by a list of words of its own",
    ("processes/agent_keeper.py", "subprocess"): "the agent of this machine, by a list of words of its own",
    ("processes/ray_driver.py", "subprocess"): "a process without a token that tries Ray, by a list of words of its own",
    ("processes/ray_driver.py", "importlib.import_module"): "Ray, which need not be installed and has no types",
    ("formats/pdf_summary.py", "subprocess"): "the process that reads PDF, by a list of words of its own",
    ("testing/partitioner_checks.py", "subprocess"): "asks a partition strategy once more, by a list of words of its own",
    ("sample/__main__.py", "subprocess"): "the commands of the tour, by lists of words of its own",
    ("authoring/site_folder.py", "multiprocessing.get_context"): "the author's own files, read in several processes",
    ("authoring/site_folder.py", "concurrent.futures.ProcessPoolExecutor"): "the same",
    ("authoring/site_folder.py", "ProcessPoolExecutor"): "the same",
}
SILENCED = {
    ("authoring/jinja_tag.py", "S704"),
    ("formats/pdf_process.py", "S112"),
    ("storage/expressions.py", "S608"),
}
"""Rules of ruff that a comment silences, apart from S101, which is about assertions."""


def dangers(source: str) -> list[str]:
    """The dangerous names that a module imports or calls."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if _is_forbidden(alias.name)]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found += [f"{node.module}.{alias.name}" for alias in node.names if _is_forbidden(f"{node.module}.{alias.name}")]
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in FORBIDDEN_CALLS or called.rpartition(".")[2] == "ProcessPoolExecutor":
                found.append(called)
            found += ["shell=" for keyword in node.keywords if keyword.arg == "shell"]
    return found


def _is_forbidden(name: str) -> bool:
    if any(name == harmless or name.startswith(f"{harmless}.") for harmless in HARMLESS):
        return False
    return name.partition(".")[0] in FORBIDDEN_MODULES or name in FORBIDDEN_CALLS


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.relative_to(ROOT / "parcahyd").as_posix())
def test_a_module_neither_imports_nor_calls_what_makes_code_of_data(module: Path) -> None:
    inside = module.relative_to(ROOT / "parcahyd").as_posix()
    found = dangers(module.read_text(encoding="utf-8"))
    assert [name for name in found if (inside, name) not in DOORS] == []


def test_every_door_is_in_use() -> None:
    for inside, name in DOORS:
        assert name in dangers((ROOT / "parcahyd" / inside).read_text(encoding="utf-8")), (inside, name)


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import pickle as p",
        "from pickle import loads",
        "import marshal, json",
        "import shelve",
        "from multiprocessing import Pool",
        "import multiprocessing.pool",
        "import yaml",
        "eval('1')",
        "exec(body)",
        "compile(body, 'x', 'exec')",
        "__import__(name)",
        "from importlib import import_module",
        "import importlib.util",
        "from importlib.util import spec_from_file_location",
        "import os; os.system(word)",
        "from os import system",
        "import os; os.execvp(a, b)",
        "import subprocess",
        "from subprocess import run",
        "run(word, shell=True)",
        "run(word, shell=maybe)",
        "import asyncio; asyncio.create_subprocess_shell(word)",
        "from concurrent.futures import ProcessPoolExecutor",
        "import concurrent.futures as f; f.ProcessPoolExecutor()",
        "import sys; sys.path.insert(0, folder)",
        "import zipimport",
        "def f():\n    if x:\n        import pickle",
    ],
)
def test_the_gate_finds(source: str) -> None:
    assert dangers(source) != []


@pytest.mark.parametrize(
    "source",
    [
        "import re; re.compile('x')",
        "statement.compile(dialect=dialect)",
        "connection.execute('SELECT 1')",
        "from importlib import resources",
        "from importlib.resources.abc import Traversable",
        "from importlib.util import find_spec",
        "from concurrent.futures import ThreadPoolExecutor",
        "import os; os.open('x', 0)",
    ],
)
def test_the_gate_lets_pass(source: str) -> None:
    assert dangers(source) == []


def test_no_rule_of_security_is_switched_off_unseen() -> None:
    found = {
        (module.relative_to(ROOT / "parcahyd").as_posix(), rule)
        for module in MODULES
        for comment in re.findall(r"# noqa:([A-Z0-9, ]+)", module.read_text(encoding="utf-8"))
        for rule in re.findall(r"\bS\d{3}\b", comment)
    }
    assert {entry for entry in found if entry[1] != "S101"} == SILENCED
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    assert "S" in rules["select"]
    assert {rule for rule in rules["ignore"] if rule.startswith("S")} == {"S311", "S603"}
    of_package = [ignored for path, ignored in rules["per-file-ignores"].items() if path.startswith("parcahyd")]
    assert [rule for ignored in of_package for rule in ignored if rule.startswith("S")] == []
