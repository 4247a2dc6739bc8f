"""The examples in plugins/ load with the shipped configuration and conform."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.partitions import Neighbours, Routing, Seen
from parcahyd.core.ports import Downloader
from parcahyd.document_tools import DocumentTools
from parcahyd.plugin_manager import PluginManager
from parcahyd.testing import check_downloader, check_partitioner, check_resolver, check_summarizer

ROOT = Path(__file__).parents[2]


def _plugins(resolver: str = "dnspython", downloader: str = "curl") -> PluginManager:
    map_conf, work_conf = MapConf(DnsResolverClass=resolver), WorkConf(DownloaderClass=downloader)
    return PluginManager.load(Configuration(map_conf, work_conf, str(ROOT / "conf")))


def test_all_are_found_from_the_shipped_configuration() -> None:
    found = {report.name: report.found for report in _plugins().listing()}
    assert found["wildcard-table"] == f"file {ROOT / 'plugins' / 'example_resolver.py'}"
    assert found["plain-http"] == f"file {ROOT / 'plugins' / 'example_downloader.py'}"
    assert found["own-partitions"] == f"file {ROOT / 'plugins' / 'example_partitioner.py'}"
    assert found["markdown"] == f"file {ROOT / 'plugins' / 'example_summarizer.py'}"


def test_the_resolver_conforms() -> None:
    known = {
        "staging.test": ["127.0.0.1", "::1"],
        "shop.staging.test": ["127.0.0.1"],
        "a.b.staging.test": ["127.0.0.1"],
        "shop.eu.staging.test": ["127.0.0.2"],
    }
    check_resolver(_plugins(resolver="wildcard-table").resolver(), known, "elsewhere.test")


def test_the_downloader_conforms() -> None:
    def make(conf: WorkConf, loop: asyncio.AbstractEventLoop) -> Downloader:
        configuration = Configuration(MapConf(), _with_downloader(conf), str(ROOT / "conf"))
        return PluginManager.load(configuration).downloader(loop)

    check_downloader(make)


_MARKDOWN = b"""# A *kettle*

Read [more](more.md) or [elsewhere](https://other.test/).

## Steam
"""


def test_the_summarizer_conforms() -> None:
    summarizers = DocumentTools(_plugins(), WorkConf(Summaries="full"), print).summarizers
    summary = summarizers.summarize(_MARKDOWN, "text/markdown", "utf-8", "http://a.test/docs/index.md")
    assert summary is not None
    assert (summary.title, summary.headings) == ("A kettle", ("Steam",))
    assert summary.links == ("http://a.test/docs/more.md", "https://other.test/")
    module = sys.modules["parcahyd_plugin_example_summarizer"]
    check_summarizer(module.MarkdownSummarizer(WorkConf()), {"text/markdown": _MARKDOWN})


def test_the_partition_strategy_conforms() -> None:
    conf = Configuration(MapConf(), WorkConf(Partition="own-partitions"), str(ROOT / "conf"))
    strategy = PluginManager.load(conf).partitioner(Routing(8))
    assert [strategy.home(Seen(host)) for host in ("wiki.example.org", "forum.example.org")] == [0, 1]
    at_its_address = Neighbours({0: 1}, {})
    assert strategy.home(Seen("other.example.org", address="192.0.2.1", neighbours=at_its_address)) not in (0, 1)
    check_partitioner(sys.modules["parcahyd_plugin_example_partitioner"].OwnPartitions, many=10_000)


def _with_downloader(conf: WorkConf) -> WorkConf:
    return WorkConf(
        DownloaderClass="plain-http",
        TimeoutConnect=conf.TimeoutConnect,
        TimeoutIdle=conf.TimeoutIdle,
        TimeoutTotal=conf.TimeoutTotal,
    )


@pytest.mark.parametrize("file", [path.name for path in (ROOT / "plugins").glob("*.py")])
def test_the_readme_names_every_file(file: str) -> None:
    assert f"`{file}`" in (ROOT / "plugins" / "README.md").read_text()


@pytest.mark.parametrize("name", ["wildcard-table", "plain-http", "own-partitions", "markdown"])
def test_the_readme_names_them(name: str) -> None:
    assert name in (ROOT / "plugins" / "README.md").read_text()
