"""docs/plugins.md names every hook, and its samples run."""

from __future__ import annotations

import asyncio
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from parcahyd import testing
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.ports import DownloadRequest, DownloadResult
from parcahyd.hookspecs import HookSpecs
from parcahyd.plugin_manager import PluginManager

_ROOT = Path(__file__).parents[2]
_PAGE = (_ROOT / "docs" / "plugins.md").read_text()
_SAMPLES: dict[str, str] = dict(re.findall(r"```python\n# (\S+)\n(.*?)```", _PAGE, re.DOTALL))


@pytest.fixture
def plugins(tmp_path: Path) -> PluginManager:
    """The page's plugin files in a plugins folder, chosen by the names that the page gives them."""
    for folder in ("conf", "plugins"):
        (tmp_path / folder).mkdir()
    for name, code in _SAMPLES.items():
        (tmp_path / name).write_text(code)
    for name in ("example_downloader.py", "example_partitioner.py"):
        (tmp_path / "plugins" / name).write_text((_ROOT / "plugins" / name).read_text())
    conf = Configuration(MapConf(DnsResolverClass="office"), WorkConf(DownloaderClass="archive"), str(tmp_path / "conf"))
    return PluginManager.load(conf)


@pytest.mark.parametrize("hook", [name for name in vars(HookSpecs) if not name.startswith("_")])
def test_every_hook_is_on_the_page(hook: str) -> None:
    assert f"| `{hook}` |" in _PAGE


@pytest.mark.parametrize("name", testing.__all__)
def test_everything_for_authors_is_on_the_page(name: str) -> None:
    assert f"`{name}`" in _PAGE


def test_the_page_has_the_samples_it_speaks_of() -> None:
    plugins = {"plugins/office_resolver.py", "plugins/archive_downloader.py", "plugins/kettle_files.py"}
    assert set(_SAMPLES) == {*plugins, "test_my_plugins.py"}
    assert all(f"`{name}`" in _PAGE for name in ("plugins/office_resolver.py", "plugins/example_downloader.py"))


def test_the_resolver_resolves(plugins: PluginManager) -> None:
    testing.check_resolver(plugins.resolver(), {"desk-7.office.test": ["10.0.0.7"]}, "desk-777.office.test")


def test_the_downloader_downloads(plugins: PluginManager) -> None:
    loop = asyncio.new_event_loop()
    downloader = plugins.downloader(loop)
    results: list[DownloadResult] = []

    def done(result: DownloadResult) -> None:
        results.append(result)
        loop.stop()

    for url in ("http://archive.test/", "http://archive.test/old"):
        downloader.start(DownloadRequest(url, "192.0.2.1", 80, (), 1000), done)
        loop.run_forever()
    downloader.close()
    loop.close()
    assert [(result.status, result.peer) for result in results] == [(200, "192.0.2.1"), (404, "192.0.2.1")]


def test_the_test_passes(plugins: PluginManager) -> None:
    assert plugins
    sample = ModuleType("test_my_plugins")
    exec(_SAMPLES["test_my_plugins.py"], vars(sample))  # noqa: S102  the page's own sample
    tests = [test for name, test in vars(sample).items() if name.startswith("test_")]
    assert len(tests) == 4
    for test in tests:
        test()


def test_the_entry_point_is_toml_in_our_group() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", _PAGE, re.DOTALL)
    assert tomllib.loads(text)["project"]["entry-points"]["parcahyd"] == {"my-plugin": "my_package.my_module"}
