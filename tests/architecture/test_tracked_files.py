"""What is in the repository belongs to everybody: no paths of one machine, no leftovers, no stray binaries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_SLASH = re.escape("/")
MACHINE_PATHS = re.compile(
    rf"(?<![\w.]){_SLASH}(?:root|work|home{_SLASH}\w+|Users{_SLASH}\w+|opt{_SLASH}(?:pypi|wheels)|tmp{_SLASH}venv)(?:{_SLASH}|\b(?!\.))"
)
FORBIDDEN = re.compile(r"\b(?:FIXME|XXX)\b|<<<<<<< |>>>>>>> ")
GIVEN = ("tests/conformance/",)
"""Data that others wrote is as it came."""


def _tracked() -> list[Path]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("needs git and a checkout: tells which files belong to the project")
    # A checkout that another user owns is read all the same.
    command = [git, "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    paths = [ROOT / os.fsdecode(name) for name in listed.split(b"\0") if name]
    return [path for path in paths if path.is_file() and not path.relative_to(ROOT).as_posix().startswith(GIVEN)]


def test_no_text_names_a_path_of_one_machine() -> None:
    found = [f"{path.relative_to(ROOT)}: {match[0]}" for path, text in _texts() for match in MACHINE_PATHS.finditer(text)]
    assert found == []


def test_no_leftovers() -> None:
    own = Path(__file__)
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}" for path, text in _texts() if path != own for match in FORBIDDEN.finditer(text)
    ]
    assert found == []


def test_text_ends_with_one_newline_and_has_no_carriage_return() -> None:
    found = [str(path.relative_to(ROOT)) for path, text in _texts() if text and (not text.endswith("\n") or "\r" in text)]
    assert found == []


def _texts() -> list[tuple[Path, str]]:
    texts = []
    for path in _tracked():
        data = path.read_bytes()
        if b"\0" not in data:
            texts.append((path, data.decode("utf-8")))
    return texts
