"""Real robots.txt files: every one is read, whatever is in it, and gives an answer that can be explained."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from parcahyd.rules.robots.robots_file import Robots

ARCHIVE = Path(__file__).parents[3] / "shared" / "data" / "robots" / "real-robots-a-m.tar.xz"


def real_files() -> list[tuple[str, bytes]]:
    if not ARCHIVE.exists():
        pytest.skip(f"needs real files that are not part of the project: {ARCHIVE.name} in ../shared/data/robots")
    with tarfile.open(ARCHIVE) as archive:
        return [(member.name, file.read()) for member in archive if member.isfile() and (file := archive.extractfile(member))]


def test_every_real_file_is_read() -> None:
    files = real_files()
    assert len(files) > 2000
    sites_with_rules = 0
    for name, text in files:
        robots = Robots.parse(text, "parcahyd/1.0 (+https://example.com/)")
        assert robots.allows("https://example.com/robots.txt"), name
        url = "https://example.com/search/x?q=1"
        if not robots.allows(url):
            sites_with_rules += 1
            assert robots.line_for(url).startswith("Disallow: "), name
    assert 100 < sites_with_rules < len(files)
