"""The experiment: what is counted, who is asked, and that each method does what it says on a world that can be counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.lab.latencies import RoundTrip, Site, World, read_world, synthetic_world
from parcahyd.lab.locate import Experiment, Split, evaluate, known_cities, unknown_cities
from parcahyd.lab.locate_methods import Choice, Location, NearestLandmark, PaperSteps, Probe, RandomChoice, Ranking
from parcahyd.lab.locate_tables import known_tables, settings_table, unknown_table
from parcahyd.partition.locations.hierarchy import build_hierarchy

SHARED = Path(__file__).parents[3] / "shared" / "data" / "lab"


def made(draws: int = 1, crawlers: int = 4, first: int = 650) -> Experiment:
    return Experiment(synthetic_world(1), "c", 1, draws, crawlers, first)


def small() -> Experiment:
    """Few sites, so that all tables take a second."""
    world = synthetic_world(1)
    return Experiment(World(world.machines, world.sites[:80], world.round_trips, world.hierarchy), "c", 1, 1, 3, 60)


class Fixed:
    """Probes some crawlers and takes another one."""

    def __init__(self, probes: int, crawler: int) -> None:
        self.known = 0
        self.learnt: list[int] = []
        self._probes = probes
        self._crawler = crawler

    def begin(self, sites: object) -> None:
        self.known = len(list(sites))  # type: ignore[call-overload]

    def choose(self, address: str, probe: Probe) -> Choice:  # noqa: ARG002 - the signature of all
        for crawler in range(self._probes):
            probe(crawler)
        return Choice(self._crawler, "fixed")

    def learn(self, address: str, crawler: int) -> None:  # noqa: ARG002 - the signature of all
        self.learnt.append(crawler)


def test_probes_and_losses_are_counted_by_the_recorded_means() -> None:
    trips = {(machine, city): RoundTrip(0.001, 0.010 * (1 + abs(machine - city))) for machine in (0, 1) for city in (0, 1, 2)}
    sites = tuple(Site(f"9.0.{number}.1", number % 3) for number in range(9))
    experiment = Experiment(World((0, 1), sites, trips, build_hierarchy([])), "c", 1, 1, 2, 3)
    split = Split(0, (0, 1), sites[:3], sites[3:])
    method = Fixed(2, 0)
    outcome = evaluate(experiment, [split], lambda _: method)
    assert method.known == 3
    assert method.learnt == [0] * 6
    assert outcome.optimal == [pytest.approx(1 / 3)]
    assert outcome.probes == outcome.last_probes == [2.0]
    assert outcome.losses == [pytest.approx(0.01)] * 4
    assert outcome.steps == {"fixed": 6}
    assert outcome.optimal_steps == {"fixed": 2}


def test_sites_that_a_crawler_did_not_measure_are_left_out() -> None:
    experiment = made()
    world = experiment.world
    gone = {pair: trip for pair, trip in world.round_trips.items() if pair[1] != 7}
    poorer = Experiment(World(world.machines, world.sites, gone, world.hierarchy), "c", 1, 1, 4, 650)
    (split,) = known_cities(poorer)
    assert 7 not in {site.city for site in (*split.known, *split.asked)}
    assert len(split.known) + len(split.asked) == sum(site.city != 7 for site in world.sites)
    with pytest.raises(UserError, match="places for 200 crawlers"):
        list(known_cities(Experiment(world, "c", 1, 1, 200, 650)))


def test_sites_that_are_asked_about_are_never_those_that_initialise() -> None:
    for known in (known_cities(made(3)), unknown_cities(made(3))):
        for split in known:
            assert len(split.asked) >= 350
            assert not set(split.asked) & set(split.known)
    for split in unknown_cities(made(3)):
        assert not {site.city for site in split.asked} & {site.city for site in split.known}


def test_the_same_seed_draws_the_same_and_another_one_does_not() -> None:
    one, other = list(known_cities(made(3))), list(known_cities(made(3)))
    assert one == other
    assert len({split.crawlers for split in one}) == 3


def test_the_strategy_finds_most_with_few_probes_and_beats_the_others() -> None:
    experiment = made(crawlers=6)
    hierarchy = experiment.world.hierarchy
    splits = list(known_cities(experiment))
    ours = evaluate(experiment, splits, lambda _: Location(hierarchy, 6, WorkConf()))
    paper = evaluate(experiment, splits, lambda _: PaperSteps(hierarchy, 0.02))
    chance = evaluate(experiment, splits, lambda _: RandomChoice(6, 1))
    assert ours.optimal[0] > 0.8
    assert ours.probes[0] < 1.5
    assert ours.optimal[0] > paper.optimal[0] > chance.optimal[0]
    assert sum(ours.steps.values()) == len(splits[0].asked)


def test_rivals_take_what_the_known_sites_say() -> None:
    experiment = made(crawlers=6)
    (split,) = known_cities(experiment)
    ranking = evaluate(experiment, [split], lambda _: Ranking(experiment.world.hierarchy, 6))
    landmarks = evaluate(experiment, [split], lambda _: NearestLandmark(6))
    assert ranking.optimal[0] > 0.6
    assert landmarks.optimal[0] > 0.8
    assert landmarks.probes == [3.0]


def test_every_table_has_the_papers_figure_the_rivals_and_ours() -> None:
    experiment = small()
    known, decided = known_tables(experiment)
    tables = [known, unknown_table(experiment), decided, settings_table(experiment)]
    assert [table.name for table in tables] == ["locate", "locate-unknown", "locate-steps", "locate-settings"]
    for table in tables[:2]:
        assert {row.whose for row in table.rows} == {"ours", "paper", "rival", "goal"}
    for table in tables:
        assert any("city level" in note for note in table.notes)
        assert all(len(row.cells) == len(table.heading) for row in table.rows)
    shares = [row.figures["share"] for row in decided.rows if row.name.startswith("location: ")]
    assert sum(shares) == pytest.approx(1)


def test_the_recorded_data_are_read() -> None:
    if not SHARED.exists():
        pytest.skip("needs recorded round trips that are not part of the project: ../shared/data/lab")
    world = read_world(SHARED / "latency-wonderproxy", SHARED / "ip-rir2018" / "ipv4.tsv.xz")
    assert (len(world.machines), len(world.sites), len(world.round_trips)) == (121, 1000, 29_360)
    experiment = Experiment(world, "c", 1, 1, 12, 650)
    outcome = evaluate(experiment, known_cities(experiment), lambda _: Location(world.hierarchy, 12, WorkConf()))
    assert outcome.optimal[0] >= 0.88
    assert outcome.probes[0] <= 2.2


def test_data_that_are_no_numbers_are_told(tmp_path: Path) -> None:
    for name in ("servers.tsv", "sites.tsv", "r.tsv"):
        (tmp_path / name).write_text("1\t2\n")
    (tmp_path / "rtt.tsv").write_text("1\t2\tx\t3\n")
    with pytest.raises(UserError, match="could not convert"):
        read_world(tmp_path, tmp_path / "r.tsv")
