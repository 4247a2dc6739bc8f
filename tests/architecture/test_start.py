"""Help answers quickly because it imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import msgspec
import pytest

from parcahyd.config import schema
from parcahyd.core import messages, progress, records

HEAVY = ("sqlalchemy", "rich", "pycurl", "turbohtml", "requests", "dns", "multiprocessing")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys; from parcahyd.cli import main; code = main(sys.argv[1:]); "
        f"print(*sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")
    assert "parcahyd" in done.stdout


@pytest.mark.parametrize("module", [schema, messages, progress, records], ids=lambda module: module.__name__)
def test_annotations_of_records_that_travel_are_not_left_as_text(module: ModuleType) -> None:
    """As text, msgspec compiles them one by one in every process that reads such records."""
    structs = [made for made in vars(module).values() if isinstance(made, type) and issubclass(made, msgspec.Struct)]
    assert structs
    assert [made for made in structs if str in map(type, made.__annotations__.values())] == []
