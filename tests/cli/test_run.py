from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import msgspec
import pytest

from parcahyd.cli import main
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import CrawlBusy
from parcahyd.core.progress import Observer, Progress, RunSummary

from .conftest import Crawl

SEED = "http://a.example/"
SNAPSHOT = Progress(9.0, 4, 0, 0, 0, 0, 100, {}, 1.0, 0, 0, 0, 0, 0, ())
SUMMARY = RunSummary("interrupted", 9.5, 5, 4, 0, 0, 0, 0, 100, {}, {"known": 3}, None)


class FakeTopology:
    """Stands for `parcahyd.topology.crawl`: remembers what it was asked and tells of a run of nine seconds."""

    def __init__(self, code: int = 0, mistake: Exception | None = None) -> None:
        self.code = code
        self.mistake = mistake
        self.asked: list[tuple[Configuration, tuple[str, ...], bool]] = []
        self.settings: tuple[str, ...] = ()
        self.snapshot = SNAPSHOT
        self.as_configured = False

    def __call__(
        self,
        configuration: Configuration,
        seeds: Sequence[str],
        *,
        forever: bool,
        observer: Observer,
        as_configured: bool,
        told: Callable[[str], None] | None,
    ) -> int:
        self.asked.append((configuration, tuple(seeds), forever))
        self.as_configured = as_configured
        if told is not None:
            for line in self.settings:
                told(line)
        if self.mistake is not None:
            raise self.mistake
        observer.progress(self.snapshot)
        observer.finished(SUMMARY)
        return self.code


@pytest.fixture
def topology(monkeypatch: pytest.MonkeyPatch) -> FakeTopology:
    fake = FakeTopology()
    monkeypatch.setattr("parcahyd.topology.crawl", fake)
    return fake


def test_the_real_program_ends_with_a_summary(crawl: Crawl) -> None:
    summary = json.loads(crawl.output.splitlines()[-1])
    assert (summary["event"], summary["outcome"]) == ("summary", "done")
    assert (summary["stored"], summary["refused"], summary["gone"], summary["failed"]) == (20, 1, 1, 0)
    assert summary["reasons"] == {"robots": 1, "missing": 1}


def test_seeds_and_settings_are_handed_on(topology: FakeTopology, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["run", "--forever", "--set", "Work.MaxPages=5", "--seed", "http://b.example/", SEED]) == 0
    ((configuration, given, forever),) = topology.asked
    assert given == (SEED, "http://b.example/")
    assert forever
    assert configuration.work.MaxPages == 5
    lines = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["progress", "summary"]


def test_the_exit_code_is_the_runs(topology: FakeTopology, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    topology.code = 130
    assert main(["run", SEED, "--interval", "60"]) == 130
    (line,) = capfdbinary.readouterr().out.splitlines()
    assert json.loads(line)["outcome"] == "interrupted"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nan", "'nan' is not a valid number of seconds"),
        ("soon", "'soon' is not a valid number of seconds"),
        ("inf", "inf is not in the range 0<=x<=1000000000"),
        ("-1", "-1.0 is not in the range 0<=x<=1000000000"),
    ],
)
def test_an_interval_that_is_none_is_one_line(
    topology: FakeTopology, capfdbinary: pytest.CaptureFixture[bytes], given: str, message: str
) -> None:
    assert main(["run", SEED, "--interval", given]) == 2
    line = f"parcahyd: invalid value for '--interval': {message} (see parcahyd run --help)\n"
    assert capfdbinary.readouterr() == (b"", line.encode())
    assert topology.asked == []


def test_an_interval_of_nothing_tells_everything(topology: FakeTopology, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["run", SEED, "--interval", "0"]) == 0
    lines = [json.loads(line)["event"] for line in capfdbinary.readouterr().out.splitlines()]
    assert lines == ["progress", "summary"]


def test_a_run_of_ten_seconds_says_how_far_the_crawl_has_come(
    topology: FakeTopology, crawl: Crawl, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for seconds in (9.0, 10.0):
        topology.snapshot = msgspec.structs.replace(SNAPSHOT, seconds=seconds)
        assert main(crawl.arguments("run", "--interval", "0")) == 0
    told = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    ends = [line["in_the_end"] for line in told if line["event"] == "progress"]
    assert ends == [None, {"pages": 19, "least": 19, "likely": 19, "most": 19}]


def test_quiet_says_nothing(topology: FakeTopology, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["run", SEED, "--quiet"]) == 0
    assert capfdbinary.readouterr() == (b"", b"")


def test_settings_of_the_last_run_have_a_line_each_on_standard_error(
    topology: FakeTopology, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    topology.settings = ("Work.HostDelay = 5.0, as in the last run", 'Work.Scope: was "any" -> is "a\nb"')
    assert main(["run", SEED, "--as-configured"]) == 0
    assert topology.as_configured
    out, err = capfdbinary.readouterr()
    assert b"last run" not in out
    first, second = err.splitlines()
    assert first == b"parcahyd: Work.HostDelay = 5.0, as in the last run"
    assert second.startswith(b'parcahyd: Work.Scope: was "any" -> is "a')
    assert main(["run", SEED, "--quiet"]) == 0
    assert not topology.as_configured
    assert capfdbinary.readouterr() == (b"", b"")


def test_a_busy_crawl_is_one_line(topology: FakeTopology, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    topology.mistake = CrawlBusy("another run is working on this database", "wait for it")
    assert main(["run", SEED]) == 2
    assert capfdbinary.readouterr() == (b"", b"parcahyd: another run is working on this database (wait for it)\n")


def test_certificate_authorities_that_cannot_be_read_are_one_line(
    topology: FakeTopology, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["run", SEED, "--set", "Work.CaFile=/nowhere.pem"]) == 2
    out, err = capfdbinary.readouterr()
    assert (out, err.count(b"\n")) == (b"", 1)
    assert err.startswith(b'parcahyd: CaFile "/nowhere.pem" cannot be read (')
    assert topology.asked == []
