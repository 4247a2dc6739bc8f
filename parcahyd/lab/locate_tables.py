"""The tables of `parcahyd lab locate`: each method beside the paper's figures, and the strategy with other settings.

Tested in tests/lab/test_locate.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.lab.locate import Experiment, Make, Outcome, Split, evaluate, known_cities, unknown_cities
from parcahyd.lab.locate_methods import Location, NearestLandmark, PaperSteps, RandomChoice, Ranking
from parcahyd.lab.report import LabRow, LabTable, spread

__all__ = ["known_tables", "settings_table", "unknown_table"]

_HEADING = ("nearest crawler found", "probes a site", "of the last 50", "loss of a wrong choice, ms")
_CITY_LEVEL = (
    "The round trip of a site is that of its city's server: measured, but on city level. All sites of a city have the same "
    "one, and a few servers are in the wrong place."
)
_MEANING = (
    "A site's nearest crawler is the one with the least mean round trip. The loss is by how much farther a wrong one is, as a "
    "mean over the wrong ones."
)

_TIMES_THAT_VARY = (
    "Times that vary: every probe, also of the sites that all measure, brings the recorded least round trip and a delay by "
    "chance, so that their mean is the recorded one."
)
_FROM_NOTHING = (
    "From nothing: no site is measured beforehand, all of them are asked about, and a new routing is planned after every 50. "
    "The probes by which the strategy gets its landmarks are counted, too."
)


def _methods(experiment: Experiment) -> list[tuple[str, str, Make]]:
    hierarchy, count = experiment.world.hierarchy, experiment.crawlers
    return [
        ("random", "rival", lambda split: RandomChoice(count, split.number)),
        ("paper's six steps, 50 ms", "paper", lambda _: PaperSteps(hierarchy, 0.050)),
        ("paper's six steps, 20 ms", "paper", lambda _: PaperSteps(hierarchy, 0.020)),
        ("ranking by holder, block, country", "rival", lambda _: Ranking(hierarchy, count, 0.7)),
        ("three fixed probes, most alike site", "rival", lambda _: NearestLandmark(count)),
        ("location, without registries", "ours", lambda _: Location(None, count, WorkConf())),
        ("location", "ours", lambda _: Location(hierarchy, count, WorkConf())),
    ]


def known_tables(experiment: Experiment) -> tuple[LabTable, LabTable]:
    """The paper's experiment, and what decided in it."""
    splits = list(known_cities(experiment))
    tried = [(name, whose, evaluate(experiment, splits, make)) for name, whose, make in _methods(experiment)]
    rows = [
        _given("paper 002, with its own 12 crawlers", "paper", 0.75, 2.99, 2.66, "under 13"),
        _given("earlier prototype of the steps, 50 ms", "rival", 0.659, 1.73),
        _given("earlier prototype of the steps, 20 ms", "rival", 0.795, 3.66),
        _given("earlier prototype of the ranking", "rival", 0.823, 1.72, loss="23.5"),
        _given("goal", "goal", 0.88, 2.0, loss="under 13, at 3 probes"),
        *(_row(*one) for one in tried),
    ]
    title = f"The nearest of {experiment.crawlers} crawlers, after {experiment.first} sites that all have measured"
    steps = [row for name, whose, outcome in tried if whose != "rival" for row in _step_rows(name, whose, outcome)]
    decided = _table(experiment, "locate-steps", "What decided", steps, (_CITY_LEVEL,))
    heading = ("share of the sites", "nearest crawler found")
    return _table(experiment, "locate", title, rows, (_MEANING, _CITY_LEVEL)), msgspec.structs.replace(decided, heading=heading)


def unknown_table(experiment: Experiment) -> LabTable:
    """The same for sites of cities that no known site is in."""
    splits = list(unknown_cities(experiment))
    hierarchy, count = experiment.world.hierarchy, experiment.crawlers
    methods = _methods(experiment)
    methods.append(("location, NearEnough = 0.005", "ours", lambda _: Location(hierarchy, count, WorkConf(NearEnough=0.005))))
    rows = [_row(name, whose, evaluate(experiment, splits, make, learns=False)) for name, whose, make in methods]
    goals = [
        _given("earlier prototype of the steps, 50 ms", "rival", 0.608, 1.97),
        _given("earlier prototype of the steps, 20 ms", "rival", 0.775, 4.09),
        _given("earlier prototype of the ranking", "rival", 0.758, 1.84),
        _given("goal", "goal", 0.80),
    ]
    note = "No site that was measured by all is in a city of the sites that are asked about, and nothing is learnt from these."
    return _table(experiment, "locate-unknown", "Sites of cities that are not known", [*goals, *rows], (note, _CITY_LEVEL))


def _step_rows(name: str, whose: str, outcome: Outcome) -> Iterable[LabRow]:
    total = sum(outcome.steps.values())
    for step in sorted(outcome.steps):
        share, optimal = outcome.steps[step] / total, outcome.optimal_steps[step] / outcome.steps[step]
        yield LabRow(f"{name}: {step}", whose, (f"{share:.3f}", f"{optimal:.3f}"), {"share": share, "optimal": optimal})


def settings_table(experiment: Experiment) -> LabTable:
    """The strategy with more or fewer probes, with times that vary, with few examples, and from nothing."""
    count, hierarchy = experiment.crawlers, experiment.world.hierarchy
    splits = list(known_cities(experiment))

    def location(near_enough: float) -> Make:
        return lambda _: Location(hierarchy, count, WorkConf(NearEnough=near_enough))

    default = WorkConf().NearEnough
    rows = [
        _row(f"NearEnough = {seconds:g}", "ours", evaluate(experiment, splits, location(seconds)))
        for seconds in (0.0005, 0.001, default, 0.005, 0.01)
    ]
    rows.append(_row("times that vary", "ours", evaluate(experiment, splits, location(default), jitter=True)))
    for known in (32, 128, 256):
        few = [msgspec.structs.replace(split, known=split.known[:known]) for split in splits]
        rows.append(_row(f"after {known} known sites", "ours", evaluate(experiment, few, location(default))))
    rows.append(_row("from nothing, all sites", "ours", _from_nothing(experiment, splits)))
    notes = (_TIMES_THAT_VARY, _FROM_NOTHING, _CITY_LEVEL)
    return _table(experiment, "locate-settings", "The strategy with other settings", rows, notes)


def _from_nothing(experiment: Experiment, splits: Sequence[Split]) -> Outcome:
    count, hierarchy = experiment.crawlers, experiment.world.hierarchy
    alone = [msgspec.structs.replace(split, known=(), asked=(*split.known, *split.asked)) for split in splits]
    return evaluate(experiment, alone, lambda _: Location(hierarchy, count, WorkConf(), teach_every=50))


def _row(name: str, whose: str, outcome: Outcome) -> LabRow:
    optimal, probes, last = spread(outcome.optimal), spread(outcome.probes), spread(outcome.last_probes)
    cells = (optimal.text(), probes.text("{:.2f}"), f"{last.mean:.2f}", f"{1000 * outcome.loss:.1f}")
    figures = {"optimal": optimal.mean, "probes": probes.mean, "last": last.mean, "loss": 1000 * outcome.loss}
    return LabRow(name, whose, cells, figures)


def _given(
    name: str, whose: str, optimal: float, probes: float | None = None, last: float | None = None, loss: str = ""
) -> LabRow:
    """Figures that were not measured here."""
    figures = {"optimal": optimal} | ({} if probes is None else {"probes": probes})
    cells = (f"{optimal:g}", *("" if one is None else f"{one:g}" for one in (probes, last)), loss)
    return LabRow(name, whose, cells, figures)


def _table(experiment: Experiment, name: str, title: str, rows: Sequence[LabRow], notes: tuple[str, ...]) -> LabTable:
    return LabTable(
        name,
        title,
        _HEADING,
        tuple(rows),
        experiment.command,
        experiment.seed,
        experiment.draws,
        experiment.world.data,
        notes,
    )
