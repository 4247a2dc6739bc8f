"""The lines after a run that brought nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from parcahyd.cli.run_outcome import print_outcome
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.records import SeedOutcome

NOW = 1_700_000_000.0


def _outcome(number: int, state: str, reason: str | None, detail: str = "") -> SeedOutcome:
    url = f"http://s{number}.example/"
    return SeedOutcome(
        seed=url, url=url, state=state, reason=reason, sentence="It did not work." if reason else "", detail=detail
    )


class FakeReports(Reports):
    """What a database would say of its seeds."""

    def __init__(self, outcomes: Iterable[SeedOutcome], next_due: float | None = None) -> None:
        self.outcomes = list(outcomes)
        self.due = next_due
        self.wanted: list[str] | None = None

    def seed_outcomes(self, wanted: Iterable[str] | None = None) -> Iterator[SeedOutcome]:
        self.wanted = None if wanted is None else list(wanted)
        return iter(self.outcomes)

    def next_due(self) -> float | None:
        return self.due


def test_each_seed_has_its_line_with_reason_and_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    reports = FakeReports([_outcome(1, "failed", "dns-no-name", "NXDOMAIN"), _outcome(2, "refused", "robots")])
    assert print_outcome(reports, ["http://s1.example/"], NOW, did_nothing=False, quiet=True) == 1
    remedy = "(Check the spelling of the host, and the name servers (Map.Nameservers))"
    assert capsys.readouterr().err.splitlines() == [
        f"parcahyd: http://s1.example/ could not be fetched: It did not work: NXDOMAIN {remedy}",
        "parcahyd: http://s2.example/ could not be fetched: It did not work.",
    ]
    assert reports.wanted == ["http://s1.example/"]


def test_of_many_seeds_ten_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    reports = FakeReports(_outcome(number, "gone", "missing") for number in range(13))
    assert print_outcome(reports, [], NOW, did_nothing=False, quiet=False) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[-1] == "parcahyd: 3 more seeds could not be fetched"
    assert reports.wanted is None


@pytest.mark.parametrize("state", ["stored", "known"])
def test_one_that_was_fetched_or_is_still_to_be_is_no_failure(state: str, capsys: pytest.CaptureFixture[str]) -> None:
    reports = FakeReports([_outcome(1, "failed", "connect"), _outcome(2, state, None)])
    assert print_outcome(reports, [], NOW, did_nothing=False, quiet=False) == 0
    assert capsys.readouterr().err == ""


def test_nothing_is_due(capsys: pytest.CaptureFixture[str]) -> None:
    stored = [_outcome(1, "stored", None)]
    assert print_outcome(FakeReports(stored, NOW + 3600), [], NOW, did_nothing=True, quiet=False) == 0
    line = "parcahyd: nothing is due before 2023-11-14 23:13:20Z (in 1 h); --refresh asks again now\n"
    assert capsys.readouterr().err == line
    assert print_outcome(FakeReports(stored), [], NOW, did_nothing=True, quiet=False) == 0
    assert capsys.readouterr().err == "parcahyd: nothing is due, and nothing will be before a seed or a setting is changed\n"
    assert print_outcome(FakeReports(stored, NOW + 3600), [], NOW, did_nothing=True, quiet=True) == 0
    assert capsys.readouterr().err == ""
