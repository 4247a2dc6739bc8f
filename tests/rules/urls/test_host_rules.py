from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.config.schema import HostRule, WorkConf
from parcahyd.core.errors import ConfigurationError
from parcahyd.core.ports import GENERAL, RequestOptions
from parcahyd.rules.urls import host_rules
from parcahyd.rules.urls.host_rules import HostRules, without_secrets


def test_without_rules_the_general_settings_count() -> None:
    rules = HostRules(WorkConf(HostDelay=3.0, HostConnections=2, UserAgent="bot/1"), {})
    settings = rules.of("example.org", 80)
    assert (settings.delay, settings.connections, settings.user_agent) == (3.0, 2, "bot/1")
    assert settings.headers == (("User-Agent", "bot/1"), ("Accept", "*/*"))
    assert settings.options is GENERAL
    assert rules.of("other.test", 443) is settings


def test_the_bytes_a_second_of_a_host() -> None:
    rules = HostRules(WorkConf(MaxHostRate=16_000, Host=(HostRule(Pattern="a.*", MaxRate=0), HostRule(Pattern="b.*"))), {})
    assert [rules.of(host, 80).max_rate for host in ("a.test", "b.test", "c.test")] == [0, 16_000, 16_000]


def test_the_general_options_are_those_of_the_file() -> None:
    settings = HostRules(WorkConf(Proxy="env:P", Cookies=True, Http2=False), {"P": "http://p.test:1"}).of("a.test", 80)
    assert settings.options == RequestOptions(proxy="http://p.test:1", cookies=True, http2=False)


def test_the_first_rule_that_fits_counts_alone() -> None:
    work = WorkConf(
        Cookies=True,
        Proxy="http://p.test:1",
        Host=(
            HostRule(Pattern="www.example.org", Delay=0.0, Cookies=False, Proxy=""),
            HostRule(Pattern="*.example.org", Connections=4, VerifyTls=False, UserAgent="other/2"),
            HostRule(Pattern="*", Http2=False),
        ),
    )
    rules = HostRules(work, {})
    first = rules.of("www.example.org", 443)
    assert (first.delay, first.connections, first.options) == (0.0, 1, GENERAL)
    assert first.options is GENERAL
    second = rules.of("a.b.example.org", 443)
    assert (second.delay, second.connections, second.user_agent) == (1.0, 4, "other/2")
    assert second.options == RequestOptions(proxy="http://p.test:1", cookies=True, verify_tls=False)
    assert second.headers[0] == ("User-Agent", "other/2")
    assert rules.of("example.org", 443).options.http2 is False
    assert rules.of("a.example.org", 443) is second


def test_secrets_come_from_the_environment() -> None:
    rule = HostRule(
        Pattern="a.test",
        Credentials="env:LOGIN",
        Authentication="digest",
        Headers={"accept": "text/html", "X-Key": "env:KEY"},
    )
    settings = HostRules(WorkConf(Host=(rule,)), {"LOGIN": "u:s3cret", "KEY": "k"}).of("a.test", 80)
    assert settings.options == RequestOptions(credentials="u:s3cret", authentication="digest")
    assert settings.headers[1:] == (("accept", "text/html"), ("X-Key", "k"))
    assert "s3cret" not in repr(settings)
    with pytest.raises(ConfigurationError, match=r'"a\.test": Credentials: the environment variable "LOGIN" is not set'):
        HostRules(WorkConf(Host=(rule,)), {"KEY": "k"})


@pytest.mark.parametrize("held", ["socks5h://p.test:1", "p.test:1", "s3cret"])
def test_a_variable_that_holds_no_proxy_is_refused_without_telling_it(held: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^Proxy: is not a proxy") as caught:
        HostRules(WorkConf(Proxy="env:P"), {"P": held})
    assert held not in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "host", "port", "fits"),
    [
        ("example.org", "example.org", 80, True),
        ("EXAMPLE.org", "example.org", 80, True),
        ("example.org", "www.example.org", 80, False),
        ("*.example.org", "www.example.org", 80, True),
        ("*.example.org", "example.org", 80, False),
        ("*.example.org", "badexample.org", 80, False),
        ("example.org:8080", "example.org", 8080, True),
        ("example.org:8080", "example.org", 80, False),
        ("www?.example.org", "www1.example.org", 80, True),
        ("www?.example.org", "www.example.org", 80, False),
        ("[::1]", "[::1]", 80, True),
        ("[::1]:8080", "[::1]", 80, False),
        ("[::1]:8080", "[::1]", 8080, True),
        ("127.0.0.*", "127.0.0.9", 80, True),
        ("*a*b*", "xxaxxbxx", 80, True),
        ("*ab*ba*", "aba", 80, False),
    ],
)
def test_patterns(pattern: str, host: str, port: int, fits: bool) -> None:
    rules = HostRules(WorkConf(Host=(HostRule(Pattern=pattern, Delay=9.0),)), {})
    assert (rules.of(host, port).delay == 9.0) is fits


@given(st.text("ab*?.", min_size=1, max_size=12), st.text("ab.", max_size=16))
def test_patterns_mean_what_the_shell_means(pattern: str, host: str) -> None:
    assert host_rules._matcher(pattern)(host, 80) == fnmatch.fnmatchcase(host, pattern)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_rules, "_MOST_KNOWN", 10)
    rules = HostRules(WorkConf(Host=(HostRule(Pattern="*", Delay=9.0),)), {})
    for number in range(100):
        assert rules.of(f"{number}.test", 80).delay == 9.0
    assert len(rules._known) <= 10


def test_without_secrets_nothing_is_left_that_a_login_needs() -> None:
    rule = HostRule(
        Pattern="*", Headers={"Cookie": "a=1", "X-Key": "k"}, Credentials="u:p", Authentication="digest", Cookies=True
    )
    settings = HostRules(WorkConf(Host=(rule,), UserAgent="bot/1"), {}).of("host", 80)
    bare = without_secrets(settings)
    assert bare.headers == (("User-Agent", "bot/1"), ("Accept", "*/*"))
    assert bare.options is GENERAL
    assert without_secrets(HostRules(WorkConf(Proxy="http://p:1"), {}).of("host", 80)).options.proxy == "http://p:1"
