"""How much there is to read: files, lines, names, repetitions, and how many files one URL passes through.

    python bench/reading.py [CHECKOUT...]

Without a checkout, this one. The trace crawls a site of two pages and counts the functions and files of the package that its
processes call, from the start of the command to its end; the code of modules and classes is not counted.
"""

from __future__ import annotations

import argparse
import ast
import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` and `tests` are found when this file is run by its name

from bench.report_page import table
from tests.support.site_server import SiteServer
from tests.support.sites import html

__all__ = ["Sizes", "code_lines", "figures_of", "main", "repeated_pairs", "sizes_of", "trace"]

_ROOT = Path(__file__).resolve().parents[1]
_HOOK = Path(__file__).resolve().parent / "tracing"
_RUN = 6
"""From so many equal lines on, two places repeat each other."""
_SMALL = 40
_TIMEOUT = 120.0


@dataclass(frozen=True)
class Sizes:
    """The Python files below a folder."""

    files: int
    lines: int
    median: float
    largest: int
    largest_name: str
    small: int
    """Files with fewer than 40 lines."""


def sizes_of(folder: Path) -> Sizes:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sorted(folder.rglob("*.py"))}
    largest = max(lines, key=lambda path: lines[path])
    small = sum(1 for count in lines.values() if count < _SMALL)
    name = str(largest.relative_to(folder))
    return Sizes(len(lines), sum(lines.values()), statistics.median(lines.values()), lines[largest], name, small)


def glossary_names(page: Path) -> int:
    """The nouns that the glossary defines: rows whose first cell is bold."""
    return sum(line.startswith("| **") for line in page.read_text(encoding="utf-8").splitlines()) if page.exists() else 0


def contracts(project: Path) -> int:
    """The contracts of import-linter."""
    tools = tomllib.loads(project.read_text(encoding="utf-8")).get("tool", {})
    return len(tools.get("importlinter", {}).get("contracts", []))


def code_lines(source: str) -> list[str]:
    """The lines of a module without indentation, blank lines, comments, imports, docstrings and the list of exports."""
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        exports = isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "__all__" for to in node.targets)
        if text or exports or isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))  # type: ignore[attr-defined] # a statement
    lines = [line.strip() for number, line in enumerate(source.splitlines(), 1) if number not in left_out]
    return [line for line in lines if line and not line.startswith("#")]


def repeated_pairs(modules: Iterable[Sequence[str]], run: int = _RUN) -> int:
    """How many pairs of places have `run` or more equal lines one after the other; a longer run is one pair."""
    places: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for module, lines in enumerate(modules):
        for start in range(len(lines) - run + 1):
            places[tuple(lines[start : start + run])].append((module, start))
    pairs = {pair for found in places.values() for pair in combinations(found, 2)}
    # A pair whose places both have an equal line before them is the rest of a longer run.
    return sum(1 for (a, i), (b, j) in pairs if ((a, i - 1), (b, j - 1)) not in pairs)


def repetitions(*folders: Path) -> int:
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return repeated_pairs([code_lines(path.read_text(encoding="utf-8")) for path in files])


def trace(checkout: Path, python: str = sys.executable) -> set[tuple[str, str]]:
    """The functions of the package that a crawl of two pages calls in all of its processes, each with its file."""
    with SiteServer() as sites, tempfile.TemporaryDirectory(prefix="trace-") as scratch:
        listener = sites.listen()
        sites.site().pages.update({"/": html('<title>one</title><a href="/two">two</a>'), "/two": html("<title>two</title>")})
        folder = Path(scratch)
        calls = folder / "calls"
        for name in ("MapConf.toml", "WorkConf.toml"):
            (folder / name).touch()
        package = checkout.resolve() / "parcahyd"
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(_HOOK), str(checkout.resolve())]),
            "TRACED_PACKAGE": f"{package}{os.sep}",
            "TRACED_CALLS": str(calls),
        }
        settings = ("Work.HostDelay=0", 'Map.AllowAddresses=["127.0.0.0/8"]', "Work.MaxInstances=1")
        sets = [word for setting in settings for word in ("--set", setting)]
        command = [python, "-m", "parcahyd", "run", "--conf", str(folder), "--seed", listener.url("/"), *sets]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_TIMEOUT
        )
        asked = set(sites.targets())
        if done.returncode or asked != {"/", "/two"}:
            sys.exit(f"the traced crawl ended with {done.returncode} after {asked}: {(done.stdout + done.stderr)[-2000:]}")
        found = [line.split("\t") for line in calls.read_text(encoding="utf-8").splitlines()]
    # Comprehensions and lambdas are parts of other functions; their names end with `>`.
    return {(file.removeprefix(f"{package}{os.sep}"), name) for file, _, name in found if not name.endswith(">")}


def figures_of(checkout: Path, python: str = sys.executable) -> Iterator[tuple[str, str]]:
    """Each figure with its name."""
    package, tests = checkout / "parcahyd", checkout / "tests"
    for name, folder in (("package", package), ("tests", tests)):
        sizes = sizes_of(folder)
        yield f"{name}: files", f"{sizes.files:,}"
        yield f"{name}: files with fewer than {_SMALL} lines", f"{sizes.small:,}"
        yield f"{name}: lines", f"{sizes.lines:,}"
        yield f"{name}: median file", f"{sizes.median:.0f} lines"
        yield f"{name}: largest file", f"{sizes.largest:,} lines ({sizes.largest_name})"
    yield "names in the glossary", str(glossary_names(checkout / "docs" / "glossary.md"))
    yield "import-linter contracts", str(contracts(checkout / "pyproject.toml"))
    yield f"package: pairs of places with {_RUN} and more equal lines", str(repetitions(package))
    yield f"tests: pairs of places with {_RUN} and more equal lines", str(repetitions(tests))
    called = trace(checkout, python)
    yield "to follow a URL: functions called", f"{len(called):,}"
    yield "to follow a URL: files they are in", f"{len({file for file, _ in called}):,}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkouts", nargs="*", type=Path, metavar="CHECKOUT", help="one column for each (default: this one)")
    parser.add_argument("--python", default=sys.executable, metavar="PYTHON", help="the interpreter for the traced crawl")
    chosen = parser.parse_args(arguments)
    checkouts = chosen.checkouts or [_ROOT]
    columns = [dict(figures_of(checkout, chosen.python)) for checkout in checkouts]
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    print("\n".join(table(("", *(checkout.resolve().name for checkout in checkouts)), rows)))


if __name__ == "__main__":
    main()
