"""Rules of hosts: the tables `[[Host]]`, which `HostTables` of `config/checking.py` checks."""

from __future__ import annotations

import pytest

from parcahyd.config.explaining import toml_text
from parcahyd.config.loading import load
from parcahyd.config.schema import HostRule
from tests.config.refusals import Folder, refusal


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
    ("line", "message"),
    [
        ("Delai = 1", "Delai: unknown key in [[Host]] (did you mean Delay?)"),
        (
            "HostDelay = 1",
            "HostDelay: unknown key in [[Host]] (a key of the whole file stands above the first [[Host]]; did you",
        ),
        ("KeepVersions = 1", "KeepVersions: unknown key in [[Host]] (a key of the whole file stands above the first [[Host]])"),
        ("Nonsense = 1", "Nonsense: unknown key in [[Host]] ([[Host]] has Pattern, Delay, "),
        ('Delay = "slow"', 'Delay: expected a number from 0 to 1000000000, got "slow"'),
        ("Delay = slow", "Delay: not valid TOML: Invalid value (expected a number from 0 to 1000000000)"),
        ("Pattern = 'x'", "Pattern: given twice, first in line 4"),
        ("MaxRate = -1", "MaxRate: expected a whole number of at least 0, got -1"),
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
def test_an_error_in_a_host_table_is_reported_with_its_line(folder: Folder, line: str, message: str) -> None:
    refused = refusal(folder(work_conf=f"KeepVersions = 3\n\n[[Host]]\nPattern = 'a.test'\n{line}\n"))
    if line != "[Host]":  # It is not even TOML, and is reported as such.
        assert message in refused
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


@pytest.mark.parametrize("pattern", ["*", "*.org", "example.*", "www?.example.org", "**.example.org", "?"])
def test_robots_txt_is_not_ignored_for_hosts_of_others(folder: Folder, pattern: str) -> None:
    text = f'[[Host]]\nPattern = "{pattern}"\nIgnoreRobots = true\n'
    message = refusal(folder(work_conf=text))
    assert f'IgnoreRobots: "{pattern}" fits hosts of other people' in message
    assert 'name hosts of your own, as "example.org" or "*.example.org"' in message


@pytest.mark.parametrize("pattern", ["example.org", "*.example.org", "localhost:8080", "127.0.0.1"])
def test_robots_txt_may_be_ignored_for_hosts_that_are_named(folder: Folder, pattern: str) -> None:
    text = f'[[Host]]\nPattern = "{pattern}"\nIgnoreRobots = true\n'
    assert load(folder(work_conf=text)).work.Host == (HostRule(Pattern=pattern, IgnoreRobots=True),)
