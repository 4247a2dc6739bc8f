"""What dividing pages by topic is worth: links that stay, orders that agree, and pages that several crawlers fetch.

The pages are divided by what a model says of them, by their true topics, and by a hash. Each part knows its own pages and the
links between them.

Tested in tests/lab/test_topic.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from parcahyd.lab.data import DataFile
from parcahyd.lab.page_ranks import kendall_tau, page_ranks
from parcahyd.lab.report import LabRow, LabTable, spread
from parcahyd.topics.training import LabelledPage

__all__ = ["fetches_table", "hashed", "locality_table", "orders_table"]

_Links = Sequence[Sequence[int]]
_LEAST_PAGES = 50
_HASHES = 5
_MOST_LISTED = 6
_PAPER_LOCALITY = {"Naive Bayes": 0.624, "Lewis": 0.623, "Rocchio-TFIDF": 0.489}


def hashed(pages: Iterable[LabelledPage], parts: int, seed: int) -> list[str]:
    """A part for each page, by a hash of its URL: the paper hashes contents, which is as even."""
    key = seed.to_bytes(8, "little")
    numbers = (int.from_bytes(blake2b(page.url.encode(), digest_size=8, key=key).digest(), "big") for page in pages)
    return [f"hash {number % parts}" for number in numbers]


def locality_table(
    labels: Mapping[str, Sequence[str]], true: Sequence[str], links: _Links, files: tuple[DataFile, ...], command: str
) -> LabTable:
    """`labels`: by method, what it says of each page."""
    rows = [_locality(name, "ours", said, links) for name, said in labels.items()]
    rows.append(_locality("true topics", "rival", true, links))
    rows += [LabRow(name, "paper", (f"{value:.3f}", ""), {"locality": value}) for name, value in _PAPER_LOCALITY.items()]
    rows.append(LabRow("hash of 16 parts", "paper", ("0.062", "0.062"), {"locality": 1 / 16}))
    notes = (
        (
            "Locality: the share of links that lead to a page of the same topic. Chance: what it would be if each link led to "
            "the target of any other."
        ),
        (
            "Paper: 15 categories of the Open Directory, pages from the training data. The data here have kinds of pages "
            "(course, student ...), which link to one another more than to their own kind: the true topics show what there is."
        ),
    )
    return LabTable("locality", "Topic locality", ("locality", "chance"), tuple(rows), command, None, 1, files, notes)


def _locality(name: str, whose: str, said: Sequence[str], links: _Links) -> LabRow:
    pairs = [(said[page], said[target]) for page, of_page in enumerate(links) for target in of_page]
    sources, targets = Counter(source for source, _ in pairs), Counter(target for _, target in pairs)
    total = max(len(pairs), 1)
    own = sum(source == target for source, target in pairs) / total
    chance = sum(sources[topic] * targets[topic] for topic in sources) / total / total
    return LabRow(name, whose, (f"{own:.3f}", f"{chance:.3f}"), {"locality": own, "chance": chance})


def orders_table(
    labels: Mapping[str, Sequence[str]],
    pages: Sequence[LabelledPage],
    links: _Links,
    files: tuple[DataFile, ...],
    command: str,
    seed: int,
) -> LabTable:
    """Kendall's tau of the order by PageRank within each part against the order in the whole graph."""
    ranks = page_ranks(links)
    rows = []
    for name, said in labels.items():
        taus = _taus(said, links, ranks)
        if not taus:
            continue  # No part is large enough.
        hashes = [_taus(hashed(pages, len(taus), seed + turn), links, ranks) for turn in range(_HASHES)]
        by_hash = spread(tau for found in hashes for tau in found.values())
        above = sum(tau > by_hash.mean for tau in taus.values())
        above_all = sum(tau > by_hash.high for tau in taus.values())
        rows += [
            LabRow(f"{topic} ({said.count(topic):,} pages), {name}", "ours", (f"{tau:.3f}",), {"tau": tau})
            for topic, tau in sorted(taus.items())
        ]
        rows.append(LabRow(f"hash, {len(taus)} parts", "rival", (by_hash.text(),), {"tau": by_hash.mean}))
        rows.append(LabRow(f"parts above the mean of the hash, {name}", "goal", (f"{above} of {len(taus)}",)))
        rows.append(LabRow(f"parts above its best part, {name}", "goal", (f"{above_all} of {len(taus)}",)))
    notes = (
        (
            f"Parts of {_LEAST_PAGES} pages and more. Tau-b: pages with equal PageRank are ties. The hash has as many parts as "
            "there are topics of that size; its row has the mean and range of five such hashes."
        ),
        "Paper: in every part, topics are above the hash; its figures are in a drawing that is not in the text.",
    )
    return LabTable("orders", "Order by PageRank within a part", ("tau",), tuple(rows), command, seed, 1, files, notes)


def _taus(said: Sequence[str], links: _Links, ranks: Sequence[float]) -> dict[str, float]:
    found = {}
    for topic, count in Counter(said).items():
        if count >= _LEAST_PAGES:
            own = [page for page, label in enumerate(said) if label == topic]
            places = {page: place for place, page in enumerate(own)}
            inside = [[places[target] for target in links[page] if target in places] for page in own]
            found[topic] = kendall_tau(page_ranks(inside), [ranks[page] for page in own])
    return found


def fetches_table(labels: Mapping[str, Sequence[str]], links: _Links, files: tuple[DataFile, ...], command: str) -> LabTable:
    """By how many crawlers a page is fetched, one for each topic: URLs stay with the crawler of the page they are on."""
    rows = []
    for name, said in labels.items():
        askers: list[set[str]] = [set() for _ in said]
        for page, of_page in enumerate(links):
            for target in of_page:
                askers[target].add(said[page])
        counts = Counter(len(of_page) for of_page in askers if of_page)
        fetched = counts.total()
        extra = sum(times * count for times, count in counts.items()) / max(fetched, 1) - 1
        cells = [f"{counts[times]:,}" for times in range(1, _MOST_LISTED + 1)]
        rows.append(LabRow(name, "ours", (*cells, f"{extra:.3f}"), {"overlap": extra}))
    heading = (*(f"by {times}" for times in range(1, _MOST_LISTED + 1)), "overlap")
    rows.append(LabRow("hash of the URL", "rival", ("all", *[""] * (_MOST_LISTED - 1), "0.000"), {"overlap": 0.0}))
    notes = (
        (
            "Of pages that at least one page links to. Overlap: fetches beyond the first of each page, for each page. Crawlers "
            "that tell each other which URLs they have seen avoid it."
        ),
        "Paper: the number falls fast with the number of crawlers; its figures are in a drawing that is not in the text.",
    )
    return LabTable(
        "fetches", "Pages fetched by exactly so many crawlers", heading, tuple(rows), command, None, 1, files, notes
    )
