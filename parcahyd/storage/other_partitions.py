"""The port between a store and the rest of a crawl that is divided among partitions. A crawl on one machine has none of it.

A store that has such a port keeps only what lives in its own partition. It is used inside transactions of the writer, so what
is posted and what is stored are committed together.

Tested in tests/cluster/test_posting.py and tests/cluster/test_robots_by_mail.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from parcahyd.core.records import RobotsFact

__all__ = ["FoundUrl", "Origin", "OtherPartitions"]

Origin = tuple[str, str, int]
"""Scheme, host and port of a site."""

FoundUrl = tuple[str, int, int, bool, str, int, int | None]
"""An absolute URL that was seen: depth, hops, whether a seed led there, the word of the reason why it is refused (or empty),
the site whose page brought it, which may be one of another partition, and the key of that page."""


class OtherPartitions(Protocol):
    """Says what lives in other partitions, and posts it to them."""

    def is_ours(self, host: str) -> bool:
        """Whether a host lives in this partition."""
        ...

    def is_own(self, site: int) -> bool:
        """Whether the row of a site is one of this partition, by its id."""
        ...

    def before_leasing(self) -> None:
        """Called in the transaction of a lease, before sites are picked: some may have to go to another partition first."""
        ...

    def begin_work(self) -> None:
        """A visit opens: the partition is idle no longer."""
        ...

    def post_urls(self, found: Sequence[FoundUrl], *, from_letters: bool = False) -> tuple[list[FoundUrl], list[int]]:
        """Posts the URLs that live elsewhere. Returns those that live here, and the site that each posted one was found on.

        A URL that was posted before, as far as it is remembered, is not posted again and not counted. One that came by a
        letter is posted on in any case: nobody else has it, wherever it was before.
        """
        ...

    def post_seeds(self, urls: Sequence[str]) -> list[str]:
        """Posts the user's seeds that live elsewhere. Returns those that live here."""
        ...

    def scope_origins(self) -> Collection[Origin]:
        """The sites that the seeds of the whole crawl span the scope with."""
        ...

    def widen(self, origins: Iterable[Origin]) -> None:
        """Adds sites to the scope of the whole crawl: a seed redirects there."""
        ...

    def ask_robots(self, asker: int, url: str, hops: int) -> None:
        """Has the partition of `url` fetch a robots.txt for a site, which waits for it."""
        ...

    def answer_robots(self, asker: int, fact: RobotsFact) -> None:
        """Gives a site, which is another partition's by its id, the robots.txt that was fetched for it here."""
        ...

    def count_pages(self, pages: int) -> None:
        """So many pages are stored or confirmed in the transaction under way: what MaxPages counts."""
        ...
