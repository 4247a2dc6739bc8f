"""Pages crawled in one version and refreshed in the next by `parcahyd run`: requests and bytes of the server's log."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.marking import mark_both
from bench.report_page import table
from bench.wire import Compressing, Logged
from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.build import build

__all__ = ["refresh_by_crawl"]

_ROOT = Path(__file__).resolve().parents[1]
_LIST = "all-pages.html"
_OLD, _NEW = 1_700_000_000, 1_700_100_000
"""When the files of either version were written."""


def _address(path: str) -> str:
    """As the pages themselves link to each other."""
    return path.removesuffix("index.html") if path.endswith("/index.html") else path


def _write(folder: Path, pages: dict[str, bytes], written_at: int, *, with_tables: bool) -> None:
    """A version of the site, with a page that links to all others; then its tables, as `augment build` writes them."""
    links = "".join(f'<a href="/{_address(path)}">{path}</a>\n' for path in sorted(pages))
    for path, page in {**pages, _LIST: f"<!doctype html><title>All pages</title>{links}".encode()}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(page)
    if with_tables:
        build(make_plan(folder, "http://localhost/"))
    for file in folder.rglob("*"):
        if file.is_file():
            os.utime(file, (written_at, written_at))


def _run(conf: Path, command: str, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "parcahyd", command, "--conf", str(conf), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(_ROOT)},
    )
    if done.returncode:
        sys.exit(f"parcahyd {command} ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")


def _shown(conf: Path, url: str) -> bytes:
    command = [sys.executable, "-m", "parcahyd", "show", "--conf", str(conf), url]
    return subprocess.run(command, capture_output=True, check=True, env=os.environ | {"PYTHONPATH": str(_ROOT)}).stdout


def _crawled(
    old: dict[str, bytes], new: dict[str, bytes], level: int, *, with_tables: bool
) -> tuple[list[Logged], list[Logged]]:
    """The requests of the first crawl and of the refresh. What is stored in the end must be the new version."""
    with tempfile.TemporaryDirectory(prefix="versions-") as scratch:
        folder, conf = Path(scratch), Path(scratch) / "conf"
        site = folder / "site"
        _write(site, old, _OLD, with_tables=with_tables)
        conf.mkdir()
        (conf / "MapConf.toml").write_text('AllowAddresses = ["127.0.0.0/8"]\n')
        (conf / "WorkConf.toml").write_text("HostDelay = 0\nHostConnections = 8\nWaitForRetries = 0\n")
        with Compressing(site, folder / "nginx", level, is_logging=True) as nginx:
            origin = f"http://127.0.0.1:{nginx.port}"
            _run(conf, "run", "--seed", f"{origin}/{_LIST}")
            first = nginx.logged()
            _write(site, new, _NEW, with_tables=with_tables)
            _run(conf, "run", "--set", "Work.RevisitAfter=0")
            again = nginx.logged(len(first))
        _run(conf, "verify")
        for path in sorted(new)[:: max(1, len(new) // 20)]:
            if _shown(conf, f"{origin}/{_address(path)}") != new[path]:
                sys.exit(f"{path} is not stored as it is now")
    return first, again


def refresh_by_crawl(old: dict[str, bytes], new: dict[str, bytes], level: int) -> Iterator[str]:
    """A table of what the refresh costs with and without tables of variable information."""
    both = {path: mark_both(page, new[path]) for path, page in old.items()}
    marked = {path: page for path, (page, _) in both.items()}, {path: page for path, (_, page) in both.items()}
    rows, whole = [], 0
    for name, versions, with_tables in (
        ("conditional GET", (old, new), False),
        ("tables of variable information", marked, True),
    ):
        first, again = _crawled(*versions, level, with_tables=with_tables)
        size = sum(one.request_bytes + one.answer_bytes for one in again)
        whole = whole or size
        kinds = Counter((_kind(one.path), one.status) for one in again)
        rows.append(
            (
                name,
                str(len(first)),
                f"{sum(one.request_bytes + one.answer_bytes for one in first):,}",
                str(len(again)),
                ", ".join(f"{number} x {kind} {status}" for (kind, status), number in sorted(kinds.items())),
                f"{size:,}",
                f"{100 * size / whole:.1f}",
            )
        )
    heading = ("refresh by", "first crawl, requests", "bytes", "refresh, requests", "of them", "bytes", "%")
    yield from table(heading, rows)
    yield ""
    yield "Bytes are those of requests and answers, with headers, in nginx's log. `parcahyd verify` found nothing wrong; what"
    yield "`parcahyd show` gave of every 18th page was the new version, byte for byte."


def _kind(path: str) -> str:
    return next((kind for kind in (".TVI", ".TOL") if path.endswith(kind)), "page")
