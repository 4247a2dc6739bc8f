"""Pages about three things, made of fixed words; the same at each call."""

from __future__ import annotations

from collections import Counter

from parcahyd.topics.training import LabelledPage

COMMON = b"the of and to in is that it for was on are as with be by at this have from".split()
OWN = {
    "kettles": b"copper whistle spout boil steam handle enamel stove pour lid".split(),
    "trains": b"rail engine wagon station track signal driver carriage platform steam".split(),
    "violins": b"string bow bridge tune maple varnish fiddle concert chin note".split(),
}


def corpus(pages: int = 12, first: int = 0) -> list[LabelledPage]:
    """So many pages of each topic. Each has all common words, four words of its topic, and one of the next topic."""
    found = []
    topics = sorted(OWN)
    for number in range(first, first + pages):
        for place, topic in enumerate(topics):
            words = Counter(dict.fromkeys(COMMON, 3))
            other = OWN[topics[(place + 1) % len(topics)]]
            words.update([OWN[topic][(3 * number + step) % 10] for step in range(4)])
            words.update([other[number % 10]])
            found.append(
                LabelledPage(
                    topic, words, f"http://{topic}.example/{topic}/{number}.html", "even" if number % 2 == 0 else "odd"
                )
            )
    return found
