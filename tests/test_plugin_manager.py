from __future__ import annotations

import asyncio
import importlib.util
import os
import py_compile
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pluggy
import pytest

from parcahyd import builtin_plugins
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import PluginError, PluginNotFound
from parcahyd.core.partitions import Routing, Seen
from parcahyd.document_tools import DocumentTools
from parcahyd.plugin_manager import PluginManager, PluginReport
from parcahyd.rules.media_types.media_type import recognise
from tests.support.third_party import DOWNLOADER, RESOLVER, configured, download, plugin_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return plugin_folder(tmp_path)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on sys.path; modules imported from it are forgotten afterwards."""
    path = tmp_path / "site"
    path.mkdir()
    monkeypatch.syspath_prepend(str(path))
    before = set(sys.modules)
    yield path
    for name in set(sys.modules) - before:
        if str(path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def _install(packages: Path, name: str, code: str, version: str = "1.2") -> None:
    """What an installer leaves behind: a module and the description of its distribution."""
    (packages / f"{name}.py").write_text(code)
    described = packages / f"{name}_dist-{version}.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-dist\nVersion: {version}\n")
    (described / "entry_points.txt").write_text(f"[parcahyd]\n{name} = {name}\n")


# --- finding --------------------------------------------------------------------------------------------------------


def test_a_load_imports_pluggy_and_no_library_of_a_plugin_that_is_not_used(folder: Path) -> None:
    code = (
        "import sys\n"
        "from parcahyd.plugin_manager import PluginManager\n"
        "from parcahyd.config.schema import Configuration, MapConf, WorkConf\n"
        f"manager = PluginManager.load(Configuration(MapConf(), WorkConf(), {str(folder / 'conf')!r}))\n"
        "print(*(report.name for report in manager.listing()))\n"
        "print(*sorted({'pycurl', 'requests', 'dns', 'pypdf', 'pluggy'} & set(sys.modules)))\n"
    )
    names, imported = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    ).stdout.splitlines()
    assert set(names.split()) >= {"dnspython", "hosts-file", "system", "curl", "requests", "html", "pdf", "archives"}
    assert imported == "pluggy"


def test_built_in_plugins_are_registered_as_every_plugin_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[object] = []
    register = pluggy.PluginManager.register

    def watched(hooks: pluggy.PluginManager, plugin: object, name: str | None = None) -> str | None:
        registered.append(plugin)
        return register(hooks, plugin, name)

    monkeypatch.setattr(pluggy.PluginManager, "register", watched)
    (folder / "plugins" / "mine.py").write_text(RESOLVER)
    offered = {(report.hook, report.name) for report in PluginManager.load(configured(folder)).listing()}
    assert registered[0] is builtin_plugins
    assert getattr(registered[-1], "__name__", "") == "parcahyd_plugin_mine"
    for hook in builtin_plugins.__all__:
        assert {(hook, name) for name in getattr(builtin_plugins, hook)()} <= offered


def test_the_listing_says_where_each_was_found(folder: Path, packages: Path) -> None:
    _install(packages, "foreign", RESOLVER.replace("NAME", "from-package"))
    (folder / "plugins" / "mine.py").write_text(DOWNLOADER.replace("NAME", "from-file"))
    (packages / "dotted.py").write_text(RESOLVER)
    listing = PluginManager.load(configured(folder, resolver="dotted:Fixed")).listing()
    assert PluginReport("parcahyd_resolvers", "system", "parcahyd.builtin_plugins", "built-in") in listing
    found = {report.name: (report.plugin, report.found) for report in listing}
    assert found["from-package"] == ("foreign", "entry point of foreign-dist 1.2")
    assert found["from-file"] == ("mine", f"file {folder / 'plugins' / 'mine.py'}")
    assert found["dotted:Fixed"] == ("dotted:Fixed", "dotted path in DnsResolverClass")


def test_an_entry_point_is_used_by_its_name(folder: Path, packages: Path) -> None:
    _install(packages, "foreign", RESOLVER.replace("NAME", "foreign's"))
    assert PluginManager.load(configured(folder, resolver="foreign's")).resolver().resolve("a.test").addresses == ("192.0.2.1",)


def test_a_file_is_used_by_its_name(folder: Path) -> None:
    (folder / "plugins" / "mine.py").write_text(DOWNLOADER.replace("NAME", "mine"))
    (result,) = download(PluginManager.load(configured(folder, downloader="mine")))
    assert result.body == b"http://pages.test/"


def test_the_plugin_folder_is_relative_to_the_configuration(folder: Path) -> None:
    (folder / "conf" / "extra").mkdir()
    (folder / "conf" / "extra" / "mine.py").write_text(RESOLVER.replace("NAME", "mine"))
    conf = Configuration(MapConf(DnsResolverClass="mine", PluginDir="extra"), WorkConf(), str(folder / "conf"))
    assert PluginManager.load(conf).resolver().resolve("a.test").ttl == 60.0


def test_plugins_serve_another_configuration_without_being_loaded_again(folder: Path) -> None:
    mark = folder / "loaded"
    code = f"open({str(mark)!r}, 'a').write('x')\n"
    (folder / "plugins" / "mine.py").write_text(DOWNLOADER.replace("NAME", "mine") + code)
    first = configured(folder, downloader="mine")
    manager = PluginManager.load(first)
    other = msgspec.structs.replace(first, work=msgspec.structs.replace(first.work, Order="fair"))
    assert manager.order().visit_pages is None
    assert manager.reconfigured(other).order().visit_pages
    assert mark.read_text() == "x"
    with pytest.raises(PluginNotFound, match='no order is called "nobody"'):
        manager.reconfigured(msgspec.structs.replace(first, work=msgspec.structs.replace(first.work, Order="nobody")))
    with pytest.raises(PluginNotFound, match='Partition: no partitioner is called "nobody"'):
        manager.reconfigured(msgspec.structs.replace(first, work=msgspec.structs.replace(first.work, Partition="nobody")))


def test_the_partition_strategy_is_made_for_a_routing_and_its_settings(folder: Path) -> None:
    first = configured(folder)
    by_domain = msgspec.structs.replace(first, work=msgspec.structs.replace(first.work, PartitionBy="domain"))
    homes = [
        {PluginManager.load(one).partitioner(Routing(8)).home(Seen(f"{name}.example.org")) for name in range(50)}
        for one in (first, by_domain)
    ]
    assert len(homes[0]) == 8
    assert len(homes[1]) == 1


def test_a_partition_strategy_that_lacks_something_is_named(folder: Path) -> None:
    code = """
from parcahyd.plugins import hookimpl

class Half:
    one_home = True
    home_may_change = False

    def __init__(self, conf, routing):
        pass

    def home(self, seen):
        return 0

@hookimpl
def parcahyd_partitioners():
    return {"half": Half}
"""
    (folder / "plugins" / "mine.py").write_text(code)
    first = configured(folder)
    manager = PluginManager.load(msgspec.structs.replace(first, work=msgspec.structs.replace(first.work, Partition="half")))
    with pytest.raises(PluginError, match=r'partitioner "half" .* lacks belongs, next_for, observe, observes, plan, share'):
        manager.partitioner(Routing(8))


def test_a_missing_folder_is_fine(tmp_path: Path) -> None:
    assert len(PluginManager.load(configured(tmp_path)).listing()) >= 5


def test_files_that_start_with_an_underscore_and_other_files_are_left_alone(folder: Path) -> None:
    (folder / "plugins" / "_parts.py").write_text("raise RuntimeError")
    (folder / "plugins" / "notes.txt").write_text("raise RuntimeError")
    (folder / "plugins" / "package").mkdir()
    assert PluginManager.load(configured(folder)).listing()


@pytest.mark.parametrize(
    "path", ["outer.dotted:Fixed", "outer.dotted.Fixed", "outer.dotted", "outer.dotted:make", "outer.dotted.Plugin"]
)
def test_a_dotted_path_leads_to_a_class_a_factory_or_a_plugin(folder: Path, packages: Path, path: str) -> None:
    more = """
def make(conf):
    return Fixed(conf)

class Plugin:
    @hookimpl
    def parcahyd_resolvers(self):
        return {"x": Fixed}
"""
    (packages / "outer").mkdir()
    (packages / "outer" / "dotted.py").write_text(RESOLVER + more)
    assert PluginManager.load(configured(folder, resolver=path)).resolver().resolve("a.test").addresses == ("192.0.2.1",)


def test_a_dotted_path_to_a_downloader(folder: Path, packages: Path) -> None:
    (packages / "outer").mkdir()
    (packages / "outer" / "inner.py").write_text(DOWNLOADER)
    assert download(PluginManager.load(configured(folder, downloader="outer.inner.Fixed")))[0].status == 200


# --- mistakes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("resolver", "downloader", "message", "remedy"),
    [
        ("dnspythn", "curl", 'DnsResolverClass: no resolver is called "dnspythn"', 'did you mean "dnspython"?'),
        ("DNSPython", "curl", 'DnsResolverClass: no resolver is called "DNSPython"', 'did you mean "dnspython"?'),
        ("dnspython", "crul", 'DownloaderClass: no downloader is called "crul"', 'did you mean "curl"?'),
        ("dnspython", "Mosaic", 'DownloaderClass: no downloader is called "Mosaic"', "there are curl, requests"),
        ("no.such.Module", "curl", 'there is no module "no.such"', "parcahyd plugins"),
        ("nosuch:Thing", "curl", 'there is no module "nosuch"', "parcahyd plugins"),
        ("parcahyd.testing:FakeResolvr", "curl", 'parcahyd.testing has no "FakeResolvr"', 'did you mean "FakeResolver"?'),
    ],
)
def test_a_name_that_nobody_provides(folder: Path, resolver: str, downloader: str, message: str, remedy: str) -> None:
    with pytest.raises(PluginNotFound) as mistake:
        PluginManager.load(configured(folder, resolver, downloader))
    assert message in mistake.value.message
    assert remedy in mistake.value.remedy


@pytest.mark.parametrize("name", ["dnspythn", "no.such.Module"])
def test_an_unchecked_load_lists_what_there_is_although_the_name_is_wrong(folder: Path, name: str) -> None:
    manager = PluginManager.load(configured(folder, resolver=name), check=False)
    assert "dnspython" in [report.name for report in manager.listing()]
    with pytest.raises(PluginNotFound):
        manager.resolver()


def test_two_plugins_with_one_name_are_both_named(folder: Path) -> None:
    (folder / "plugins" / "one.py").write_text(RESOLVER.replace("NAME", "same"))
    (folder / "plugins" / "two.py").write_text(RESOLVER.replace("NAME", "same"))
    with pytest.raises(PluginError, match=r'two plugins offer a resolver called "same": .*one\.py.*two\.py'):
        PluginManager.load(configured(folder))


def test_a_plugin_cannot_take_a_built_ins_name(folder: Path) -> None:
    (folder / "plugins" / "shadow.py").write_text(DOWNLOADER.replace("NAME", "curl"))
    with pytest.raises(PluginError, match=r'called "curl": "parcahyd\S+" \(built-in\) and "shadow" \(file .*shadow\.py\)'):
        PluginManager.load(configured(folder))


_SCHEME = DOWNLOADER.replace("parcahyd_downloaders", "parcahyd_local_schemes")


def test_schemes_of_plugins_are_served_beside_those_of_the_chosen_downloader(folder: Path) -> None:
    (folder / "plugins" / "rows.py").write_text(_SCHEME.replace("NAME", "rows"))
    plugins = PluginManager.load(configured(folder))
    assert plugins.local_schemes == {"file", "rows"}
    assert plugins.served_schemes == {"file", "ftp", "gopher", "http", "https", "rows"}
    loop = asyncio.new_event_loop()
    downloader = plugins.downloader(loop)
    assert downloader.schemes == plugins.served_schemes
    downloader.close()
    loop.close()


@pytest.mark.parametrize("scheme", ["http", "https", "Rows", "a b", ""])
def test_a_scheme_that_a_plugin_cannot_serve_is_told(folder: Path, scheme: str) -> None:
    (folder / "plugins" / "odd.py").write_text(_SCHEME.replace("NAME", scheme))
    with pytest.raises(PluginError, match=rf'plugin "odd" .* cannot serve the scheme "{scheme}"'):
        PluginManager.load(configured(folder))


@pytest.mark.parametrize("scheme", ["file", "gopher"])
def test_a_scheme_is_served_by_one_plugin_whether_local_or_not(folder: Path, scheme: str) -> None:
    (folder / "plugins" / "shadow.py").write_text(_SCHEME.replace("NAME", scheme))
    with pytest.raises(PluginError, match=rf'called "{scheme}": "parcahyd\S+" \(built-in\) and "shadow"'):
        PluginManager.load(configured(folder))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("raise RuntimeError('no\\nluck')", "RuntimeError: no"),
        ("def broken(:\n    pass", "SyntaxError"),
        ("import nosuchmodule", "ModuleNotFoundError: No module named 'nosuchmodule'"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_named_in_one_line(folder: Path, code: str, text: str) -> None:
    (folder / "plugins" / "broken.py").write_text(code)
    with pytest.raises(PluginError) as mistake:
        PluginManager.load(configured(folder))
    assert str(folder / "plugins" / "broken.py") in mistake.value.message
    assert text in mistake.value.message
    assert "\n" not in str(mistake.value)


def test_a_package_that_cannot_be_imported_is_named(folder: Path, packages: Path) -> None:
    _install(packages, "broken_stranger", "raise RuntimeError('no luck')")
    with pytest.raises(PluginError, match=r'"broken_stranger" \(entry point of broken_stranger-dist 1\.2\).*no luck'):
        PluginManager.load(configured(folder))


def test_a_module_that_fails_while_it_is_imported_is_not_called_missing(folder: Path, packages: Path) -> None:
    (packages / "needy.py").write_text("import nosuchmodule")
    with pytest.raises(PluginError, match=r"cannot be imported: ModuleNotFoundError: No module named 'nosuchmodule'"):
        PluginManager.load(configured(folder, resolver="needy:Thing"))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("x = 1", "implements no hook"),
        (RESOLVER.replace("parcahyd_resolvers", "parcahyd_resolver"), "unknown hook 'parcahyd_resolver'"),
        (RESOLVER.replace("parcahyd_resolvers()", "parcahyd_resolvers(conf)"), "parcahyd_resolvers"),
        (RESOLVER.replace('{"NAME": Fixed}', "[Fixed]"), "something else than names with factories"),
        (RESOLVER.replace('{"NAME": Fixed}', '{"NAME": 1}'), "something else than names with factories"),
        (RESOLVER.replace('{"NAME": Fixed}', "1 / 0"), "failed in parcahyd_resolvers: ZeroDivisionError"),
    ],
)
def test_a_plugin_that_answers_hooks_wrongly_is_named(folder: Path, code: str, text: str) -> None:
    (folder / "plugins" / "odd.py").write_text(code)
    with pytest.raises(PluginError) as mistake:
        PluginManager.load(configured(folder))
    assert "odd" in mistake.value.message
    assert text in mistake.value.message


@pytest.mark.parametrize(
    ("more", "path", "text"),
    [
        ("Fixed = 3", "outer.odd:Fixed", "neither a class, nor a factory, nor a plugin"),
        ('@hookimpl\ndef parcahyd_resolvers():\n    return {"a": Fixed, "b": Fixed}', "outer.odd", "offers a, b"),
        ("", "outer.odd_downloader", "offers no resolver"),
    ],
)
def test_a_dotted_path_to_the_wrong_thing(folder: Path, packages: Path, more: str, path: str, text: str) -> None:
    (packages / "outer").mkdir()
    (packages / "outer" / "odd.py").write_text(RESOLVER + more)
    (packages / "outer" / "odd_downloader.py").write_text(DOWNLOADER)
    with pytest.raises(PluginError, match=text):
        PluginManager.load(configured(folder, resolver=path))


def test_a_factory_that_raises_is_named(folder: Path) -> None:
    (folder / "plugins" / "odd.py").write_text(RESOLVER.replace("self.ttl = conf.MinTtl", "raise OSError('no disk')"))
    manager = PluginManager.load(configured(folder, resolver="NAME"))
    with pytest.raises(PluginError, match=r'resolver "NAME" \(file .*odd\.py\) could not be made: OSError: no disk'):
        manager.resolver()


def test_what_a_factory_makes_must_have_the_ports_methods(folder: Path) -> None:
    code = DOWNLOADER.replace("schemes =", "protocols =").replace("def cancel_all", "def cancel")
    (folder / "plugins" / "odd.py").write_text(code)
    manager = PluginManager.load(configured(folder, downloader="NAME"))
    with pytest.raises(PluginError, match=r"lacks cancel_all, schemes") as mistake:
        manager.downloader(asyncio.new_event_loop())
    assert "parcahyd.plugins.Downloader" in mistake.value.remedy


# --- formats --------------------------------------------------------------------------------------------------------

_FORMATS = """
from parcahyd.plugins import Member, Summary, hookimpl

class Reads:
    media_types = frozenset({"application/x-mine", "text/html"})
    def __init__(self, conf):
        self.most = conf.ExpandMembers
    def recognize(self, content_type, body, media_type):
        return "application/x-mine" if body.startswith(b"MINE") else None
    def summarize(self, body, media_type, charset, url):
        return Summary("mine") if b"mine" in body.lower() else None
    def expand(self, body, media_type, url):
        yield Member("a", body)

@hookimpl
def parcahyd_recognizers():
    return {"mine": Reads}

@hookimpl
def parcahyd_summarizers():
    return {"mine": Reads}

@hookimpl
def parcahyd_expanders():
    return {"mine": Reads}
"""


def _tools(folder: Path, report: Callable[[str], None] = print) -> DocumentTools:
    return DocumentTools(PluginManager.load(configured(folder)), WorkConf(Summaries="full", Expand=True), report)


def test_the_formats_are_not_made_where_they_are_not_asked_for(folder: Path) -> None:
    tools = DocumentTools(PluginManager.load(configured(folder)), WorkConf(Summaries="brief", Expand=False), print)
    assert not tools.summarizers.can_read("text/html")
    assert not tools.expanders.can_expand("application/zip")


def test_the_built_in_formats_are_there(folder: Path) -> None:
    reported: list[str] = []
    tools = _tools(folder, reported.append)
    assert tools.recognise is recognise
    summarizers, expanders = tools.summarizers, tools.expanders
    for media_type in ("text/html", "text/plain", "application/rss+xml", "application/pdf", "application/epub+zip"):
        assert summarizers.can_read(media_type)
    for media_type in ("application/zip", "application/gzip", "application/x-tar"):
        assert expanders.can_expand(media_type)
    assert not expanders.can_expand("application/epub+zip")
    assert not summarizers.can_read("image/png")
    assert reported == []


def test_third_party_plugins_are_asked_before_the_built_in_ones(folder: Path) -> None:
    (folder / "plugins" / "mine.py").write_text(_FORMATS)
    tools = _tools(folder)
    recognize = tools.recognise
    assert recognize("", b"MINE") == ("application/x-mine", "")
    assert recognize("", b"%PDF-") == ("application/pdf", "")
    summarizers = tools.summarizers
    for body, title in ((b"<title>mine?", "mine"), (b"<title>yours", "yours")):
        summary = summarizers.summarize(body, "text/html", "utf-8", "http://a.test/")
        assert summary is not None
        assert summary.title == title
    members = tools.expanders.expand(b"x", "application/x-mine", "http://a.test/")
    assert [member.name for member in members] == ["a"]


def test_the_formats_of_packages_are_found(folder: Path, packages: Path) -> None:
    _install(packages, "formats_stranger", _FORMATS)
    assert _tools(folder).expanders.can_expand("application/x-mine")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("def summarize", "def summarise"), 'summarizer "mine" .* lacks summarize'),
        (("media_types =", "types ="), "lacks media_types"),
        (("self.most = conf.ExpandMembers", "1 / 0"), 'summarizer "mine" .* could not be made: ZeroDivisionError'),
    ],
)
def test_a_format_plugin_that_cannot_be_used_is_named(folder: Path, change: tuple[str, str], text: str) -> None:
    (folder / "plugins" / "mine.py").write_text(_FORMATS.replace(*change))
    with pytest.raises(PluginError, match=text):
        PluginManager.load(configured(folder)).summarizers()


def test_every_built_in_can_be_made(folder: Path) -> None:
    loop = asyncio.new_event_loop()
    for report in PluginManager.load(configured(folder)).listing():
        if report.found != "built-in":
            continue
        if report.hook == "parcahyd_resolvers":
            conf = Configuration(
                MapConf(DnsResolverClass=report.name, Nameservers=("127.0.0.1",)), WorkConf(), str(folder / "conf")
            )
            PluginManager.load(conf).resolver().close()
        elif report.hook == "parcahyd_downloaders":
            downloader = PluginManager.load(configured(folder, downloader=report.name)).downloader(loop)
            assert "https" in downloader.schemes
            downloader.close()
    loop.close()


# --- whose files are run --------------------------------------------------------------------------------------------


def test_a_file_that_others_can_write_to_is_not_run(folder: Path) -> None:
    file = folder / "plugins" / "mine.py"
    file.write_text("raise RuntimeError('it was run')")
    file.chmod(0o666)
    with pytest.raises(PluginError, match=r"plugin file .*mine\.py can be written by other users \(owner .*, mode 0666\)"):
        PluginManager.load(configured(folder))


def test_a_folder_that_others_can_write_to_is_not_used(folder: Path) -> None:
    (folder / "plugins" / "mine.py").write_text("raise RuntimeError('it was run')")
    (folder / "plugins").chmod(0o1777)
    with pytest.raises(PluginError, match=r"plugin folder .*plugins can be written by other users \(owner .*, mode 1777\)"):
        PluginManager.load(configured(folder))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_run(folder: Path) -> None:
    file = folder / "plugins" / "mine.py"
    file.write_text("raise RuntimeError('it was run')")
    os.chown(file, 65534, 65534)
    with pytest.raises(PluginError, match=r"plugin file .*mine\.py belongs to another user"):
        PluginManager.load(configured(folder))


def test_byte_code_beside_a_file_is_not_run(folder: Path) -> None:
    """Whoever can write to a folder `__pycache__` could put the byte code of something else there."""
    file = folder / "plugins" / "mine.py"
    file.write_text("raise RuntimeError('it was run')")
    cached = Path(importlib.util.cache_from_source(str(file)))
    py_compile.compile(str(file), cfile=str(cached), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    file.write_text(RESOLVER.replace("NAME", "mine"))
    assert PluginManager.load(configured(folder, resolver="mine")).resolver().resolve("a.test").ttl == 60.0


def test_an_empty_name_of_the_folder_stands_for_none(folder: Path) -> None:
    (folder / "conf" / "mine.py").write_text("raise RuntimeError('it was run')")
    PluginManager.load(Configuration(MapConf(PluginDir=""), WorkConf(), str(folder / "conf")))
