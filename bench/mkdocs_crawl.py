"""A site that MkDocs builds, with and without the plug-in, crawled with and without tables: requests in the server's log.

    python bench/mkdocs_crawl.py [--delay 0] [--connections 8] [--report docs/augmented.md]

The pages are this project's README and `docs/`. Three builds: without the plug-in, with it at the root of a host (robots.txt
speaks for it), and with it below `/manual/`, where pages name their declaration. Needed: nginx, `pip install mkdocs`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.nginx import Answer, Nginx, pages_of
from bench.report_page import table, write_section
from bench.synthetic_run import output_folder

__all__ = ["main"]

_ROOT = Path(__file__).resolve().parents[1]
_BUILDS = {"without the plug-in": ("", False), "with it, at the root": ("", True), "with it, below a path": ("manual/", True)}
"""By name: where the site is on its host, and whether the plug-in runs."""
_EAGER = ("never", "auto", "always")


class _Crawled(NamedTuple):
    build: str
    eager: str
    seconds: float
    answers: list[Answer]


def _copy_pages(folder: Path) -> None:
    """The pages as they are now: all builds are of the same."""
    shutil.copytree(_ROOT / "docs", folder)
    (folder / "index.md").write_text((_ROOT / "README.md").read_text().replace("](docs/", "]("))


def _build(pages: Path, folder: Path, url: str, site: Path, *, plugin: bool) -> None:
    """MkDocs as an author runs it."""
    plugins = "[augment]" if plugin else "[]"
    text = f"site_name: Manual\nsite_url: {url}\ndocs_dir: {pages}\nsite_dir: {site}\nplugins: {plugins}\n"
    (folder / "mkdocs.yml").write_text(text)
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(folder / "mkdocs.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"mkdocs build ended with {done.returncode}: {done.stderr[-2000:]}")


def _crawl(url: str, conf: Path, settings: list[str]) -> float:
    conf.mkdir()
    for file in ("MapConf.toml", "WorkConf.toml"):
        (conf / file).touch()
    sets = [word for setting in ('Map.AllowAddresses=["127.0.0.0/8"]', *settings) for word in ("--set", setting)]
    command = [sys.executable, "-m", "parcahyd", "run", "--conf", str(conf), "--seed", url, *sets]
    began = time.monotonic()
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=conf, env=os.environ | {"PYTHONPATH": str(_ROOT)}
    )
    if done.returncode:
        sys.exit(f"a crawl ended with {done.returncode}: {done.stderr[-2000:]}")
    return time.monotonic() - began


def _play(pages: Path, settings: list[str]) -> Iterator[_Crawled]:
    for build, (path, plugin) in _BUILDS.items():
        with tempfile.TemporaryDirectory(prefix="mkdocs-", dir=output_folder(None)) as scratch:
            folder = Path(scratch)
            (folder / "root").mkdir()
            (folder / "nginx").mkdir()
            with Nginx(folder / "root", folder / "nginx") as nginx:
                _build(pages, folder, nginx.url(path), folder / "root" / path, plugin=plugin)
                for eager in _EAGER:
                    mark = nginx.mark()
                    seconds = _crawl(nginx.url(path), folder / f"conf-{eager}", [f'Work.Eager="{eager}"', *settings])
                    yield _Crawled(build, eager, seconds, nginx.since(mark))


def _row(crawled: _Crawled) -> tuple[str, ...]:
    kinds = Counter(_kind(answer.path) for answer in crawled.answers)
    missing = [answer.path for answer in crawled.answers if answer.status == 404]
    return (
        crawled.build,
        crawled.eager,
        f"{crawled.seconds:.1f}",
        str(len(pages_of(crawled.answers))),
        str(len(crawled.answers)),
        ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items())),
        str(len(missing)),
    )


def _kind(path: str) -> str:
    name = path.rpartition("/")[2]
    if name.endswith(".TVI"):
        return "table of what changes"
    if name.endswith(".TOL"):
        return "bundle" if name == "site.TOL" else "table of links"
    return {"robots.txt": "robots.txt", "augment.txt": "declaration"}.get(name, "page or file")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--delay", type=float, help="HostDelay; unset: the default")
    parser.add_argument("--connections", type=int, help="HostConnections; unset: the default")
    parser.add_argument("--report", type=Path, metavar="PAGE", help="write the section `mkdocs` of a page")
    chosen = parser.parse_args()
    given = {"Work.HostDelay": chosen.delay, "Work.HostConnections": chosen.connections}
    cases: list[tuple[str, list[str]]] = [("as asked", [f"{key}={value}" for key, value in given.items() if value is not None])]
    if not cases[0][1]:
        cases = [("default settings", []), ("no delay, 8 connections", ["Work.HostDelay=0", "Work.HostConnections=8"])]
    heading = ("MkDocs", "Eager", "seconds", "pages", "requests", "of them", "not found")
    lines = ["## A site built by MkDocs", "", "    python bench/mkdocs_crawl.py"]
    with tempfile.TemporaryDirectory(prefix="mkdocs-", dir=output_folder(None)) as scratch:
        pages = Path(scratch) / "docs"
        _copy_pages(pages)
        for name, settings in cases:
            lines += ["", f"{name[0].upper()}{name[1:]}:", "", *table(heading, map(_row, _play(pages, settings)))]
    if chosen.report:
        write_section(chosen.report, "mkdocs", "\n".join(lines), "What augmented hypertext wins and costs")
    else:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
