"""Configuration files: what is read from them, and how errors are reported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from parcahyd.config import loading
from parcahyd.config.checking import seed_refusal
from parcahyd.config.explaining import Conf, declared, declared_of_host
from parcahyd.config.loading import load
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import ConfigurationError
from tests.config.refusals import Folder, refusal

ROOT = Path(__file__).parents[2]


# What is read


def test_the_shipped_files_show_every_key_of_a_host() -> None:
    text = (ROOT / "conf" / "WorkConf.toml").read_text()
    assert [key for key in declared_of_host() if f"\n# {key}: " not in text] == []


def test_without_a_folder_the_defaults_count_and_paths_start_in_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(None) == Configuration(map=MapConf(PluginDir=""), work=WorkConf(), folder=os.getcwd(), sources={})


def test_without_a_folder_plugin_files_are_loaded_only_from_a_folder_that_is_named() -> None:
    assert load(None).map.PluginDir == ""
    assert load(None, ["Map.PluginDir=mine"]).map.PluginDir == "mine"


def test_the_shipped_files_give_exactly_the_defaults() -> None:
    configuration = load(ROOT / "conf")
    assert configuration.map == MapConf()
    assert configuration.work == WorkConf()
    assert configuration.folder == str(ROOT / "conf")


def test_the_shipped_files_name_every_key() -> None:
    confs: tuple[Conf, ...] = ("Map", "Work")
    for which in confs:
        text = (ROOT / "conf" / f"{which}Conf.toml").read_text()
        missing = [key for key in declared(which) if f"\n{key} = " not in text and f"\n# {key} = " not in text]
        assert missing == (["Host"] if which == "Work" else [])


def test_either_file_may_be_absent(folder: Folder) -> None:
    assert load(folder(work_conf="HostDelay = 3")).work.HostDelay == 3.0
    assert load(folder()).map == MapConf()


def test_an_empty_file_means_the_defaults(folder: Folder) -> None:
    assert load(folder(map_conf="")).work == WorkConf()


def test_values_and_their_sources(folder: Folder) -> None:
    where = folder(
        'MaxInstances = 3\nAllowAddresses = [\n  "10.0.0.1/8", # our own\n]\n',
        '# politeness\n\nHostDelay = 2\nSeeds = ["http://a.example/"]\nMaxInstances = 0\nAddressDelay = 0.5\n',
    )
    configuration = load(where, ["Work.HostConnections=4"])
    assert configuration.map == MapConf(MaxInstances=3, AllowAddresses=("10.0.0.1/8",))
    assert configuration.work == WorkConf(HostDelay=2.0, Seeds=("http://a.example/",), AddressDelay=0.5, HostConnections=4)
    assert isinstance(configuration.work.HostDelay, float)
    assert configuration.folder == str(where)
    assert configuration.sources == {
        "Map.MaxInstances": "MapConf.toml:1",
        "Map.AllowAddresses": "MapConf.toml:2",
        "Work.HostDelay": "WorkConf.toml:3",
        "Work.Seeds": "WorkConf.toml:4",
        "Work.MaxInstances": "WorkConf.toml:5",
        "Work.AddressDelay": "WorkConf.toml:6",
        "Work.HostConnections": "--set",
    }


def test_a_relative_folder_becomes_absolute(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    where = folder(map_conf="")
    monkeypatch.chdir(where.parent)
    assert load(where.name).folder == str(where)


def test_a_byte_order_mark_and_windows_line_ends_are_tolerated(folder: Folder) -> None:
    where = folder(work_conf=b"\xef\xbb\xbfHostDelay = 2\r\nMaxTries = 7\r\n")
    configuration = load(where)
    assert (configuration.work.HostDelay, configuration.work.MaxTries) == (2.0, 7)
    assert configuration.sources["Work.MaxTries"] == "WorkConf.toml:2"


def test_paths_that_plugins_get_start_in_the_folder(folder: Folder) -> None:
    where = folder('HostsFile = "hosts"', 'CaFile = "/etc/ca.pem"')
    configuration = load(where)
    assert configuration.map.HostsFile == str(where / "hosts")
    assert configuration.work.CaFile == "/etc/ca.pem"
    assert load(where, ["Work.CaFile="]).work.CaFile == ""


# What is refused


def test_a_folder_that_is_missing_empty_or_a_file(tmp_path: Path) -> None:
    missing = tmp_path / ("nowhere" * 20)
    assert refusal(missing).startswith(f'"{missing}": does not exist (name a folder')
    assert "has neither MapConf.toml nor WorkConf.toml (" in refusal(tmp_path)
    (tmp_path / "file").touch()
    assert "is a file (name a folder" in refusal(tmp_path / "file")
    assert "does not exist" in refusal(tmp_path / "new\nline")


def test_a_folder_whose_name_is_no_text() -> None:
    with pytest.raises(ConfigurationError, match=r'^"/a\\uDCFFb": its name is not UTF-8 '):
        load("/a\udcffb")


def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(ConfigurationError, match=r"^the current folder is gone "):
        load(None)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "MapConf.toml").mkdir()
    assert refusal(tmp_path).startswith("MapConf.toml: cannot be read: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('HostDelay = "slow"', 'HostDelay: expected a number from 0 to 1000000000, got "slow"'),
        ("HostDelay = -1", "HostDelay: expected a number from 0 to 1000000000, got -1"),
        ("HostDelay = nan", "HostDelay: expected a number from 0 to 1000000000, got nan"),
        ("HostDelay = inf", "HostDelay: expected a number from 0 to 1000000000, got inf"),
        ("TimeoutConnect = 9e18", "TimeoutConnect: expected a number from 0 to 1000000, got 9e+18"),
        ("TimeoutTotal = 1000001", "TimeoutTotal: expected a number from 0 to 1000000, got 1000001"),
        ("DelayFactor = inf", "DelayFactor: inf is too large"),
        ("HostDelay = true", "HostDelay: expected a number from 0 to 1000000000, got true"),
        ("MaxTries = true", "MaxTries: expected a whole number of at least 1, got true"),
        ("MaxTries = 1.5", "MaxTries: expected a whole number of at least 1, got 1.5"),
        ("MaxTries = 0", "MaxTries: expected a whole number of at least 1, got 0"),
        ("MaxTries = 9223372036854775808", "MaxTries: 9223372036854775808 is too large"),
        ("MaxDepth = -1", "MaxDepth: expected a whole number of at least 0, got -1"),
        ("CompressionLevel = 10", "CompressionLevel: expected a whole number from 1 to 9, got 10"),
        ("Embedded = 1", "Embedded: expected true or false, got 1"),
        ('Scope = "sites"', 'Scope: expected one of "any", "domain", "site", got "sites" (did you mean "site"?)'),
        ("CaFile = 2024-01-01", "CaFile: expected text, got 2024-01-01 (text stands in quotes)"),
        ("CaFile.x = 1", 'CaFile: expected text, got {"x" = 1}'),
        ("DbPassword = 31337", "DbPassword: expected text, got something else"),
        ('UserAgent = ""', "UserAgent: expected text of printable ASCII characters"),
        ('UserAgent = "bot\\n"', "UserAgent: has a control character in it"),
        ('CaFile = "a\\u0000b"', "CaFile: has a control character in it"),
        ('Seeds = "http://a/"', 'Seeds: expected a list of texts, got "http://a/" (write Seeds = ["A", "B"])'),
        ('Seeds = ["http://a/", 5]', 'Seeds: expected a list of texts, got ["http://a/", 5]'),
        ('Seeds = ["example.com"]', 'Seeds: "example.com" is not an absolute URL'),
        ("HostDely = 1", "HostDely: unknown key (did you mean HostDelay?)"),
        ("hostdelay = 1", "hostdelay: unknown key (did you mean HostDelay?)"),
        ('"Host Delay" = 1', "Host Delay: unknown key (did you mean HostDelay?)"),
        ("Nonsense = 1", "Nonsense: unknown key (`parcahyd config` lists every key)"),
        ('"a\\nb" = 1', "a\\u000Ab: unknown key"),
        ("AllowAddresses = []", "AllowAddresses: belongs in MapConf.toml, not in WorkConf.toml (move the line there)"),
        ("AlowAddresses = []", "AlowAddresses: unknown key (did you mean AllowAddresses, which belongs in MapConf.toml?)"),
        ("DnsResloverClass = 'system'", "DnsResolverClass: belongs in MapConf.toml"),
        ("Work.HostDelay = 1", "Work: unknown key (no key has Work. before it in a file)"),
        ("[politeness]\nHostDelay = 1", "[politeness]: unknown table (all keys stand at the top level"),
        ("[[Seeds]] # of them", "[[Seeds]]: unknown table"),
        ("LocalInstance = 0", "LocalInstance: expected true or false, got 0"),
        ("HostDelay = slow", "HostDelay: not valid TOML: Invalid value (expected a number from 0 to 1000000000)"),
        ("UserAgent = bot", "UserAgent: not valid TOML: Invalid value (expected text"),
        ("HostDelay 5", "HostDelay: not valid TOML: Expected '='"),
        ("KeepVersions = 2", "KeepVersions: given twice, first in line 2 (keep one of the lines)"),
        ('CaFile = """\n', "CaFile: not valid TOML: "),
        ("= 5", "not valid TOML: "),
        ("MaxBytes = 1" + "0" * 5000, "MaxBytes: not valid TOML: "),
    ],
)
def test_an_error_is_reported_with_its_line(folder: Folder, line: str, message: str) -> None:
    refused = refusal(folder(work_conf=f"# first\nKeepVersions = 3\n\n\n{line}\n"))
    assert refused.startswith("WorkConf.toml, line 5: ")
    assert message in refused


def test_a_mistake_after_values_of_many_lines_is_told_with_its_own_line(folder: Folder) -> None:
    text = """\
Seeds = [
  "http://a/", # ]
  "http://b/?HostDelay=[",
]
CaFile = '''
MaxTries = 1'''
HostDelay = "slow"
"""
    assert refusal(folder(work_conf=text)).startswith("WorkConf.toml, line 7: HostDelay: ")


def test_an_array_that_never_closes_is_told_by_its_key(folder: Folder) -> None:
    refused = refusal(folder(work_conf='MaxTries = 1\nSeeds = [\n"http://a/"\nHostDelay = 1\n'))
    assert refused.startswith("WorkConf.toml, line 4: Seeds: not valid TOML: ")


def test_bytes_that_are_no_text_are_told_with_their_line(folder: Folder) -> None:
    assert refusal(folder(map_conf=b"# a\n# caf\xe9\n")).startswith("MapConf.toml, line 2: not UTF-8")


def test_nesting_without_end_is_refused(folder: Folder) -> None:
    assert "nested too deeply" in refusal(folder(work_conf="Seeds = " + "[" * 100_000))
    assert "expected a list of texts" in refusal(None, "Work.Seeds=" + "[" * 100_000)


@pytest.mark.parametrize("network", ["127.0.0.0/8", "127.0.0.1/8", "192.168.7.5", "fd00::/8", "::1"])
def test_networks_that_are_allowed(network: str) -> None:
    assert load(None, [f'Map.AllowAddresses=["{network}"]']).map.AllowAddresses == (network,)


@pytest.mark.parametrize("network", ["localhost", "127.0.0.0/33", "10.0.0", "", "10.0.0.0/8 ", "[::1]"])
def test_networks_that_are_none(network: str) -> None:
    assert f'AllowAddresses: "{network}" is not a network' in refusal(None, f'Map.AllowAddresses=["::1", "{network}"]')


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("Include", "https://example.org/*"),
        ("Exclude", r"re:\\.pdf$"),
        ("Domains", "example.org"),
        ("Domains", "=www.example.org"),
        ("Domains", "[::1]"),
        ("MediaTypes", "text/*"),
        ("MediaTypes", "application/xhtml+xml"),
        ("StripParameters", "utm_*"),
    ],
)
def test_scopes_that_are_allowed(key: str, value: str) -> None:
    assert getattr(load(None, [f'Work.{key}=["{value}"]']).work, key) == (value.replace("\\\\", "\\"),)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("Include", "", "is no pattern"),
        ("Exclude", "re:(a", "is not a regular expression"),
        ("Domains", "https://example.org/", "is not the name of a host"),
        ("Domains", "*.example.org", "is not the name of a host"),
        ("MediaTypes", "html", "is not a media type"),
        ("StripParameters", "*", "is not the name of a parameter"),
        ("StripParameters", "a*b", "is not the name of a parameter"),
        ("StripParameters", "a=b", "is not the name of a parameter"),
    ],
)
def test_scopes_that_are_none(key: str, value: str, problem: str) -> None:
    assert problem in refusal(None, f'Work.{key}=["{value}"]')


@pytest.mark.parametrize("server", ["192.0.2.1", "192.0.2.1:5353", "2001:db8::1", "[2001:db8::1]:53", "::1", "[::1]:65535"])
def test_nameservers_that_are_allowed(server: str) -> None:
    assert load(None, [f'Map.Nameservers=["{server}"]']).map.Nameservers == (server,)


@pytest.mark.parametrize(
    "server",
    ["ns.example", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2.1:x", "[::1]", "[192.0.2.1]:53", "[::1]53", ":53",
     "", "192.0.2.1:\u0665", "192.0.2.1:" + "9" * 5000],
)  # fmt: skip
def test_nameservers_that_are_none(server: str) -> None:
    assert "is not the address of a name server" in refusal(None, f'Map.Nameservers=["{server}"]')


@pytest.mark.parametrize(
    "seed",
    ["http://example.com", "https://example.com/a b?q#f", "http://127.0.0.1:8080/", "http://[::1]:80/x", "ftp://u:p@h/", "HTTP://B\u00fccher.example/"],
)  # fmt: skip
def test_seeds_that_are_absolute(seed: str) -> None:
    assert seed_refusal(seed) == ""
    assert load(None, [f'Work.Seeds=["{seed}"]']).work.Seeds == (seed,)


@pytest.mark.parametrize(
    "seed",
    ["", "example.com", "www.example.com/a", "/a/b", "//example.com/", "http:", "http://", "http:///a", "http:example.com",
     "localhost:80/x", "http://:80/", "http://h:99999/", "http://h:0/", "http://h:x/",
     "http://[::1/", "http://exam ple.com/", "://h/", "1http://h/",
     "http://?q", "mailto:a@b.example", "http://@/"],
)  # fmt: skip
def test_seeds_that_are_not(seed: str) -> None:
    assert seed_refusal(seed) != ""
    assert "is not an absolute URL" in refusal(None, f'Work.Seeds=["http://fine.example/", "{seed}"]')


# The paper's spelling


def test_the_papers_spelling_is_understood_with_a_hint(folder: Folder) -> None:
    hints: list[str] = []
    configuration = load(folder(map_conf='\nDnsResloverClass = "system"'), hints=hints)
    assert configuration.map.DnsResolverClass == "system"
    assert configuration.sources == {"Map.DnsResolverClass": "MapConf.toml:2"}
    assert hints == ["MapConf.toml, line 2: DnsResloverClass is understood as DnsResolverClass (write DnsResolverClass)"]
    assert load(None, ["Map.DnsResloverClass=system"], hints).map.DnsResolverClass == "system"
    assert len(hints) == 2


def test_the_right_spelling_needs_no_hint(folder: Folder) -> None:
    hints: list[str] = []
    load(folder(map_conf='DnsResolverClass = "system"'), hints=hints)
    assert hints == []


def test_machines_that_are_not_used_have_a_hint(folder: Folder) -> None:
    hints: list[str] = []
    load(folder(work_conf='\nListIP = ["192.0.2.1"]', map_conf="ListIP = []"), ['Map.ListIP=["192.0.2.2"]'], hints)
    text = "ListIP is not used while LocalInstance is true: everything runs on this machine (remove ListIP)"
    assert hints == [f"""--set Map.ListIP=["192.0.2.2"]: {text}""", f"WorkConf.toml, line 2: {text}"]
    load(folder(work_conf="ListIP = []"), hints=hints)
    load(folder(work_conf='ListIP = ["192.0.2.1"]', map_conf="LocalInstance = false"), hints=hints)
    load(folder(work_conf='ListIP = ["192.0.2.1"]', map_conf='DbUrl = "postgresql://db.example/crawl"'), hints=hints)
    assert len(hints) == 2


def test_either_file_makes_a_cluster_of_the_machines_of_both(folder: Folder) -> None:
    lists = {"map_conf": 'ListIP = ["192.0.2.1", "192.0.2.2"]\n', "work_conf": 'ListIP = ["192.0.2.3", "192.0.2.1"]\n'}
    assert not load(folder(**lists)).is_cluster
    for file, text in lists.items():
        loaded = load(folder(**{**lists, file: text + "LocalInstance = false\n"}))
        assert loaded.is_cluster
        assert loaded.machines == ("192.0.2.1", "192.0.2.2", "192.0.2.3")


@pytest.mark.parametrize("keys", [("DnsResloverClass", "DnsResolverClass"), ("DnsResolverClass", "DnsResloverClass")])
def test_both_spellings_at_once_are_refused(folder: Folder, keys: tuple[str, str]) -> None:
    refused = refusal(folder(map_conf=f'{keys[0]} = "system"\n{keys[1]} = "system"\n'))
    assert refused.startswith(f"MapConf.toml, line 2: {keys[1]}: ")
    assert "MapConf.toml, line 1" in refused


# One database for both files


@pytest.mark.parametrize("file", [0, 1])
def test_database_keys_of_one_file_serve_both(folder: Folder, file: int) -> None:
    text = 'DbUrl = "postgresql://h/"\nDbName = "n"\nDbUser = "u"\nDbPassword = "env:X"\n'
    configuration = load(folder(*([text, None] if file == 0 else [None, text])))
    for conf in (configuration.map, configuration.work):
        assert (conf.DbUrl, conf.DbName, conf.DbUser, conf.DbPassword) == ("postgresql://h/", "n", "u", "env:X")
    source = ("MapConf.toml:1", "WorkConf.toml:1")[file]
    assert configuration.sources["Map.DbUrl"] == configuration.sources["Work.DbUrl"] == source


def test_the_same_database_in_both_files_is_fine(folder: Folder) -> None:
    configuration = load(folder('DbUrl = "sqlite:///a.db"', '\nDbUrl = "sqlite:///a.db"'))
    assert configuration.sources == {"Map.DbUrl": "MapConf.toml:1", "Work.DbUrl": "WorkConf.toml:2"}


def test_two_databases_are_refused_without_telling_a_password(folder: Folder) -> None:
    refused = refusal(folder('DbPassword = "s3cret"', '\nDbPassword = "other"'))
    assert refused.startswith("MapConf.toml, line 1 and WorkConf.toml, line 2: DbPassword: two different values")
    assert "s3cret" not in refused
    refused = refusal(None, "Map.DbUrl=postgresql://u:s3cret@h/a", "Work.DbUrl=postgresql://u:s3cret@h/b")
    assert refused.startswith("--set Map.DbUrl=*** and --set Work.DbUrl=***: DbUrl: two different values")


@pytest.mark.parametrize("which", ["Map", "Work"])
def test_an_override_of_the_database_replaces_it_in_both_files(folder: Folder, which: str) -> None:
    configuration = load(folder('DbUrl = "sqlite:///a.db"', 'DbUrl = "sqlite:///a.db"'), [f"{which}.DbUrl=sqlite:///b.db"])
    assert configuration.map.DbUrl == configuration.work.DbUrl == "sqlite:///b.db"
    assert configuration.sources["Map.DbUrl"] == configuration.sources["Work.DbUrl"] == "--set"


def test_a_database_that_nothing_serves_is_told_with_its_line(folder: Folder) -> None:
    refused = refusal(folder(work_conf='\nDbUrl = "jdbc:oracle:thin:@myhost:1521:orcl"'))
    assert refused.startswith('WorkConf.toml, line 2: DbUrl: "jdbc:..."')
    assert refusal(None, "Work.DbUrl=sqlite://").startswith("--set DbUrl: a database in memory is refused")


def test_loading_leaves_heavy_libraries_alone() -> None:
    code = "import sys, parcahyd.config.loading; sys.exit(bool({'sqlalchemy', 'click', 'rich', 'pycurl'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_what_is_exported() -> None:
    assert loading.__all__ == ["Statement", "load", "statements"]


def test_a_least_above_its_most_is_refused_with_both_places(folder: Folder) -> None:
    crossed = folder(work_conf="RevisitMin = 60\nRevisitMax = 30\n")
    assert refusal(crossed).startswith("WorkConf.toml, line 1 and WorkConf.toml, line 2: RevisitMin is more than RevisitMax")
    assert load(crossed, ["Work.RevisitMax=60"]).work.revisit_max == 60
    assert load(folder(work_conf="RevisitMin = 9e8\n")).work.revisit_max == 9e8
    assert load(folder(work_conf="RevisitAfter = 48\n")).work.revisit_min == 2
