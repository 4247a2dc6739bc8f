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


FOLDER = Path(__file__).parent / "robots_real"


@pytest.mark.parametrize(
    ("host", "path", "line"),
    [
        ("www.dice.com", "/register?CMPID=1", "Allow: /register (line 30)"),
        ("www.dice.com", "/jobs?CMPID=1", "Disallow: *?CMPID* (line 27)"),
        ("gallica.bnf.fr", "/texteBrut?mode=1", "Disallow: /texteBrut (line 11)"),
        ("www.icontact.com", "/img/icons?xver=1", "Disallow: /img/icons (line 9)"),
        ("www.icontact.com", "/x?ver=1", "Allow: /*?*ver=* (line 19)"),
        ("www.myfonts.com", "/search/tag?undock", "Allow: /search/tag (line 40)"),
        ("adventure.howstuffworks.com", "/hsw.php?page", "Disallow: /hsw.php (line 10)"),
    ],
)
def test_of_real_rules_the_longest_as_written_decides(host: str, path: str, line: str) -> None:
    robots = Robots.parse((FOLDER / f"{host}.txt").read_bytes(), "parcahyd/1.0")
    assert robots.line_for(f"https://{host}{path}") == line
    assert robots.allows(f"https://{host}{path}") == line.startswith("Allow")
