"""What tables cost the author of a site: CPU time of `parcahyd augment build`, bytes on disk, and what one changed page brings.

    python bench/author_build.py [SITE...] [--jobs 1] [--report docs/augmented.md]

Works on copies. SITE is a name of `bench/crawl.py` or a folder of HTML files. Files are listed with their contents before and
after each build, so that what was rewritten is seen from outside.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.report_page import table, write_section
from bench.sites import Site, choose_sites
from bench.synthetic_run import output_folder

__all__ = ["main"]

_ROOT = Path(__file__).resolve().parents[1]
_DEFAULT = ("python3.11-doc", "cppreference-doc-en-html")
_BASE = "https://www.example.org/"
_PAGES = (".html", ".htm", ".xhtml", ".xht")


class _Bytes(NamedTuple):
    """Of several files."""

    files: int
    raw: int
    packed: int
    """Each by itself, as a server packs them (gzip level 6)."""


def _bytes(files: Iterable[Path]) -> _Bytes:
    contents = [file.read_bytes() for file in files]
    return _Bytes(len(contents), sum(map(len, contents)), sum(len(gzip.compress(content, 6, mtime=0)) for content in contents))


class _Built(NamedTuple):
    """What was measured on one site."""

    name: str
    seconds: float
    again: float
    """A second build, with nothing to do."""
    pages: _Bytes
    tables: _Bytes
    bundle: _Bytes
    check: str
    rewritten: list[str]
    rewriting: float


def _augment(command: str, folder: Path, jobs: int) -> tuple[int, float, str]:
    """Exit code, seconds of CPU, and what was said."""
    began = _cpu_seconds()
    arguments = [sys.executable, "-m", "parcahyd", "augment", command, str(folder), "--base-url", _BASE, "--jobs", str(jobs)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=_ROOT)
    return done.returncode, _cpu_seconds() - began, (done.stdout + done.stderr).strip()


def _cpu_seconds() -> float:
    """What ended children used: a busy machine lengthens the time of a build, not its work."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Time and contents of every file, so that one that was written anew with the same bytes is seen, too."""
    return {
        str(file.relative_to(folder)): (file.stat().st_mtime_ns, hashlib.sha256(file.read_bytes()).digest())
        for file in folder.rglob("*")
        if file.is_file()
    }


def _build(folder: Path, jobs: int) -> float:
    code, seconds, said = _augment("build", folder, jobs)
    if code:
        sys.exit(f"augment build ended with {code}: {said[-2000:]}")
    return seconds


def _measure(site: Site, scratch: Path, jobs: int) -> _Built:
    folder = scratch / "copy"
    shutil.copytree(site.root, folder, ignore_dangling_symlinks=True)
    seconds, again = _build(folder, jobs), _build(folder, jobs)
    code, _, said = _augment("check", folder, jobs)
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    tables = [file for file in files if file.suffix in (".TOL", ".TVI") and file.name != "site.TOL"]
    pages = [file for file in files if file.suffix.lower() in _PAGES]
    page = pages[len(pages) // 2]
    page.write_bytes(page.read_bytes() + b'<a href="one-more.html">one more</a>\n')
    before = _state(folder)
    rewriting = _build(folder, jobs)
    after = _state(folder)
    rewritten = sorted(path for path in after if before.get(path) != after[path])
    return _Built(
        site.name,
        seconds,
        again,
        _bytes(pages),
        _bytes(tables),
        _bytes([folder / "site.TOL"]),
        "clean" if not code else said.splitlines()[0],
        rewritten,
        rewriting,
    )


def _lines(found: list[_Built]) -> Iterator[str]:
    def share(part: int, whole: int) -> str:
        return f"{part / 1e6:.2f} MB ({100 * part / whole:.1f} %)"

    heading = (
        "site",
        "pages",
        "pages/s of CPU",
        "again",
        "tables",
        "tables, gzip",
        "bundle",
        "bundle, gzip",
        "`check`",
        "one page changed",
    )
    rows = []
    for built in found:
        pages, tables, bundle = built.pages, built.tables, built.bundle
        rows.append(
            (
                built.name,
                f"{pages.files:,} ({pages.raw / 1e6:.1f} MB, gzip {pages.packed / 1e6:.1f} MB)",
                f"{pages.files / built.seconds:,.0f}",
                f"{built.again:.1f} s",
                share(tables.raw, pages.raw),
                share(tables.packed, pages.packed),
                share(bundle.raw, pages.raw),
                share(bundle.packed, pages.packed),
                built.check,
                f"{built.rewriting:.1f} s: {', '.join(f'`{path}`' for path in built.rewritten)}",
            )
        )
    yield from table(heading, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("sites", nargs="*", default=_DEFAULT, metavar="SITE")
    parser.add_argument("--sites-folder", type=Path, metavar="FOLDER", help="where packages are unpacked, besides /")
    parser.add_argument("--start", default="index.html", help="a page that a folder must have")
    parser.add_argument("--jobs", type=int, default=1, help="processes of `augment build`")
    parser.add_argument("--report", type=Path, metavar="PAGE", help="write the section `build` of a page")
    chosen = parser.parse_args()
    found = []
    for name in chosen.sites:
        with tempfile.TemporaryDirectory(prefix="author-", dir=output_folder(None)) as scratch:
            site = choose_sites([name], chosen.sites_folder, Path(scratch), fetch=False, start=chosen.start)[0]
            found.append(_measure(site, Path(scratch), chosen.jobs))
    text = "\n".join(
        [
            "## What tables cost the author",
            "",
            f"    python bench/author_build.py --jobs {chosen.jobs}",
            "",
            *_lines(found),
            "",
            "Shares are of the pages, raw of raw and gzip of gzip; times are CPU time of the whole command.",
        ]
    )
    if chosen.report:
        write_section(chosen.report, "build", text, "What augmented hypertext wins and costs")
    else:
        print(text)


if __name__ == "__main__":
    main()
