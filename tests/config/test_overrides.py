"""Settings of the command line, `--set`: read by `config/loading.py`, checked by `config/checking.py`."""

from __future__ import annotations

import pytest

from parcahyd.config.loading import load
from parcahyd.config.schema import WorkConf
from tests.config.refusals import Folder, refusal


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
        ("Work.MaxBytes=0x10", "MaxBytes", 16),
        ("Work.HostDelay=-0.0", "HostDelay", 0.0),
        ('Work.UserAgent="\\u0041"', "UserAgent", "A"),
        ("Work.UserAgent=null", "UserAgent", "null"),
        ("Work.UserAgent=" + "[" * 3000, "UserAgent", "[" * 3000),
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
    ("override", "message"),
    [
        ("Work.HostDely=0", "--set Work.HostDely=0: HostDely: unknown key (did you mean HostDelay?)"),
        ("Map.HostDelay=0", "HostDelay: belongs in WorkConf.toml, not in MapConf.toml (write Work.HostDelay=...)"),
        ("HostDelay=0", "--set HostDelay=0: not of the form Map.KEY or Work.KEY (did you mean Work.HostDelay?)"),
        ("ListIP=[]", "--set ListIP=[]: not of the form Map.KEY or Work.KEY (did you mean Map.ListIP or Work.ListIP?)"),
        ("wrok.HostDelay=0", '--set wrok.HostDelay=0: "wrok" is neither Map nor Work (did you mean Work.HostDelay?)'),
        ("Work.HostDelay", "--set Work.HostDelay: no value (write Map.KEY=VALUE or Work.KEY=VALUE)"),
        ("Work.HostDelay=", '--set Work.HostDelay=: HostDelay: expected a number from 0 to 1000000000, got ""'),
        ("Work.HostDelay=slow", '--set Work.HostDelay=slow: HostDelay: expected a number from 0 to 1000000000, got "slow"'),
        ("Work.HostDelay=0\nMaxTries=1", '--set Work.HostDelay=0\\u000AMaxTries=1: HostDelay: expected a number'),
        ("Work.HostDelay=null", '--set Work.HostDelay=null: HostDelay: expected a number from 0 to 1000000000, got "null"'),
        ("Work.HostDelay=inf", "HostDelay: expected a number from 0 to 1000000000, got inf"),
        ("Work.MaxPages=-1", "MaxPages: expected a whole number of at least 0"),
        ("Work.MaxPagesPerSite=-1", "MaxPagesPerSite: expected a whole number of at least 0, got -1"),
        ("Work.MaxSeconds=-1", "MaxSeconds: expected a number from 0 to 1000000000, got -1"),
        ("Work.MaxRate=-1", "MaxRate: expected a whole number of at least 0, got -1"),
        ("Work.MaxHostRate=0.5", "MaxHostRate: expected a whole number of at least 0, got 0.5"),
        ("Work.MaxTries=" + "[" * 3000 + "]" * 3000, "MaxTries: expected a whole number of at least 1, got "),
        ('Work.Seeds={"a" = 1}', "Seeds: expected a list of texts, got {"),
        ("Work.Embedded=True", '--set Work.Embedded=True: Embedded: expected true or false, got "True"'),
        ('Work.UserAgent="bot', '--set Work.UserAgent="bot: UserAgent: the quotes do not close'),
        ("Map.AllowAddresses=[10.0.0.0/8]", "(write --set 'Map.AllowAddresses=[\"A\", \"B\"]')"),
        ("Map.LocalInstance=no", 'LocalInstance: expected true or false, got "no"'),
        ("Work.Scope=5", 'Scope: expected one of "any", "domain", "site", got "5"'),
        ("Work.MaxTries=\udcff", 'MaxTries: expected a whole number of at least 1, got "\\uDCFF"'),
        ("Work.CaFile=\udcff", "CaFile: has a control character in it"),
        ("", "--set : no value"),
        ("=", "--set =: not of the form"),
        ("Work.=1", "--set Work.=1: not of the form"),
        (".HostDelay=1", '"" is neither Map nor Work (did you mean Work.HostDelay?)'),
    ],
)  # fmt: skip
def test_an_override_that_is_wrong_is_reported_as_it_was_written(override: str, message: str) -> None:
    assert message in refusal(None, override)


@pytest.mark.parametrize(
    "override", ["Work.DbPasword=s3cret", "DbPassword=s3cret", "Work.DbUrl=mysql://u:s3cret@h/", 'Map.DbPassword="s3cret']
)
def test_a_wrong_override_tells_no_password(override: str) -> None:
    assert "s3cret" not in refusal(None, override)
