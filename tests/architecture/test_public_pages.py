"""The public pages, `parcahyd` and `parcahyd.plugins` (with `parcahyd.testing` for tests of plugins), and what uses them.

A name that is added or removed here changes what users may rely on: say so in CHANGELOG.md.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import parcahyd
import parcahyd.plugins
import parcahyd.testing
from parcahyd.hookspecs import HookSpecs
from parcahyd.sample.server import SampleServer

ROOT = Path(__file__).parents[2]

PAGES: dict[ModuleType, str] = {
    parcahyd: """
        __version__ load_configuration crawl open_reports
        Configuration HostRule MapConf WorkConf
        Observer Progress RunSummary
        ParcahydError UserError ConfigurationError CrawlBusy DatabaseUnusable PluginError RunFailure
    """,
    parcahyd.plugins: """
        hookimpl MapConf WorkConf
        Resolver Resolution ResolutionFailure Reason AnswerCache
        Downloader DownloadRequest DownloadResult DownloadFailure RequestOptions GENERAL ThreadedDownloader
        ACCEPT_ENCODING codings_of
        Order
        Partitioner Routing Seen Neighbours Undecided JudgedPage Observation Observed
        ClusterView ClusterNode Plan SiteMove ByHash MAX_SHARED
        Recognizer Summarizer Summary decode one_line Joiner
        MAX_HEADINGS MAX_KEYWORDS MAX_LANGUAGE MAX_LINKS MAX_NAME MAX_TEXT MAX_TITLE MAX_WORD
        Expander Member Skipped
        UserError
    """,
    parcahyd.testing: """
        check_resolver check_downloader check_partitioner check_recognizer check_summarizer check_expander
        FakeClock FakeResolver FakeDownloader
    """,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.__name__)
def test_a_page_has_exactly_these_names(page: ModuleType) -> None:
    assert sorted(page.__all__) == sorted(PAGES[page].split())


@pytest.mark.parametrize("name", parcahyd.plugins.__all__)
def test_the_page_for_authors_explains_every_name(name: str) -> None:
    explained = parcahyd.plugins.__doc__ or ""
    assert f"`{name}`" in explained or name in ("GENERAL", "RequestOptions") or name.startswith("MAX_")


def test_every_kind_of_plugin_has_its_port_on_the_page() -> None:
    hooks = [name for name in vars(HookSpecs) if name[0] != "_" and not name.endswith("_schemes")]  # These are downloaders.
    kinds = [name.removeprefix("parcahyd_").removesuffix("s").capitalize() for name in hooks]
    assert kinds
    assert set(kinds) <= set(parcahyd.plugins.__all__)


def _imports(code: str) -> set[tuple[str, str]]:
    """The modules of this package that the code imports, each with the name that is taken from it."""
    found: set[tuple[str, str]] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            found |= {(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
    return {one for one in found if one[0].partition(".")[0] == "parcahyd"}


def _samples() -> dict[str, str]:
    files = {
        str(path.relative_to(ROOT)): path.read_text() for name in ("plugins", "examples") for path in (ROOT / name).glob("*.py")
    }
    pages = dict(re.findall(r"```python\n# (\S+)\n(.*?)```", (ROOT / "docs" / "plugins.md").read_text(), re.DOTALL))
    return files | {f"docs/plugins.md, {name}": code for name, code in pages.items()}


@pytest.mark.parametrize("sample", _samples())
def test_samples_import_public_names_only(sample: str) -> None:
    public = {page.__name__: {*page.__all__, ""} for page in PAGES}
    private = {(module, name) for module, name in _imports(_samples()[sample]) if name not in public.get(module, ())}
    assert private == set()


def test_the_pages_of_plugins_name_no_private_module() -> None:
    for page in ("docs/plugins.md", "plugins/README.md"):
        named = set(re.findall(r"\bparcahyd(?:\.[a-z_]+)+", (ROOT / page).read_text()))
        assert named <= {page.__name__ for page in PAGES}, page


def test_importing_the_package_is_light() -> None:
    heavy = ("asyncio", "click", "dns", "pluggy", "pycurl", "requests", "sqlalchemy", "turbohtml", "parcahyd.topology")
    program = f"import sys, parcahyd; print(*(name for name in {heavy!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


PROGRAM = """
import json, sys, time
import parcahyd

class Watching:
    summary = None
    def progress(self, snapshot):
        pass
    def finished(self, summary):
        self.summary = summary

if __name__ == "__main__":
    seed, folder = sys.argv[1:]
    settings = ['Map.AllowAddresses=["127.0.0.0/8"]', "Work.HostDelay=0", f"Work.DbUrl=sqlite:///{folder}/crawl.db"]
    configuration = parcahyd.load_configuration(None, settings)
    watching = Watching()
    code = parcahyd.crawl(configuration, [seed], observer=watching)
    with parcahyd.open_reports(configuration) as reports:
        states = reports.status(time.time()).states
        urls = [url.url for url in reports.urls(state="stored")]
        body = reports.document(seed).body.decode()
    print(json.dumps([code, watching.summary.outcome, states["stored"], urls, body]))
"""


def test_a_program_crawls_and_reads_what_was_stored(tmp_path: Path) -> None:
    with SampleServer() as site:
        command = [sys.executable, "-c", PROGRAM, site.url, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    code, outcome, stored, urls, body = json.loads(done.stdout)
    assert (code, outcome) == (0, "done")
    assert stored == len(urls) > 5
    assert site.url in urls
    assert "<html" in body


def test_a_program_without_an_observer_is_told_of_user_errors(tmp_path: Path) -> None:
    configuration = parcahyd.load_configuration(None, [f"Work.DbUrl=sqlite:///{tmp_path}/crawl.db"])
    with pytest.raises(parcahyd.DatabaseUnusable):
        parcahyd.open_reports(configuration)
