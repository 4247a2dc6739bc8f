"""What the next run takes over, what it tells, and what it has the user repeat."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest

from parcahyd.config.explaining import Conf, declared
from parcahyd.config.loading import load
from parcahyd.config.remembered import GIVEN, given, recorded, take_over
from parcahyd.config.schema import Configuration, HostRule, MapConf, WorkConf
from parcahyd.core.errors import ConfigurationError, UserError
from tests.config.refusals import Folder

CONFS: tuple[Conf, ...] = ("Map", "Work")
OWNERS = {"crawl", "user", "run", "apart"}

# A database from others must not become code, a file, a permission or a name. Whoever adds a setting of that kind adds it here.
NEVER_TAKEN = {
    *("Map.DnsResolverClass", "Map.PluginDir", "Map.HostsFile", "Map.AllowAddresses", "Map.Nameservers", "Map.ListIP"),
    *("Map.LocalInstance", "Work.DownloaderClass", "Work.Proxy", "Work.Cookies", "Work.UserAgent", "Work.Directives"),
    *("Work.LocalInstance", "Work.ListIP", "Work.CaFile", "Work.Registries", "Work.Topics", "Work.RobotsTtl"),
    *("Work.RobotsPatience", "Work.Host"),
}


def _record(configuration: Configuration) -> dict[str, Any]:
    """As a run's row has it."""
    record: dict[str, Any] = msgspec.json.decode(msgspec.json.encode({**recorded(configuration), GIVEN: given(configuration)}))
    return record


def _after(*overrides: str) -> dict[str, Any]:
    return _record(load(None, overrides))


# Whose setting it is


@pytest.mark.parametrize("which", CONFS)
def test_every_setting_says_whose_it_is(which: Conf) -> None:
    for setting in declared(which).values():
        assert setting.belongs_to in OWNERS, f"{which}.{setting.key}: write _CRAWL, _USER, _RUN or _APART beside its type"


def test_what_is_never_taken_from_a_database() -> None:
    users = {f"{which}.{key}" for which in CONFS for key, one in declared(which).items() if one.belongs_to == "user"}
    assert users == NEVER_TAKEN


def test_no_setting_of_mappers_is_taken_over() -> None:
    """The resolver is made while the database is opened."""
    assert all(setting.belongs_to != "crawl" for setting in declared("Map").values())


def test_what_a_run_needs_before_the_database_is_open_is_not_taken_over() -> None:
    assert {declared("Work")[key].belongs_to for key in ("MaxInstances", "BufferBytes", "VisitPages")} == {"run"}


# What is taken over


def test_what_was_given_is_taken_over_and_told() -> None:
    last = _after("Work.HostDelay=5", "Work.Scope=any", "Work.MaxPages=100", "Work.Order=fair", 'Work.Exclude=["*/private/*"]')
    agreed = take_over(load(None), last)
    work = agreed.configuration.work
    assert (work.HostDelay, work.Scope, work.MaxPages, work.Order) == (5.0, "any", 100, "fair")
    assert work.Exclude == ("*/private/*",)
    assert agreed.told == (
        'Work.Order = "fair", as in the last run',
        'Work.Scope = "any", as in the last run',
        'Work.Exclude = ["*/private/*"], as in the last run',
        "Work.MaxPages = 100, as in the last run",
        "Work.HostDelay = 5.0, as in the last run",
    )
    assert agreed.configuration.sources["Work.HostDelay"] == "last run: --set"


def test_it_is_taken_over_again_and_again() -> None:
    last = _after("Work.HostDelay=5")
    for _ in range(3):
        agreed = take_over(load(None), last)
        assert agreed.told == ("Work.HostDelay = 5.0, as in the last run",)
        last = _record(agreed.configuration)
        assert last[GIVEN] == {"Work.HostDelay": "--set"}


def test_the_first_run_takes_over_nothing() -> None:
    configuration = load(None, ["Work.HostDelay=5"])
    agreed = take_over(configuration, None)
    assert agreed.configuration is configuration
    assert agreed.told == ()


def test_the_same_settings_are_not_told() -> None:
    overrides = ["Work.HostDelay=5", 'Map.AllowAddresses=["127.0.0.0/8"]', "Work.MaxInstances=1"]
    configuration = load(None, overrides)
    agreed = take_over(configuration, _after(*overrides))
    assert agreed.configuration is configuration
    assert agreed.told == ()


def test_a_default_that_another_version_had_is_not_taken_over() -> None:
    last = {**_after(), "Work.UserAgent": "parcahyd/0.0.1", "Work.MaxTries": 99}
    assert take_over(load(None), last).told == ()


@pytest.mark.parametrize("last", [{}, {"Work.HostDelay": 9.0}, {"Work.HostDelay": 9.0, GIVEN: ["Work.HostDelay"]}])
def test_a_record_that_does_not_say_what_was_given_gives_nothing(last: dict[str, Any]) -> None:
    assert take_over(load(None), last).told == ()


# What this run is given


def test_the_command_line_wins_and_the_change_is_told() -> None:
    agreed = take_over(load(None, ["Work.HostDelay=2", "Work.MaxDepth="]), _after("Work.HostDelay=5", "Work.MaxDepth=3"))
    assert (agreed.configuration.work.HostDelay, agreed.configuration.work.MaxDepth) == (2.0, None)
    assert agreed.told == ("Work.MaxDepth: was 3 -> is unset", "Work.HostDelay: was 5.0 -> is 2.0")


def test_a_file_wins_over_what_is_remembered(folder: Folder) -> None:
    agreed = take_over(load(folder(work_conf="HostDelay = 2\n")), _after("Work.HostDelay=5", "Work.MaxDepth=3"))
    assert (agreed.configuration.work.HostDelay, agreed.configuration.work.MaxDepth) == (2.0, 3)
    assert agreed.told == ("Work.MaxDepth = 3, as in the last run", "Work.HostDelay: was 5.0 -> is 2.0")


def test_what_was_taken_out_of_a_file_is_gone_and_told(folder: Folder) -> None:
    last = _record(load(folder(work_conf="HostDelay = 5\nMaxDepth = 3\n")))
    agreed = take_over(load(folder(work_conf="MaxDepth = 3\n")), last)
    assert agreed.configuration.work.HostDelay == 1.0
    assert agreed.told == ("Work.HostDelay: was 5.0 -> is 1.0",)
    # Without the folder nobody took it out.
    assert take_over(load(None), last).configuration.work.HostDelay == 5.0


def test_a_new_setting_is_told() -> None:
    told = take_over(load(None, ["Work.Scope=any", "Work.DownloaderClass=requests"]), _after()).told
    assert told == ('Work.DownloaderClass: was "curl" -> is "requests"', 'Work.Scope: was "site" -> is "any"')


def test_a_setting_of_one_run_on_one_machine_is_told_and_not_taken_over() -> None:
    agreed = take_over(load(None), _after("Work.MaxInstances=1", "Map.DnsTimeout=1"))
    assert agreed.configuration.work.MaxInstances == 0
    assert agreed.told == ("Map.DnsTimeout: was 1.0 -> is 5.0", "Work.MaxInstances: was 1 -> is 0")


def test_seeds_are_in_the_database_and_not_compared() -> None:
    assert take_over(load(None), _after('Work.Seeds=["http://a.example/"]')).told == ()


# What has to be repeated

REPEATED = [
    ('Map.AllowAddresses=["127.0.0.0/8", "::1/128"]', True),
    ("Map.DnsResolverClass=system", True),
    ('Map.Nameservers=["192.0.2.1"]', True),
    ("Work.DownloaderClass=mine:Downloader", True),
    ("Work.Order=mine.orders:Best", True),
    ("Work.Order=mine.Best", True),
    ("Work.Partition=mine.strategies:Best", True),
    ("Work.Cookies=true", True),
    ("Work.UserAgent=it's me (+https://example.org/)", True),
    ("Work.Directives=[]", True),
    ("Work.Proxy=http://proxy.example:3128", True),
    ("Work.Proxy=env:MY_PROXY", True),
    ("Work.Proxy=http://me:s3cret@proxy.example:3128", False),
    ("Work.CaFile=/etc/mine.pem", True),
    ("Map.HostsFile=/etc/my-hosts", True),
    ("Work.RobotsTtl=1000000", True),
]


@pytest.mark.parametrize(("override", "printed"), REPEATED, ids=[row[0] for row in REPEATED])
def test_what_is_the_users_own_stops_the_run_and_can_be_pasted(override: str, printed: bool) -> None:
    last = _after(override, "Work.HostDelay=5")
    with pytest.raises(UserError) as refused:
        take_over(load(None), last)
    name = override.partition("=")[0]
    assert refused.value.message == f"the last run was given {name}, which no run takes from a database"
    assert "s3cret" not in str(refused.value)
    assert refused.value.remedy.endswith("or go on without: --as-configured")
    if not printed:
        assert refused.value.remedy.startswith(f"give {name} again; ")
        return
    pasted = refused.value.remedy.partition("repeat ")[2].rpartition("; or go on")[0]
    option, text = shlex.split(pasted)
    assert option == "--set"
    assert take_over(load(None, [text]), last).told == ("Work.HostDelay = 5.0, as in the last run",)


def test_several_are_pasted_together_and_secrets_are_named() -> None:
    rule = HostRule(Pattern="a.example", Credentials="me:s3cret", IgnoreRobots=True)
    work = WorkConf(Proxy="http://me:s3cret@p.example:1", Cookies=True, Host=(rule,))
    last = _record(Configuration(MapConf(AllowAddresses=("10.0.0.0/8",)), work))
    assert "s3cret" not in str(last)
    with pytest.raises(UserError) as refused:
        take_over(load(None), last)
    assert str(refused.value) == (
        "the last run was given Map.AllowAddresses, Work.Proxy, Work.Cookies, Work.Host, which no run takes from a database "
        "(repeat --set 'Map.AllowAddresses=[\"10.0.0.0/8\"]' --set Work.Cookies=true; give Work.Proxy again; "
        "name the folder with the [[Host]] tables: --conf DIR; or go on without: --as-configured)"
    )


def test_host_rules_are_one_whole(folder: Folder) -> None:
    first = '[[Host]]\nPattern = "a.example"\nDelay = 9\n'
    last = _record(load(folder(work_conf=first)))
    second = load(folder(work_conf=first.replace("9", "3")))
    (line,) = take_over(second, last).told
    assert line.startswith('Work.Host: was [{"Pattern" = "a.example", "Delay" = 9.0}] -> is [{')
    assert take_over(load(folder(work_conf=first)), last).told == ()
    with pytest.raises(UserError, match=r"Work\.Host.*--conf DIR"):
        take_over(load(folder(work_conf="")), last)


def test_as_configured_goes_on_without_them_and_keeps_the_rest() -> None:
    last = _after('Map.AllowAddresses=["127.0.0.0/8"]', "Work.Proxy=http://me:s3cret@p:1", "Work.Scope=any")
    agreed = take_over(load(None), last, as_configured=True)
    assert (agreed.configuration.map.AllowAddresses, agreed.configuration.work.Proxy) == ((), "")
    assert agreed.configuration.work.Scope == "any"
    assert agreed.told == (
        'Map.AllowAddresses: was ["127.0.0.0/8"] -> is []',
        'Work.Proxy: was "http://me:***@p:1" -> is ""',
        'Work.Scope = "any", as in the last run',
    )
    assert given(agreed.configuration) == {"Work.Scope": "--set"}, "the next run does not ask again"


def test_a_plugin_folder_is_compared_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Folder) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    last = _record(load(folder(map_conf='PluginDir = "mine"\n')))
    monkeypatch.chdir(elsewhere)
    with pytest.raises(UserError, match=f"repeat --set 'Map.PluginDir=\"{tmp_path / 'mine'}\"'; or"):
        take_over(load(None), last)
    assert take_over(load(None, ["Map.PluginDir=../mine"]), last).told == ()


def test_without_a_folder_an_empty_plugin_folder_was_not_given() -> None:
    assert given(load(None)) == {}


# A database from others


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("Work.HostDelay", "slow", "HostDelay: expected a number"),
        ("Work.HostDelay", -1, "HostDelay: expected a number"),
        ("Work.Scope", "everything", "Scope: expected one of"),
        ("Work.MaxPages", [1], "MaxPages: expected a whole number"),
        ("Work.Include", ["re:("], "is not a regular expression"),
        ("Work.Order", 5, "Order: expected text"),
    ],
)
def test_a_value_that_no_file_could_have_is_refused(name: str, value: object, words: str) -> None:
    last = {**_after(), name: value, GIVEN: {name: "--set"}}
    with pytest.raises(ConfigurationError) as refused:
        take_over(load(None), last)
    assert refused.value.message.startswith("the settings of the last run: ")
    assert words in refused.value.message
    assert refused.value.remedy == f"give it anew: --set {name}=VALUE"


def test_keys_that_are_not_known_here_are_passed_over() -> None:
    last = {**_after(), "Work.Later": 5, "Work.__init__": 5, GIVEN: {"Work.Later": "--set", "Work.__init__": "--set"}}
    assert take_over(load(None), last).told == ()


def test_what_is_printed_to_be_pasted_cannot_leave_its_quotes_or_its_line() -> None:
    value = ["'; touch /tmp/x; '\n\x1b[2J\u202e$(touch x)"]
    last = {**_after(), "Map.AllowAddresses": value, GIVEN: {"Map.AllowAddresses": "--set"}}
    with pytest.raises(UserError) as refused:
        take_over(load(None), last)
    text = str(refused.value)
    assert text.isprintable()
    words = shlex.split(refused.value.remedy.partition("repeat ")[2].rpartition("; or go on")[0])
    assert len(words) == 2
    assert words[1].startswith("Map.AllowAddresses=")


def test_what_is_too_long_to_be_read_is_named() -> None:
    last = {**_after(), "Map.AllowAddresses": ["10.0.0.0/8"] * 1000, GIVEN: {"Map.AllowAddresses": "--set"}}
    with pytest.raises(UserError, match=r"\(give Map\.AllowAddresses again; or go on without: --as-configured\)"):
        take_over(load(None), last)


def test_a_minimum_above_its_maximum_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="RevisitMin is more than RevisitMax"):
        take_over(load(None, ["Work.RevisitMax=5"]), _after("Work.RevisitMin=9"))


# A program's own configuration


def test_a_program_gives_what_differs_from_the_defaults() -> None:
    last = _record(Configuration(MapConf(), WorkConf(HostDelay=5.0)))
    assert last[GIVEN] == {"Work.HostDelay": "program"}
    agreed = take_over(Configuration(MapConf(), WorkConf(MaxDepth=2)), last)
    assert (agreed.configuration.work.HostDelay, agreed.configuration.work.MaxDepth) == (5.0, 2)
