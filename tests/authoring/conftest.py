"""A small site on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGES = {
    "index.html": '<!doctype html><meta charset=utf-8><a href="kettle.html">Kettle</a><a href="sub/">Sub</a>',
    "kettle.html": '<!doctype html><meta charset=utf-8><p><span data-vol="price">11.00 EUR</span><a href=index.html>Home</a>',
    "sub/index.html": "<!doctype html><meta charset=utf-8><img src=../a%20b.png>",
    "sub/feed.xml": "<feed><Vol1>12</Vol1></feed>",
    "sub/plain.xml": "<a/>",
    "notes.txt": "data-vol",
    ".hidden/x.html": "<a href=x>",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    for path, text in PAGES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything in the folder, by path."""
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
