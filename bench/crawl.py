"""Crawls sites with PARCAHYD and other crawlers in turn, and reports speed, coverage, CPU time and memory.

    python bench/crawl.py [SITE...] [--rounds 5] [--report docs/performance.md]

nginx serves each site on a free loopback port. Contenders take turns within each round, each starts with an empty output
folder, and pages are counted from the server's log and compared with a walk over the files. See bench/README.md.
"""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.arguments import Arguments, parse
from bench.contenders.contender import Contender, Peers
from bench.contenders.roster import choose_contenders
from bench.coverage import Reachable, walk
from bench.machine import describe_machine, file_system, is_in_memory
from bench.measuring import adopt_orphans
from bench.nginx import Nginx
from bench.plot import bars_of, draw
from bench.report import markdown
from bench.report_page import write_section
from bench.results import RawLog, Results, SiteResults
from bench.rounds import Ground, Tally, play
from bench.sites import Site, choose_sites, compressed

__all__ = ["main", "run"]


def run(arguments: Arguments) -> Results:
    """The whole benchmark."""
    machine = list(describe_machine())
    no_disk = _no_disk(arguments)
    peers = Peers(
        arguments.scrapy,
        arguments.peers_folder,
        arguments.fetch,
        arguments.settings,
        arguments.before,
        arguments.python,
        arguments.other_python,
    )
    contenders, left_out = choose_contenders(arguments.contenders, peers)
    if not contenders:
        sys.exit("no contender is there")
    adopt_orphans()
    with RawLog(arguments.raw) as raw_log, tempfile.TemporaryDirectory(prefix="bench-", dir=arguments.outputs) as scratch:
        folder = Path(scratch)
        sites = choose_sites(arguments.sites, arguments.sites_folder, folder, fetch=arguments.fetch, start=arguments.start)
        found = [_crawl_site(site, contenders, arguments, folder, raw_log, on_disk=not no_disk) for site in sites]
    return Results(
        command=arguments.command,
        machine=machine,
        contenders=contenders,
        left_out=left_out,
        rounds=arguments.rounds,
        repeats=arguments.repeats,
        memory_file_system=file_system(arguments.outputs),
        disk_file_system=file_system(arguments.disk),
        no_disk=no_disk,
        verified=raw_log.verified,
        sites=found,
    )


def _no_disk(arguments: Arguments) -> str:
    """Why there are no rounds on a disk, if so; what matters is said at once."""
    if not is_in_memory(arguments.outputs):
        _warn(
            f"outputs are on {file_system(arguments.outputs)}, no memory file system: the disk is measured too (see --output)"
        )
    if not arguments.disk_rounds:
        return "not asked for"
    if is_in_memory(arguments.disk):
        reason = f"the folder for it is on {file_system(arguments.disk)}, a memory file system too"
        _warn(f"no rounds with outputs on a disk: {reason} (name another with --disk)")
        return reason
    return ""


def _crawl_site(
    site: Site, contenders: Sequence[Contender], arguments: Arguments, scratch: Path, raw_log: RawLog, *, on_disk: bool
) -> SiteResults:
    """All rounds on one site, in memory and then on a disk."""
    print(f"{site.name}: walking over the files", file=sys.stderr)
    reachable = walk(site.root, site.start)
    _warm(site.root)
    present, not_crawled = _fit(contenders, len(reachable.pages), arguments.slow_pages)
    served = compressed(site, scratch) if arguments.gzip else site
    with _served(served, reachable, arguments, scratch) as ground:
        memory = play(present, ground, arguments.rounds, arguments.repeats, raw_log.add)
        disk = Tally({}, {})
        if on_disk:
            disk = _on_disk(present, memory, ground, arguments, raw_log)
    page_bytes = sum((site.root / path.lstrip("/")).stat().st_size for path in reachable.pages)
    failures = {**disk.failures, **memory.failures}
    return SiteResults(site.name, len(reachable.pages), page_bytes, memory.outcomes, disk.outcomes, {**not_crawled, **failures})


def _fit(contenders: Sequence[Contender], pages: int, slow_pages: int) -> tuple[list[Contender], Mapping[str, str]]:
    """Who crawls a site of that size, and why the others do not."""
    reason = f"too slow for more than {slow_pages:,} pages"
    left = {one.name: reason for one in contenders if one.slow and pages > slow_pages}
    return [one for one in contenders if one.name not in left], left


@contextmanager
def _served(site: Site, reachable: Reachable, arguments: Arguments, scratch: Path) -> Iterator[Ground]:
    with tempfile.TemporaryDirectory(prefix="nginx-", dir=scratch) as folder, Nginx(site.root, Path(folder)) as nginx:
        known = Path(folder) / "known"
        linked = sorted(reachable.pages | reachable.files)
        known.write_text("".join(f"{nginx.url(quote(path))}\n" for path in linked), encoding="utf-8")
        yield Ground(site.name, site.start, nginx, reachable.pages, known, scratch, on_disk=False, timeout=arguments.timeout)


def _on_disk(present: Sequence[Contender], memory: Tally, ground: Ground, arguments: Arguments, raw_log: RawLog) -> Tally:
    """Rounds for those that write something and are not slow."""
    writing = {name for name, runs in memory.outcomes.items() if any(run.output_bytes for run in runs)}
    contenders = [one for one in present if one.name in writing and not one.slow]
    with tempfile.TemporaryDirectory(prefix="bench-", dir=arguments.disk) as folder:
        on_disk = replace(ground, outputs=Path(folder), on_disk=True)
        return play(contenders, on_disk, arguments.disk_rounds, arguments.repeats, raw_log.add)


def _warm(root: Path) -> None:
    """Every file into the page cache, so that the first contender does not pay for the disk."""
    for file in root.rglob("*"):
        if file.is_file():
            file.read_bytes()


def _warn(text: str) -> None:
    print(f"!!! {text}", file=sys.stderr)


def _write(results: Results, page: Path) -> None:
    """The report's section into a page, and the plot beside it."""
    plot = page.with_name(f"{page.stem}-crawl.svg")
    write_section(page, "crawl", markdown(results, plot.name), "Performance")
    panels = [(f"{site.name}: {site.pages:,} pages", bars_of(site)) for site in results.sites]
    plot.write_text(draw(panels), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = parse(arguments)
    # An exception ends server and contender too, and removes the outputs.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    results = run(chosen)
    print(markdown(results, plot=None))
    if chosen.report is not None:
        _write(results, chosen.report)


if __name__ == "__main__":
    main()
