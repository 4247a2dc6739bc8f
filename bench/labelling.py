"""What the setting Topics costs a crawl: the same pages with and without a model, in turn.

    python bench/labelling.py FOLDER MODEL --rounds 3 --pages 5000

nginx serves the folder of a site, beginning with its index.html. A line for each crawl has the CPU time of all its processes
and the time that passed; the last one how much more labelling takes. Look at the load of the machine.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.nginx import Nginx

__all__ = ["main", "more"]


def more(without: Sequence[float], labelled: Sequence[float]) -> float:
    """How much more the second takes, as a share, by the means of all rounds."""
    return statistics.fmean(labelled) / statistics.fmean(without) - 1


def main(arguments: Sequence[str] | None = None) -> None:
    """All rounds."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=5000, help="how many pages a crawl stores")
    options = parser.parse_args(arguments)
    found: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    with tempfile.TemporaryDirectory(prefix="labelling-") as name, Nginx(options.folder, Path(name)) as nginx:
        for number in range(options.rounds):
            for is_labelled in (False, True) if number % 2 == 0 else (True, False):
                database = Path(name) / f"{number}-{is_labelled}.db"
                topics = [f"Work.Topics={options.model.resolve()}"] if is_labelled else []
                cpu, passed = _crawl(nginx.url("/index.html"), database, [f"Work.MaxPages={options.pages}", *topics])
                found[is_labelled].append((cpu, passed))
                word = "labelled" if is_labelled else "plain"
                print(f"{number + 1}  {word:8}  CPU {cpu:6.2f} s  {passed:6.2f} s  load {os.getloadavg()[0]:.1f}")
    for place, word in enumerate(("CPU time", "time")):
        shares = [[one[place] for one in found[is_labelled]] for is_labelled in (False, True)]
        print(f"{word}: {more(*shares):+.1%}")


def _crawl(url: str, database: Path, settings: Sequence[str]) -> tuple[float, float]:
    fixed = ["Work.HostDelay=0", "Work.HostConnections=16", 'Map.AllowAddresses=["127.0.0.0/8"]']
    options = [part for setting in (*fixed, *settings) for part in ("--set", setting)]
    before, began = _children(), time.monotonic()
    command = [sys.executable, "-m", "parcahyd", "run", url, "--db", str(database), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return _children() - before, time.monotonic() - began


def _children() -> float:
    """CPU seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
