"""Tries faults on a cluster, one crawl for each, and prints what the web and the partitions say as a table.

    python -m tests.cluster_lab.scenarios [--place loopback namespaces] [--only TEXT...] [--nodes 3 --partitions 6 --lease 20]

It exits with 1 if a crawl is not as it must be. How long anything takes is shown, and never decides.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path

import msgspec

from bench.report_page import table
from bench.synthetic_server import Request
from bench.synthetic_web import DOMAIN, Web
from tests.cluster_lab.faults import FAULTS, Fault
from tests.cluster_lab.lab import Lab, Place, Plan, open_lab
from tests.cluster_lab.namespaces import why_unavailable
from tests.cluster_lab.request_log import LogFindings, judge_log
from tests.cluster_lab.stored_pages import StoreFindings, judge_stores
from tests.support.crawl import Setting
from tests.support.processes import wait_until

__all__ = ["HEADING", "Outcome", "pages_with_document", "play", "why_not"]

HEADING = (
    *("fault", "place", "asked for", "stored", "stored twice", "fetched again", "host gaps short: within / between"),
    *("address gaps short: within / between", "verify", "owned", "letters", "seconds", "wrong"),
)
_STRIKE_AT = 400
_LIMIT = 900.0
"""Seconds after which a crawl counts as stuck."""


class Outcome(msgspec.Struct, frozen=True):
    """A crawl with a fault."""

    fault: str
    place: Place
    log: LogFindings
    stores: StoreFindings
    verified: str
    """Empty: `parcahyd verify` found nothing wrong."""
    is_over: bool
    seconds: float
    to_store: int
    """How many pages have to be stored: all that have a document, or MaxPages."""
    is_limited: bool
    """By MaxPages: the run ends as soon as they are stored, whatever letters and lost visits there are."""

    def wrong(self) -> list[str]:
        """What is not as it must be."""
        log, stores = self.log, self.stores
        short = log.hosts.within + log.hosts.between + log.addresses.within + log.addresses.between
        said = {
            "the run did not end": not self.is_over,
            f"{len(log.missing)} pages were not asked for: {', '.join(log.missing[:5])}": log.missing and not self.is_limited,
            f"{stores.stored} pages are stored, not {self.to_store}": stores.stored != self.to_store,
            f"stored in two partitions: {', '.join(stores.twice[:5])}": stores.twice,
            f"{short} gaps too short": short,
            f"verify: {self.verified}": self.verified,
            f"{stores.owned} subjects are owned": stores.owned,
            f"{stores.letters} letters are left": stores.letters and not self.is_limited,
            f"{stores.open_visits} visits are open": stores.open_visits and not self.is_limited,
        }
        return [sentence for sentence, is_so in said.items() if is_so]

    def cells(self) -> tuple[str, ...]:
        log, stores = self.log, self.stores
        return (
            *(self.fault, self.place, str(log.asked), str(stores.stored), str(len(stores.twice)), str(log.again)),
            *(str(log.hosts), str(log.addresses), self.verified or "good", str(stores.owned), str(stores.letters)),
            *(f"{self.seconds:.0f}", "; ".join(self.wrong()) or "nothing"),
        )


def pages_with_document(web: Web) -> int:
    """How many pages of a web a complete crawl stores."""
    places = ((host, page) for host, size in enumerate(web.sizes) for page in range(size))
    return sum(web.answer(*place).status == 200 for place in places)


def why_not(fault: Fault, place: Place) -> str:
    """Why a fault cannot be tried here; empty where it can."""
    if place == "namespaces" and (reason := why_unavailable()):
        return reason
    return fault.why_not() if fault.why_not is not None else ""


def play(plan: Plan, fault: Fault, folder: Path, strike_at: int = _STRIKE_AT, limit: float = _LIMIT) -> Outcome:
    """One crawl, struck when the web has answered so many requests. One that takes longer than the limit is stuck."""
    needs = dict.fromkeys(fault.needs, True)
    with open_lab(msgspec.structs.replace(plan, **needs), folder) as lab:
        began = time.monotonic()
        if fault.prepare is not None:
            fault.prepare(lab)
        lab.begin()
        lab.until(strike_at, limit)
        fault.strike(lab)
        is_over = wait_until(lab.is_over, limit, pause=0.2)
        # An agent that comes back after the run waits for the next one, so not every agent ends.
        ended = is_over and wait_until(lab.is_free, limit, pause=0.2)
        seconds = time.monotonic() - began
        (folder / "agents.log").write_text(lab.said())
        return judge(lab, fault, seconds, is_over=ended)


def judge(lab: Lab, fault: Fault, seconds: float, *, is_over: bool) -> Outcome:
    """What the log and the stores say."""
    stores = judge_stores(lab.hub.rows)
    plan, web = lab.plan, lab.served.web

    def pipeline(request: Request) -> Hashable:
        """A host lives in one partition, and a partition on one node at a time."""
        return request.asker, stores.homes.get(f"h{request.host}.{DOMAIN}")

    log = judge_log(web, lab.served.requests(), plan.host_delay, plan.address_delay, pipeline)
    limit = plan.settings.get("Work.MaxPages")
    to_store = limit if isinstance(limit, int) else pages_with_document(web)
    verified = _verify(lab)
    return Outcome(fault.name, plan.place, log, stores, verified, is_over, seconds, to_store, is_limited=isinstance(limit, int))


def _verify(lab: Lab) -> str:
    """What `parcahyd verify` finds wrong in all partitions."""
    finished = lab.command("verify", "--conf", str(lab.desk.conf))
    return "" if finished.code == 0 else " ".join((finished.text + finished.err).split())[:300] or f"exit {finished.code}"


def _tried(given: argparse.Namespace) -> Iterator[tuple[Fault, Place]]:
    for place in given.place:
        for fault in FAULTS:
            if place not in fault.places or (given.only and not any(text in fault.name for text in given.only)):
                continue
            if reason := why_not(fault, place):
                print(f"SKIPPED on {place}: {fault.name}: {reason}", file=sys.stderr, flush=True)
                continue
            yield fault, place


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--place", nargs="+", choices=["loopback", "namespaces"], default=["loopback", "namespaces"])
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="faults whose names have one of these texts")
    parser.add_argument("--nodes", type=int, default=Plan().nodes)
    parser.add_argument("--partitions", type=int, default=Plan().partitions)
    parser.add_argument("--lease", type=float, default=Plan().lease)
    parser.add_argument("--pages", type=int, default=Plan().pages)
    parser.add_argument("--strategy", default="hash", help="how the crawl is divided at first")
    parser.add_argument("--max-pages", type=int, default=0, help="stop when so many are stored; 0: crawl all")
    parser.add_argument("--limit", type=float, default=_LIMIT, help="seconds after which a crawl counts as stuck")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep what each crawl wrote, in folders here")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    given = _arguments(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # Processes and namespaces are removed on the way out.
    settings: dict[str, Setting] = {"Work.Partition": given.strategy}
    if given.max_pages:
        settings["Work.MaxPages"] = given.max_pages
    outcomes = []
    for number, (fault, place) in enumerate(_tried(given), 1):
        plan = Plan(place, given.nodes, given.partitions, given.lease, given.pages, settings=dict(settings))
        with tempfile.TemporaryDirectory(prefix="parcahyd-lab-", ignore_cleanup_errors=True) as name:
            try:
                outcome = play(plan, fault, Path(name), limit=given.limit)
            except AssertionError as error:
                print(f"{fault.name} on {place}: {error}", file=sys.stderr, flush=True)
                outcome = None
            if given.logs is not None:
                _keep(Path(name), given.logs / f"{number:02}-{place}-{fault.name.replace(' ', '-')}")
        outcomes.append(outcome)
        if outcome is not None:
            print(" | ".join(outcome.cells()), file=sys.stderr, flush=True)
    print("\n".join(table(HEADING, (outcome.cells() for outcome in outcomes if outcome is not None))))
    return 0 if all(outcome is not None and not outcome.wrong() for outcome in outcomes) else 1


def _keep(folder: Path, place: Path) -> None:
    with contextlib.suppress(shutil.Error):
        shutil.copytree(folder, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.db*"))


if __name__ == "__main__":
    sys.exit(main())
