from __future__ import annotations

import random
from collections import Counter

from parcahyd.partition.superpages.counters import Counters
from parcahyd.partition.superpages.creation import Known, create
from parcahyd.partition.superpages.expansion import Expansion
from parcahyd.partition.superpages.tokens import token_path


def _urls() -> list[tuple[str, str]]:
    """A host larger than all others together, with a large folder; and many small hosts."""
    chance = random.Random(1)
    large = [("www.large.example", f"/people/{chance.randrange(40)}/{number}.html") for number in range(2000)]
    folder = [("www.large.example", f"/archive/page-{number:05}.html") for number in range(1000)]
    small = [(f"host-{chance.randrange(200)}.example", f"/{number}") for number in range(1000)]
    found = [*large, *folder, *small]
    chance.shuffle(found)
    return found


def _known(expansion: Expansion, urls: list[tuple[str, str]]) -> Known:
    counters = Counters(expansion, b"secret")
    for host, path in urls:
        counters.visit(f"{host}{path}", 1)
    figures = counters.figures(0)
    weights = [0] * len(expansion)
    for number, met, _ in figures.pages:
        weights[number] = met
    return Known(weights, {prefix: met for prefix, met, _ in figures.hot}, [key for _, key in figures.cool])


def test_weights_sum_to_what_was_visited_and_superpages_are_about_as_large_as_delta() -> None:
    urls, delta = _urls(), 60
    expansion = Expansion()
    for _ in range(3):
        divided = create(expansion, _known(expansion, urls), delta)
        assert len(divided.shares) == len(divided.expansion)
        assert sum(share.weight for share in divided.shares) == len(urls)
        expansion = divided.expansion
    sizes = Counter(expansion.find(token_path(host, path)) for host, path in urls)
    assert max(sizes.values()) <= 2 * delta
    assert len(sizes) < 3 * len(urls) / delta


def test_what_was_divided_sums_to_what_it_was() -> None:
    urls = _urls()
    expansion = create(Expansion(), _known(Expansion(), urls), 1000).expansion
    known = _known(expansion, urls)
    shares = create(expansion, known, 100).shares
    for old, weight in enumerate(known.weights):
        assert sum(share.weight for share in shares if share.old == old) == weight


def test_hot_tokens_become_singletons_and_the_rest_intervals() -> None:
    known = Known([1000], {"org": 600, "com": 90}, ["net,a", "com,b", "aero,c", "net,d"] * 25)
    pages = create(Expansion(), known, 100).expansion.superpages
    assert (("org",), "") in {(page.path, page.start) for page in pages}
    assert ("com",) not in {page.path for page in pages}
    # 400 visits to cool tokens are four times delta, but there are no more than three tokens to divide by.
    assert [page.start for page in pages if not page.path] == ["", "com", "net"]


def test_an_interval_is_a_leaf_and_never_goes_deeper() -> None:
    urls = _urls()
    expansion = Expansion()
    for _ in range(3):
        expansion = create(expansion, _known(expansion, urls), 100).expansion
    nodes = {path for path, _ in expansion.branches()}
    assert all(page.path in nodes for page in expansion.superpages)
    assert any(page.start for page in expansion.superpages)


def test_nothing_known_divides_nothing() -> None:
    assert len(create(Expansion(), Known([0], {}, []), 10).expansion) == 1
    assert len(create(Expansion(), Known([1000], {}, []), 10).expansion) == 1
