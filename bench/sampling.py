"""Where a crawl's time goes, by process, thread and function: a sampling profiler beside a whole crawl.

    python bench/sampling.py SITE [--sites FOLDER] [--top 25]

py-spy looks at every thread of every process some hundred times a second, and nothing is changed in them. Threads that wait are
not counted. Native code counts for the line that calls it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.contenders.contender import Peers, Task
from bench.contenders.parcahyd import plain
from bench.nginx import Nginx
from bench.sites import choose_sites

__all__ = ["main", "tally"]

_ROLES = {"CrawlWorkerProcess": "Crawl Worker", "UpdateDatabaseProcess": "Update Database"}
_LINE = re.compile(r":\d+\)")
_WAITS = ("select (selectors", "_worker (concurrent", "wait (threading")

Stacks = dict[str, Counter[str]]


def tally(lines: Iterable[str]) -> Stacks:
    """By process and thread, how often each function was at the top of the stack; `lines` are py-spy's raw output."""
    found: Stacks = defaultdict(Counter)
    for line in lines:
        stack, _, count = line.rstrip().rpartition(" ")
        frames = stack.split(";")
        top = _LINE.sub(")", frames[-1])
        if not top.startswith(("process ", "thread (")) and not any(wait in top for wait in _WAITS):
            found[_whose(frames)][top] += int(count)
    return found


def _whose(frames: Sequence[str]) -> str:
    named = next((frame for frame in reversed(frames) if frame.startswith("thread (")), "")
    thread = named.partition("): ")[2] or "MainThread"
    role = next((role for word, role in _ROLES.items() if any(word in frame for frame in frames)), "")
    if not role:
        role = "Update Database" if thread.startswith(("packer", "database")) else "coordinator"
    return role if thread == "MainThread" else f"{role}, {re.sub('[-_][0-9]+$', '', thread)}"


def tables(stacks: Stacks, most: int) -> Iterator[str]:
    everything = sum(stack.total() for stack in stacks.values())
    for whose, stack in sorted(stacks.items(), key=lambda item: -item[1].total()):
        yield f"{whose}: {100 * stack.total() / everything:.0f} % of all samples\n"
        yield "| share | function |"
        yield "|---|---|"
        for function, count in stack.most_common(most):
            yield f"| {100 * count / stack.total():.1f} % | `{function}` |"
        yield ""


def record(url: str, folder: Path, rate: int) -> Path:
    """Crawls the site under py-spy; returns its raw output."""
    spy = shutil.which("py-spy", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if spy is None:
        sys.exit("py-spy is not installed (pip install py-spy)")
    raw = folder / "samples.raw"
    crawl = folder / "crawl"
    crawl.mkdir()
    contender = plain(Peers(sys.executable, None, False, ()))
    command = contender.command(Task(url, crawl, folder))
    options = ["record", "--subprocesses", "--threads", "--rate", str(rate), "--format", "raw", "--output", str(raw)]
    done = subprocess.run(
        [spy, *options, "--", *command],
        env=os.environ | dict(contender.environment),
        cwd=crawl,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not raw.exists():
        sys.exit(f"py-spy ended with {done.returncode}: {done.stderr[-1000:]}")
    return raw


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Where a crawl's time goes.")
    parser.add_argument(
        "names", nargs="*", metavar="SITE", help="a named site or a folder; without any, the first that is there"
    )
    parser.add_argument("--sites", type=Path, metavar="FOLDER", help="where packages of named sites are unpacked")
    parser.add_argument("--start", default="index.html", help="the page from which a folder's crawl starts")
    parser.add_argument("--top", type=int, default=25, help="functions of each thread")
    parser.add_argument("--rate", type=int, default=250, help="samples per second")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = _arguments(arguments)
    memory = Path("/dev/shm")  # noqa: S108 # folders below it are made by mkdtemp
    with tempfile.TemporaryDirectory(prefix="profile-", dir=memory if memory.is_dir() else None) as scratch:
        folder = Path(scratch)
        site = choose_sites(chosen.names, chosen.sites, folder, fetch=False, start=chosen.start)[0]
        with Nginx(site.root, folder) as nginx:
            raw = record(nginx.url(site.start), folder, chosen.rate)
        print(f"{site.name}\n")
        print("\n".join(tables(tally(raw.read_text(encoding="utf-8").splitlines()), chosen.top)))


if __name__ == "__main__":
    main()
