"""The sites that are crawled: manuals that Debian packages by name, a generated one, and any folder of HTML files.

A named site is looked for where its package installs it, then below the folder that `--sites` names; `--fetch` downloads the
package and unpacks it there, without installing anything.
"""

from __future__ import annotations

import gzip
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.nginx import HTML_SUFFIXES

__all__ = ["GENERATED", "PACKAGED", "Packaged", "Site", "choose_sites", "compressed", "generate"]

GENERATED = "generated"
_PAGES = 2_000
_FOLDER_PAGES = 50
_LINKS = 60
_PARAGRAPHS = 40
_WORDS = 60
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")


@dataclass(frozen=True)
class Site:
    """A folder of files to serve, and the page from which crawls start."""

    name: str
    root: Path
    start: str = "index.html"


@dataclass(frozen=True)
class Packaged:
    """A manual in a Debian package of its name."""

    package: str
    root: str
    """Where the package puts its document root, from the root of the file system."""

    def found(self, folders: Sequence[Path]) -> Site | None:
        """The site, if one of the folders has it."""
        for folder in folders:
            if (folder / self.root / "index.html").is_file():
                return Site(self.package, (folder / self.root).resolve())
        return None

    def fetch(self, folder: Path) -> None:
        """Downloads the package and unpacks it below the folder."""
        _need("apt-get", "dpkg-deb")
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{self.package}: downloading the package", file=sys.stderr)
        _run(["apt-get", "download", self.package], folder)
        for archive in folder.glob(f"{self.package}_*.deb"):
            _run(["dpkg-deb", "-x", archive.name, "."], folder)


PACKAGED = {
    packaged.package: packaged
    for packaged in (
        Packaged("python3.11-doc", "usr/share/doc/python3.11/html"),
        Packaged("cppreference-doc-en-html", "usr/share/cppreference/doc/html/en"),
        Packaged("openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless/api"),
        Packaged("rust-doc", "usr/share/doc/rust-doc/html"),
        Packaged("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
        Packaged("db5.3-doc", "usr/share/doc/db5.3-doc"),
    )
}


def choose_sites(names: Sequence[str], folder: Path | None, scratch: Path, *, fetch: bool, start: str) -> list[Site]:
    """The sites of the given names or folders; without any, the packaged ones that are there or can be
    fetched, else the generated one."""
    folders = [Path("/"), *([folder] if folder else [])]
    if fetch and not names:
        names = list(PACKAGED)
    if not names:
        found = [site for packaged in PACKAGED.values() if (site := packaged.found(folders)) is not None]
        return found or [_fallen_back(scratch)]
    return [_site(name, folders, scratch, fetch=fetch, start=start) for name in names]


def compressed(site: Site, scratch: Path) -> Site:
    """A copy of the site in which each page has its compressed form beside it: the server sends that to whoever takes it."""
    root = scratch / f"{site.name}-gzip"
    shutil.copytree(site.root, root, dirs_exist_ok=True, ignore_dangling_symlinks=True)
    for page in list(root.rglob("*")):
        if page.suffix in HTML_SUFFIXES and page.is_file():
            page.with_name(f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), 6, mtime=0))
    return replace(site, root=root)


def _site(name: str, folders: Sequence[Path], scratch: Path, *, fetch: bool, start: str) -> Site:
    if name in PACKAGED:
        return _packaged(PACKAGED[name], folders, fetch=fetch)
    if name == GENERATED:
        return _generated(scratch)
    root = Path(name).resolve()
    if not (root / start).is_file():
        known = ", ".join((*PACKAGED, GENERATED))
        sys.exit(f"{name} is neither a named site ({known}) nor a folder with {start} (see --start)")
    return Site(root.name, root, start)


def _packaged(packaged: Packaged, folders: Sequence[Path], *, fetch: bool) -> Site:
    site = packaged.found(folders)
    if site is None and fetch:
        if len(folders) == 1:
            sys.exit("--fetch needs --sites FOLDER, where the packages are unpacked")
        packaged.fetch(folders[-1])
        site = packaged.found(folders)
    if site is None:
        sys.exit(
            f"{packaged.package} is not there: install that Debian package, or unpack it with "
            f"--sites FOLDER --fetch, or name the folder of another site"
        )
    return site


def _fallen_back(scratch: Path) -> Site:
    print(
        f"!!! none of the named sites is there ({', '.join(PACKAGED)}): {_PAGES:,} generated pages take their place. "
        "Real pages show more: install one of these Debian packages, or fetch them with --sites FOLDER --fetch",
        file=sys.stderr,
    )
    return _generated(scratch)


def _generated(scratch: Path) -> Site:
    root = scratch / GENERATED
    generate(root)
    return Site(GENERATED, root)


def _need(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            sys.exit(f"--fetch needs {program}, a program of Debian and its relatives")


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")


def generate(root: Path, pages: int = _PAGES) -> None:
    """Writes the pages below a folder: `index.html` and folders of fifty, each page with links to sixty others."""
    chance = random.Random(pages)
    vocabulary = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(2_000)]
    for number in range(pages):
        file = root / _name(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_page(number, pages, vocabulary, chance), encoding="utf-8")


def _name(number: int) -> str:
    return f"part{number // _FOLDER_PAGES:02}/page{number:04}.html" if number else "index.html"


def _page(number: int, pages: int, vocabulary: list[str], chance: random.Random) -> str:
    up = "../" if number else ""
    # The next page and those at twice the number make every page reachable, most of them in a few steps.
    targets = {(number + 1) % pages, 2 * number % pages, (2 * number + 1) % pages}
    targets |= {chance.randrange(pages) for _ in range(_LINKS - len(targets))}
    links = [f'<a href="{up}{_name(target)}">{chance.choice(vocabulary)}</a>' for target in sorted(targets)]
    paragraphs = [f"<p>{' '.join(chance.choices(vocabulary, k=_WORDS))}.</p>" for _ in range(_PARAGRAPHS)]
    for place, link in enumerate(links):
        paragraphs[place % _PARAGRAPHS] += f" See {link}."
    title = f"Page {number}"
    head = f'<!DOCTYPE html>\n<html lang="la">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
    return f"{head}<body>\n<h1>{title}</h1>\n" + "\n".join(paragraphs) + "\n</body>\n</html>\n"
