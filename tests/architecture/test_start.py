"""The command line and a crawl start quickly because they do not import what they do not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("sqlalchemy", "rich", "pycurl", "turbohtml", "requests", "dns", "asyncio", "multiprocessing")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], ["urls", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys; from parcahyd.cli import main; code = main(sys.argv[1:]); "
        f"print(*sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")
    assert "parcahyd" in done.stdout


CHILD = """
import sys
from importlib import import_module
from parcahyd.cli import early_children
for name in (*early_children._SHARED, *sys.argv[1:]):
    import_module(name)
print(*sorted({"asyncio", "ssl", "subprocess", "concurrent.futures"} & set(sys.modules)))
"""
WORKER = ("parcahyd.processes.crawl_worker", "parcahyd.pipeline.crawl_worker", "parcahyd.net.downloader_curl")
UPDATE_DATABASE = ("parcahyd.processes.update_database", "parcahyd.storage.packing", "parcahyd.storage.store")
COORDINATOR = ("parcahyd.cli.run", "parcahyd.processes.coordinator")


@pytest.mark.parametrize(
    ("modules", "loaded"),
    [(WORKER, ""), (UPDATE_DATABASE, "concurrent.futures"), (COORDINATOR, "concurrent.futures")],
    ids=["worker", "update-database", "coordinator"],
)
def test_the_processes_of_a_crawl_do_without_asyncio(modules: tuple[str, ...], loaded: str) -> None:
    done = subprocess.run([sys.executable, "-c", CHILD, *modules], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout.strip()) == ("", loaded)


CRAWL = """
import sys
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.life_cycle import Reason, State
from parcahyd.core.records import BadRecord, ExternRecord, PageRecord, VisitOver
from parcahyd.rules.canonical_url import key_of
from parcahyd.storage.packing import pack
from parcahyd.storage.store import Store

def crawl(now):
    with Store.open(sys.argv[1]) as store:
        store.claim()
        store.begin_run(Configuration(MapConf(), WorkConf(RevisitAfter=1.0)), now)
        store.add_seeds(["http://a.example/", "http://b.example/"], now)
        (first, second), _ = store.lease(2, now, now, 10, 10)
        store.assign({first.visit: "192.0.2.1"})
        seen = {"internal": ("/x",), "external": ("http://c.example/",)}
        page = PageRecord(first.visit, first.site, key_of("/"), "/", 0, 0, True, now, 200, "192.0.2.1", b"", **seen)
        store.store_extern([ExternRecord(first.visit, 1, page.external)], now)
        store.store_documents([pack(page, 1, True)], now)
        gone = (int(State.GONE), Reason.MISSING.word, now, 1)
        bad = BadRecord(first.visit, first.site, key_of("/y"), "/y", 1, 0, False, now, *gone)
        store.store_bad([bad], now)
        store.release([VisitOver(first.visit, first.site, now, now)], now)
        store.abandon([second.visit], now)
        store.end_run("done", {}, now)
        store.waiting()

crawl(1.0)
crawl(1000.0)
print(*(name for name in sys.modules if name.startswith("sqlalchemy")))
"""


def test_a_crawl_does_not_import_sqlalchemy(database: str) -> None:
    """On a new database, and on one of an earlier run with the same settings."""
    done = subprocess.run([sys.executable, "-c", CRAWL, database], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout) == ("", "\n")
