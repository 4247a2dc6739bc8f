"""The command line and a crawl start quickly because they do not import what they do not need."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import msgspec
import pytest

from parcahyd.config import schema
from parcahyd.core import messages, progress, records

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
role, names, unwanted = [argument.split() for argument in sys.argv[1:]]
for name in unwanted:
    sys.modules.pop(name, None)  # An editable installation loads some of them before anything else.
from importlib import import_module
from parcahyd.runtime.lean_imports import import_msgspec, import_pycurl
import_msgspec()
from parcahyd.cli.early_children import SHARED
for name in SHARED:
    import_module(name)
if role == ["worker"]:
    import_pycurl()
for name in names:
    import_module(name)
print(*sorted(set(unwanted) & set(sys.modules)))
"""
"""What a process of a crawl loads until it is told to begin; the reader is a worker that has met its first page."""

PROCESSES = {
    "shared": "parcahyd.core.messages",
    "worker": "parcahyd.processes.crawl_worker parcahyd.pipeline.crawl_worker parcahyd.net.downloader_curl",
    "reader": "parcahyd.pipeline.crawl_worker parcahyd.rules.links parcahyd.rules.similarity",
    "update-database": "parcahyd.processes.update_database parcahyd.storage.store",
    "coordinator": "parcahyd.cli.plain_run parcahyd.cli.exit_codes parcahyd.config.loading parcahyd.processes.coordinator",
}
NEVER = (
    "ast asyncio click concurrent.futures difflib email gettext hashlib importlib.metadata inspect isal json locale logging "
    "pathlib platform pluggy protego random shutil sqlalchemy ssl subprocess tempfile textwrap tokenize tomllib traceback "
    "typing_extensions urllib.parse zlib_ng"
)
"""What no process needs before the first request, unless the user asks for more than is usual."""
NOT_SHARED = "html pcre2 pycurl sqlite3 parcahyd.rules.links parcahyd.storage.store"
"""What only one kind of process needs, so that it is loaded beside the others."""
UNWANTED = {
    "shared": f"{NEVER} {NOT_SHARED}",
    "worker": f"{NEVER} sqlite3 html pcre2 parcahyd.net.curl_faults parcahyd.rules.containers parcahyd.rules.links",
    "reader": f"{NEVER} sqlite3 turbohtml parcahyd.rules.member_url",
    "update-database": f"{NEVER} html pcre2 pycurl",
    "coordinator": f"{NEVER} {NOT_SHARED}",
}


@pytest.mark.parametrize("role", PROCESSES)
def test_the_processes_of_a_crawl_load_nothing_that_the_first_request_does_not_need(role: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, role, PROCESSES[role], UNWANTED[role]], capture_output=True, text=True, check=False
    )
    assert (done.stderr, done.stdout.strip()) == ("", "")


PLAIN = "import sys; from parcahyd.cli import main; print(main(sys.argv[1:]), 'click' in sys.modules)"


def test_a_crawl_in_plain_words_starts_without_click() -> None:
    command = [sys.executable, "-c", PLAIN, "run", "--quiet", "--set", "Work.HostDelay=soon"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr.startswith("parcahyd: --set Work.HostDelay=soon: ")
    assert done.stdout == "2 False\n"


@pytest.mark.parametrize("module", [schema, messages, progress, records], ids=lambda module: module.__name__)
def test_annotations_of_records_that_travel_are_not_left_as_text(module: ModuleType) -> None:
    """As text, msgspec compiles them one by one in every process that reads such records."""
    structs = [made for made in vars(module).values() if isinstance(made, type) and issubclass(made, msgspec.Struct)]
    assert structs
    assert [made for made in structs if str in map(type, made.__annotations__.values())] == []


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
