from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parcahyd.config import loading
from parcahyd.config.explaining import Conf, declared, declared_of_host, toml_text
from parcahyd.config.loading import Statement, load, seed_problem, statements
from parcahyd.config.schema import Configuration, HostRule, MapConf, WorkConf
from parcahyd.core.errors import ConfigurationError

ROOT = Path(__file__).parents[2]
quick = settings(deadline=None, max_examples=100, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Writes the files that are given and gives their folder."""

    def written(map_conf: str | bytes | None = None, work_conf: str | bytes | None = None) -> Path:
        for name, content in (("MapConf.toml", map_conf), ("WorkConf.toml", work_conf)):
            if content is not None:
                (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    return written


def refusal(folder: Path | None, *overrides: str) -> str:
    """The line that a mistake is told with."""
    with pytest.raises(ConfigurationError) as caught:
        load(folder, overrides)
    line = str(caught.value)
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    return line


# What is read


def test_the_shipped_files_show_every_key_of_a_host() -> None:
    text = (ROOT / "conf" / "WorkConf.toml").read_text()
    assert [key for key in declared_of_host() if f"\n# {key}: " not in text] == []


def test_without_a_folder_the_defaults_count_and_paths_start_in_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(None) == Configuration(map=MapConf(), work=WorkConf(), folder=os.getcwd(), sources={})


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
    ("line", "told"),
    [
        ('HostDelay = "slow"', 'HostDelay: expected a number of at least 0, got "slow"'),
        ("HostDelay = -1", "HostDelay: expected a number of at least 0, got -1"),
        ("HostDelay = nan", "HostDelay: expected a number of at least 0, got nan"),
        ("HostDelay = inf", "HostDelay: inf is too large"),
        ("HostDelay = true", "HostDelay: expected a number of at least 0, got true"),
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
        ("LocalInstance = false", "the cluster comes as an extra, parcahyd[cluster]"),
        ("HostDelay = slow", "HostDelay: not valid TOML: Invalid value (expected a number of at least 0)"),
        ("UserAgent = bot", "UserAgent: not valid TOML: Invalid value (expected text"),
        ("HostDelay 5", "HostDelay: not valid TOML: Expected '='"),
        ("KeepVersions = 2", "KeepVersions: given twice, first in line 2 (keep one of the lines)"),
        ('CaFile = """\n', "CaFile: not valid TOML: "),
        ("= 5", "not valid TOML: "),
        ("MaxBytes = 1" + "0" * 5000, "MaxBytes: not valid TOML: "),
    ],
)
def test_a_mistake_is_told_with_its_line(folder: Folder, line: str, told: str) -> None:
    refused = refusal(folder(work_conf=f"# first\nKeepVersions = 3\n\n\n{line}\n"))
    assert refused.startswith("WorkConf.toml, line 5: ")
    assert told in refused


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
    assert seed_problem(seed) == ""
    assert load(None, [f'Work.Seeds=["{seed}"]']).work.Seeds == (seed,)


@pytest.mark.parametrize(
    "seed",
    ["", "example.com", "www.example.com/a", "/a/b", "//example.com/", "http:", "http://", "http:///a", "http:example.com",
     "localhost:80/x", "http://:80/", "http://h:99999/", "http://h:0/", "http://h:x/",
     "http://[::1/", "http://exam ple.com/", "://h/", "1http://h/",
     "http://?q", "mailto:a@b.example", "http://@/"],
)  # fmt: skip
def test_seeds_that_are_not(seed: str) -> None:
    assert seed_problem(seed) != ""
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


# --set


@pytest.mark.parametrize(
    ("override", "key", "value"),
    [
        ("Work.HostDelay=0", "HostDelay", 0.0),
        (" Work . HostDelay =\t0.5 ", "HostDelay", 0.5),
        ("Work.HostDelay=1e3", "HostDelay", 1000.0),
        ("Work.Scope=any", "Scope", "any"),
        ('Work.Scope="any"', "Scope", "any"),
        ("Work.Scope='any' # all of it", "Scope", "any"),
        ("Work.UserAgent=my bot/1.0", "UserAgent", "my bot/1.0"),
        ("Work.UserAgent=bot (+https://h/?a=b#c)", "UserAgent", "bot (+https://h/?a=b#c)"),
        ("Work.UserAgent=7", "UserAgent", "7"),
        ("Work.DbPassword=true", "DbPassword", "true"),
        ("Work.DbPassword=2024-01-01", "DbPassword", "2024-01-01"),
        ("Work.DbPassword=a=b", "DbPassword", "a=b"),
        ("Work.DbUrl=sqlite:///x.db", "DbUrl", "sqlite:///x.db"),
        ("Work.CaFile=", "CaFile", ""),
        ("Work.MaxDepth=", "MaxDepth", None),
        ("Work.MaxDepth=3", "MaxDepth", 3),
        ("Work.Embedded=true", "Embedded", True),
        ("Work.MaxBytes=1_000", "MaxBytes", 1000),
        ("Work.Seeds=[]", "Seeds", ()),
        ("Work.Seeds=[ 'http://a/', \"http://b/\" ]", "Seeds", ("http://a/", "http://b/")),
    ],
)
def test_an_override_is_a_toml_value_or_a_bare_text(override: str, key: str, value: object) -> None:
    configuration = load(None, [override])
    assert getattr(configuration.work, key) == value
    assert configuration.sources[f"Work.{key}"] == "--set"


def test_an_override_goes_before_the_file_and_the_last_one_counts(folder: Folder) -> None:
    where = folder(work_conf="HostDelay = 5\nMaxPages = 10\n")
    configuration = load(where, ["Work.HostDelay=1", "Work.MaxPages=", "Work.HostDelay=2"])
    assert configuration.work == WorkConf(HostDelay=2.0)


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("Work.HostDely=0", "--set Work.HostDely=0: HostDely: unknown key (did you mean HostDelay?)"),
        ("Map.HostDelay=0", "HostDelay: belongs in WorkConf.toml, not in MapConf.toml (write Work.HostDelay=...)"),
        ("HostDelay=0", "--set HostDelay=0: not of the form Map.KEY or Work.KEY (did you mean Work.HostDelay?)"),
        ("ListIP=[]", "--set ListIP=[]: not of the form Map.KEY or Work.KEY (did you mean Map.ListIP or Work.ListIP?)"),
        ("wrok.HostDelay=0", '--set wrok.HostDelay=0: "wrok" is neither Map nor Work (did you mean Work.HostDelay?)'),
        ("Work.HostDelay", "--set Work.HostDelay: no value (write Map.KEY=VALUE or Work.KEY=VALUE)"),
        ("Work.HostDelay=", '--set Work.HostDelay=: HostDelay: expected a number of at least 0, got ""'),
        ("Work.HostDelay=slow", '--set Work.HostDelay=slow: HostDelay: expected a number of at least 0, got "slow"'),
        ("Work.HostDelay=0\nMaxTries=1", '--set Work.HostDelay=0\\u000AMaxTries=1: HostDelay: expected a number'),
        ("Work.Embedded=True", '--set Work.Embedded=True: Embedded: expected true or false, got "True"'),
        ('Work.UserAgent="bot', '--set Work.UserAgent="bot: UserAgent: the quotes do not close'),
        ("Map.AllowAddresses=[10.0.0.0/8]", "(write --set 'Map.AllowAddresses=[\"A\", \"B\"]')"),
        ("Map.LocalInstance=false", "false is not available yet: the cluster comes as an extra, parcahyd[cluster]"),
        ("Work.Scope=5", 'Scope: expected one of "any", "domain", "site", got "5"'),
        ("Work.MaxTries=\udcff", 'MaxTries: expected a whole number of at least 1, got "\\uDCFF"'),
        ("Work.CaFile=\udcff", "CaFile: has a control character in it"),
        ("", "--set : no value"),
        ("=", "--set =: not of the form"),
        ("Work.=1", "--set Work.=1: not of the form"),
        (".HostDelay=1", '"" is neither Map nor Work (did you mean Work.HostDelay?)'),
    ],
)  # fmt: skip
def test_an_override_that_is_wrong_is_told_as_it_was_written(override: str, told: str) -> None:
    assert told in refusal(None, override)


@pytest.mark.parametrize(
    "override", ["Work.DbPasword=s3cret", "DbPassword=s3cret", "Work.DbUrl=mysql://u:s3cret@h/", 'Map.DbPassword="s3cret']
)
def test_a_wrong_override_tells_no_password(override: str) -> None:
    assert "s3cret" not in refusal(None, override)


# Rules of hosts


def test_host_tables_become_rules(folder: Folder) -> None:
    text = """\
HostDelay = 2
[[Host]]
Pattern = "*.example.org"
Delay = 0
Headers = { "Accept-Language" = "pt" }

[[Host]] # the second
Pattern = "example.org:8080"
Credentials = "env:LOGIN"
VerifyTls = false
Headers.X-A = "1"
Headers.X-B = "2"
[[ Host ]]
Pattern = "*"
[Host.Headers]
X-Key = "env:KEY"
"""
    configuration = load(folder(work_conf=text))
    assert configuration.work.HostDelay == 2.0
    assert configuration.work.Host == (
        HostRule(Pattern="*.example.org", Delay=0.0, Headers={"Accept-Language": "pt"}),
        HostRule(Pattern="example.org:8080", Credentials="env:LOGIN", VerifyTls=False, Headers={"X-A": "1", "X-B": "2"}),
        HostRule(Pattern="*", Headers={"X-Key": "env:KEY"}),
    )
    assert configuration.sources["Work.Host"] == "WorkConf.toml:2"


def test_host_rules_may_stand_in_one_line(folder: Folder) -> None:
    text = 'Host = [{ Pattern = "a.test", Delay = 5 }, { Pattern = "b.test" }]'
    assert load(folder(work_conf=text)).work.Host == (HostRule(Pattern="a.test", Delay=5.0), HostRule(Pattern="b.test"))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Delai = 1", "Delai: unknown key in [[Host]] (did you mean Delay?)"),
        (
            "HostDelay = 1",
            "HostDelay: unknown key in [[Host]] (a key of the whole file stands above the first [[Host]]; did you",
        ),
        ("MaxTries = 1", "MaxTries: unknown key in [[Host]] (a key of the whole file stands above the first [[Host]])"),
        ("Nonsense = 1", "Nonsense: unknown key in [[Host]] ([[Host]] has Pattern, Delay, "),
        ('Delay = "slow"', 'Delay: expected a number of at least 0, got "slow"'),
        ("Delay = slow", "Delay: not valid TOML: Invalid value (expected a number of at least 0)"),
        ("Pattern = 'x'", "Pattern: given twice, first in line 4"),
        ("Connections = 0", "Connections: expected a whole number of at least 1, got 0"),
        (
            'Authentication = "digset"',
            'Authentication: expected one of "basic", "digest", got "digset" (did you mean "digest"?)',
        ),
        ("Credentials = 5", "Credentials: expected text, got something else"),
        ('Credentials = "s3cret"', "Credentials: not of the form USER:PASSWORD"),
        ('Credentials = "env:1 x"', "Credentials: names no environment variable"),
        ('Headers = "X: s3cret"', "Headers: expected a table of texts, got something else"),
        ("Headers = { X = 5 }", "Headers: expected a table of texts, got something else"),
        ('Headers = { "a b" = "s3cret" }', 'Headers: "a b" is not a header\'s name'),
        ('Headers = { "X" = "s3cret\\n" }', "Headers: the value of X is not printable ASCII"),
        ('Headers = { "host" = "x" }', "Headers: host is written by the crawl itself"),
        ('Headers = { "User-Agent" = "x" }', "Headers: User-Agent has a key of its own (write UserAgent)"),
        ('Proxy = "socks5h://s3cret:1"', "Proxy: such a proxy resolves names itself"),
        ('Proxy = "ftp://s3cret:1"', "Proxy: is not a proxy"),
        ('Proxy = "http://s3cret:65536"', "Proxy: is not a proxy"),
        ('Proxy = "http://s3cret:0"', "Proxy: is not a proxy"),
        ("Proxy = 5", "Proxy: expected text, got something else"),
        ("[Host]", "[Host]: unknown table"),
        ("[Host.Other]", "[Host.Other]: unknown table (a rule starts with [[Host]], in two pairs of brackets)"),
        ("[[Hosts]]", "[[Hosts]]: unknown table"),
        ("[[Host]]\nDelay = 1", "[[Host]]: has no Pattern"),
    ],
)
def test_a_mistake_in_a_host_table_is_told_with_its_line(folder: Folder, line: str, told: str) -> None:
    refused = refusal(folder(work_conf=f"KeepVersions = 3\n\n[[Host]]\nPattern = 'a.test'\n{line}\n"))
    if line != "[Host]":  # not even TOML, and told as such
        assert told in refused
    assert refused.startswith("WorkConf.toml, line 5: ")
    assert "s3cret" not in refused


@pytest.mark.parametrize("pattern", ["", "a b", "http://a", "a/b", "a:0", "a:99999", "a:b", "b\u00fccher.example", "[::1"])
def test_patterns_that_are_none(folder: Folder, pattern: str) -> None:
    refused = refusal(folder(work_conf=f"[[Host]]\nPattern = {toml_text(pattern)}\n"))
    assert refused.startswith("WorkConf.toml, line 2: Pattern: ")


@pytest.mark.parametrize("pattern", ["a.test", "*", "*.a.test", "a?.test:80", "[::1]", "[::1]:8080", "127.0.0.*"])
def test_patterns_that_are_allowed(folder: Folder, pattern: str) -> None:
    assert load(folder(work_conf=f'[[Host]]\nPattern = "{pattern}"')).work.Host[0].Pattern == pattern


@pytest.mark.parametrize("proxy", ["", "http://p:1", "https://u:p@p.test:3128/", "socks5://[::1]:1080", "env:PROXY"])
def test_proxies_that_are_allowed(proxy: str) -> None:
    assert load(None, [f"Work.Proxy={proxy}"]).work.Proxy == proxy


def test_host_tables_belong_in_one_file(folder: Folder) -> None:
    refused = refusal(folder(map_conf='[[Host]]\nPattern = "a.test"'))
    assert refused == "MapConf.toml, line 1: [[Host]]: unknown table ([[Host]] belongs in WorkConf.toml)"


def test_host_rules_are_not_for_the_command_line() -> None:
    refused = refusal(None, "Work.Host=[{Pattern='a', Credentials='a:s3cret'}]")
    assert refused == "--set Work.Host=***: Host: is not for --set (write a table [[Host]] into WorkConf.toml)"
    assert "s3cret" not in refusal(None, "Work.Proxy=ftp://a:s3cret@b")


# Properties

_texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=20)
_harmless = st.text("abc =[]{}#',.\\nHostDelay\n", max_size=30)


def _basic(text: str) -> str:
    return toml_text(text)


def _long_basic(text: str) -> str:
    return '"""\n' + text.replace("\\", "\\\\") + ' "quoted" \\"""" '


def _long_literal(text: str) -> str:
    return "'''" + text.replace("'", "") + "'''''"


_values = st.one_of(
    st.integers().map(str),
    _texts.map(_basic),
    _harmless.map(_long_basic),
    _harmless.map(_long_literal),
    st.lists(_texts.map(_basic), max_size=4).map(
        lambda items: "[" + ",".join(f"\n  # ] = [\n  {item}" for item in items) + "\n]"
    ),
    st.lists(_harmless.map(_long_literal), max_size=3).map(lambda items: "[[" + ",\n".join(items) + "], []]"),
    _texts.map(lambda text: f'{{ a = {_basic(text)}, "b]" = [1,\n2] }}'),
)
_between = st.sampled_from(["", "\n", "# HostDelay = [\n", " \t\n", '\n\n# """\n'])
_keys = st.one_of(
    st.text("abcXYZ019_-", min_size=1, max_size=8).map(lambda key: (key, key)),
    _texts.map(lambda key: (key, _basic(key))),
)


@quick
@given(
    st.lists(
        st.tuples(_keys, _values, _between, st.sampled_from(["", " # note [", "  "])),
        unique_by=lambda one: one[0][0],
        max_size=8,
    )
)
def test_statements_find_each_key_on_its_own_line(parts: list[tuple[tuple[str, str], str, str, str]]) -> None:
    text, expected = "", []
    for (key, written), value, between, after in parts:
        text += between
        expected.append(Statement(key, text.count("\n") + 1, is_table=False))
        text += f"{written} = {value}{after}\n"
    assert list(tomllib.loads(text)) == [statement.key for statement in expected]
    assert list(statements(text)) == expected
    assert list(statements(text.replace("\n", "\r\n"))) == expected
    lines = text.count("\n")
    heading = Statement("[a.b]", lines + 1, is_table=True, table=1)
    below = [
        Statement("key", lines + 2, False, 1),
        Statement("[[c]]", lines + 3, True, 2),
        Statement("key", lines + 4, False, 2),
    ]
    assert list(statements(text + " [a.b] # c\nkey = 1\n[[c]]\nkey = [\n]")) == [*expected, heading, *below]


@quick
@given(st.text("ab\"'[]{}=#\\.\n ", max_size=60))
def test_statements_agree_with_tomllib_on_whatever_it_accepts(text: str) -> None:
    found = list(statements(text))
    assert [one.line for one in found] == sorted(one.line for one in found)
    try:
        keys = list(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return
    if not any(one.is_table for one in found):
        assert list(dict.fromkeys(one.key for one in found)) == keys


def _loaded_or_refused(folder: Path | None, *overrides: str) -> Configuration | str:
    try:
        return load(folder, overrides)
    except ConfigurationError as mistake:
        return str(mistake)


def _is_valid_or_one_line(result: Configuration | str) -> bool:
    if isinstance(result, str):
        return result.isprintable()
    return msgspec.convert(msgspec.to_builtins(result), Configuration) == result


@quick
@given(st.one_of(st.binary(max_size=80), st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_file_is_loaded_or_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "WorkConf.toml").write_bytes(content)
    assert _is_valid_or_one_line(_loaded_or_refused(tmp_path))


_names = [f"{which}.{key}" for which, conf in (("Map", MapConf), ("Work", WorkConf)) for key in conf.__struct_fields__]


@quick
@given(st.sampled_from(_names), st.text(st.characters(), max_size=30))
def test_any_value_of_an_override_is_taken_or_refused_in_one_line(name: str, value: str) -> None:
    assert _is_valid_or_one_line(_loaded_or_refused(None, f"{name}={value}"))


@quick
@given(st.text(st.characters(), max_size=30))
def test_any_override_is_taken_or_refused_in_one_line(text: str) -> None:
    assert _is_valid_or_one_line(_loaded_or_refused(None, text))


@quick
@given(
    st.one_of(
        st.tuples(st.just("Work.HostDelay"), st.floats(0, 1e15)),
        st.tuples(st.just("Work.MaxBytes"), st.integers(1, 2**63 - 1)),
        st.tuples(st.just("Work.KeepLinks"), st.booleans()),
        st.tuples(st.just("Work.DownloaderClass"), _texts),
        st.tuples(st.just("Work.ListIP"), st.lists(_texts, max_size=4).map(tuple)),
    )
)
def test_what_toml_text_writes_an_override_reads(setting: tuple[str, object]) -> None:
    name, value = setting
    assert getattr(load(None, [f"{name} = {toml_text(value)}"]).work, name.removeprefix("Work.")) == value


def test_loading_leaves_heavy_libraries_alone() -> None:
    code = "import sys, parcahyd.config.loading; sys.exit(bool({'sqlalchemy', 'click', 'rich', 'pycurl'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_what_is_exported() -> None:
    assert loading.__all__ == ["Statement", "load", "seed_problem", "statements"]


def test_a_least_above_its_most_is_refused_with_both_places(folder: Folder) -> None:
    crossed = folder(work_conf="RevisitMin = 60\nRevisitMax = 30\n")
    assert refusal(crossed).startswith("WorkConf.toml, line 1 and WorkConf.toml, line 2: RevisitMin is more than RevisitMax")
    assert load(crossed, ["Work.RevisitMax=60"]).work.revisit_max == 60
    assert load(folder(work_conf="RevisitMin = 9e9\n")).work.revisit_max == 9e9
    assert load(folder(work_conf="RevisitAfter = 48\n")).work.revisit_min == 2
