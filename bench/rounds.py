"""The rounds: contenders take turns on one site, each with an empty output folder, and a disturbed crawl is repeated."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.contenders.contender import Contender, Task
from bench.coverage import Coverage, compare
from bench.measuring import Usage, is_disturbed, run_measured
from bench.nginx import Nginx, pages_of, steady_rate

__all__ = ["Failed", "Ground", "Outcome", "Outcomes", "Tally", "play", "settle", "turns"]

_EXAMPLES = 10


class Failed(Exception):
    """A contender did not crawl the site; the message says what happened."""


@dataclass(frozen=True)
class Outcome:
    """One crawl by one contender, as the server, the clock and the kernel saw it."""

    contender: str
    number: int
    """The round's."""
    requests: int
    coverage: Coverage
    usage: Usage
    output_bytes: int
    steady_pages_per_second: float | None = None
    """From one second after the first answer to the last page, by the server's log; None where the crawl was too short."""
    sync_seconds: float | None = None
    """How long writing back to the disk took afterwards; None on a memory file system."""

    @property
    def pages(self) -> int:
        """Different HTML documents that were sent whole."""
        return self.coverage.covered + len(self.coverage.outside)

    @property
    def pages_per_second(self) -> float:
        return self.pages / self.usage.seconds

    @property
    def cpu_ms_per_page(self) -> float:
        return 1000 * self.usage.cpu_seconds / max(self.pages, 1)

    @property
    def disturbed(self) -> bool:
        return is_disturbed(self.usage.other_cores, self.usage.seconds)


Outcomes = Mapping[str, Sequence[Outcome]]
"""The crawls that count, by contender, in the order of the rounds."""


@dataclass(frozen=True)
class Ground:
    """A site that is served, and what is needed to crawl it."""

    site: str
    start: str
    nginx: Nginx
    pages: frozenset[str]
    """Those that can be reached."""
    known: Path
    outputs: Path
    on_disk: bool
    timeout: float

    def crawl(self, contender: Contender, number: int) -> Outcome:
        """One crawl into a fresh folder, which is removed afterwards. Raises Failed."""
        output = Path(tempfile.mkdtemp(prefix=f"{contender.name}-", dir=self.outputs))
        # The log is no output of the crawl, and on a disk it would be written back too.
        log = self.known.with_name("contender.log")
        try:
            return self._crawl(contender, number, output, log)
        finally:
            shutil.rmtree(output)

    def _crawl(self, contender: Contender, number: int, output: Path, log: Path) -> Outcome:
        command = contender.command(Task(self.nginx.url(self.start), output, self.known))
        if self.on_disk:
            os.sync()
        mark = self.nginx.mark()
        environment = {**os.environ, **contender.environment}
        usage = run_measured(command, output, log, environment, self.timeout, self.nginx.cpu_seconds)
        sync_seconds = _timed(os.sync) if self.on_disk else None
        _refuse_failure(contender, usage, log)
        answers = self.nginx.since(mark)
        coverage = compare(self.pages, pages_of(answers))
        wrong = contender.check(output)
        if wrong is not None:
            sys.exit(f"{contender.name} on {self.site}: its output is not as it must be:\n{wrong}")
        return Outcome(
            contender.name,
            number,
            len(answers),
            coverage,
            usage,
            _bytes_below(output),
            steady_rate(answers),
            sync_seconds,
        )


def _timed(act: Callable[[], None]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _refuse_failure(contender: Contender, usage: Usage, log: Path) -> None:
    if usage.timed_out:
        raise Failed(f"killed after {usage.seconds:.0f} s")
    if usage.exit_code not in contender.good_exits:
        raise Failed(f"ended with {usage.exit_code}: {log.read_text(errors='replace')[-2000:].strip()}")


def _bytes_below(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def settle(crawl: Callable[[], Outcome], repeats: int, report: Callable[[Outcome], None]) -> Outcome:
    """The first crawl that was not disturbed, of one and at most so many repeats; else the one that was disturbed least."""
    outcomes = []
    for _ in range(1 + repeats):
        outcomes.append(crawl())
        report(outcomes[-1])
        if not outcomes[-1].disturbed:
            return outcomes[-1]
    return min(outcomes, key=lambda outcome: outcome.usage.other_cores)


def turns(contenders: Sequence[Contender], number: int) -> list[Contender]:
    """Who crawls in a round (from 1), in which order: it turns, so that no contender always follows the same other one."""
    first = (number - 1) % len(contenders)
    return [one for one in (*contenders[first:], *contenders[:first]) if number == 1 or not one.slow]


@dataclass(frozen=True)
class Tally:
    """What came of all rounds on one site with one kind of output."""

    outcomes: Outcomes
    failures: Mapping[str, str]
    """Contenders that did not get through, with what they said."""


def play(
    contenders: Sequence[Contender], ground: Ground, rounds: int, repeats: int, record: Callable[[str, Outcome], None]
) -> Tally:
    """All rounds. A contender that fails takes part no more; if it is PARCAHYD, the benchmark ends."""
    outcomes: dict[str, list[Outcome]] = {contender.name: [] for contender in contenders}
    failures: dict[str, str] = {}

    def report(outcome: Outcome) -> None:
        record(ground.site, outcome)
        print(f"{ground.site}, {'disk' if ground.on_disk else 'memory'}, {_line(outcome)}", file=sys.stderr)

    for number in range(1, rounds + 1):
        for contender in turns(contenders, number):
            if contender.name in failures:
                continue
            try:
                outcome = settle(partial(ground.crawl, contender, number), repeats, report)
            except Failed as failure:
                failures[contender.name] = _of_failure(contender, ground, failure)
                continue
            outcomes[contender.name].append(outcome)
            _tell_missing(outcome)
    return Tally({name: runs for name, runs in outcomes.items() if runs and name not in failures}, failures)


def _of_failure(contender: Contender, ground: Ground, failure: Failed) -> str:
    text = f"{contender.name} on {ground.site} {failure}"
    if contender.name.startswith("parcahyd"):
        sys.exit(text)
    print(f"!!! {text}", file=sys.stderr)
    return str(failure).partition("\n")[0]


def _line(outcome: Outcome) -> str:
    usage, coverage = outcome.usage, outcome.coverage
    text = (
        f"round {outcome.number}, {outcome.contender}: {coverage.covered} of {coverage.expected} pages "
        f"in {usage.seconds:.2f} s, {outcome.pages_per_second:,.0f} pages/s, {usage.cpu_seconds:.2f} s of CPU"
    )
    if outcome.steady_pages_per_second is not None:
        text += f", {outcome.steady_pages_per_second:,.0f} pages/s after the first second"
    return text + (f"; DISTURBED, others used {usage.other_cores:.2f} cores" if outcome.disturbed else "")


def _tell_missing(outcome: Outcome) -> None:
    """A page that PARCAHYD does not find is an error of PARCAHYD or of the walk; the user should look at it."""
    if outcome.contender.startswith("parcahyd") and outcome.coverage.missing:
        shown = "".join(f"\n!!!   {path}" for path in outcome.coverage.missing[:_EXAMPLES])
        print(f"!!! {outcome.contender} did not fetch {len(outcome.coverage.missing)} pages, such as:{shown}", file=sys.stderr)
