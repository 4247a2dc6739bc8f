"""The expanded URL tree, whose frontier are the superpages (statement C19): every URL lies in exactly one.

A node of the tree has children, one for each singleton expansion, and a row of intervals for all other tokens that may follow.
Ordered strings (N, Kidsoft, H, creativelabs) divide them into five: those smaller than creativelabs, [creativelabs, H),
[H, Kidsoft), [Kidsoft, N), and N or larger. An interval is always a leaf. A node that was not expanded has one interval.
"""

# Annotations are not postponed here: msgspec would compile each annotation of a record from its text.

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence

import msgspec

from parcahyd.partition.superpages.tokens import key_of, order_of

__all__ = ["Branch", "Expansion", "Superpage"]


class Branch(msgspec.Struct, array_like=True):
    """A node of the tree, as it travels."""

    starts: list[str]
    """Where the intervals but the first one begin, by `order_of`, in order."""
    pages: list[int]
    """The numbers of the intervals' superpages: one more than there are starts."""
    children: dict[str, "Branch"]
    """The singleton expansions, by token."""


class Superpage(msgspec.Struct, frozen=True):
    """A leaf: an interval of the tokens that may follow a node's path."""

    path: tuple[str, ...]
    """The tokens of the node."""
    start: str
    """Tokens that follow are this or larger; empty: there is no lower bound."""
    end: str | None
    """Tokens that follow are smaller; None: there is no upper bound."""

    @property
    def key(self) -> str:
        """As `tokens.key_of`, which is shared by all intervals of a node."""
        return key_of(self.path)


class Expansion:
    """The tree, with its superpages numbered from 0. Numbers hold as long as the tree is not expanded."""

    def __init__(self, root: Branch | None = None) -> None:
        self.root = Branch([], [0], {}) if root is None else root
        self.superpages: tuple[Superpage, ...] = ()
        self.number()

    def number(self) -> None:
        """Numbers the superpages anew, in the order of the tree."""
        found: list[Superpage] = []
        for path, branch in self.branches():
            ends = [*branch.starts, None]
            first = len(found)
            found += [Superpage(path, start, end) for start, end in zip(["", *branch.starts], ends, strict=True)]
            branch.pages = list(range(first, len(found)))
        self.superpages = tuple(found)

    def __len__(self) -> int:
        return len(self.superpages)

    def branches(self) -> Iterator[tuple[tuple[str, ...], Branch]]:
        """All nodes with their paths: a node before its children, children in order."""
        waiting: list[tuple[tuple[str, ...], Branch]] = [((), self.root)]
        while waiting:
            path, branch = waiting.pop()
            yield path, branch
            waiting += [((*path, token), branch.children[token]) for token in sorted(branch.children, reverse=True)]

    def find(self, tokens: Sequence[str]) -> int:
        """The superpage of a URL."""
        return self.place(tokens)[0]

    def place(self, tokens: Sequence[str]) -> tuple[int, int]:
        """The superpage of a URL, and how many of its tokens lead to its node."""
        branch = self.root
        for depth, token in enumerate(tokens):
            child = branch.children.get(token)
            if child is None:
                starts = branch.starts
                return branch.pages[bisect_right(starts, order_of(token)) if starts else 0], depth
            branch = child
        return branch.pages[0], len(tokens)

    def node(self, path: Sequence[str]) -> Branch:
        """The node with this path, made with all above it where it is not there. Numbers are stale after it."""
        branch = self.root
        for token in path:
            known = branch.children.get(token)
            if known is None:
                known = branch.children[token] = Branch([], [0], {})
            branch = known
        return branch

    def divide(self, path: Sequence[str], starts: Sequence[str]) -> None:
        """Interval expansion of a node: new intervals begin at these tokens. Numbers are stale after it."""
        branch = self.node(path)
        for start in starts:
            ordered = order_of(start)
            if ordered and ordered not in branch.starts:
                insort(branch.starts, ordered)
        branch.pages = [0] * (len(branch.starts) + 1)

    def simplify(self, owners: Sequence[int | None], weights: Sequence[int], most: int) -> tuple[int, ...]:
        """Merges light leaves of one owner back, as long as they weigh no more than `most` together: intervals that are
        neighbours, and a child with the interval that its token lies in. Returns the new number for each number before.
        """
        merging = _Merging(owners, list(weights), most, list(range(len(self))))
        merging.merge(self.root)
        kept = [number for _, branch in self.branches() for number in branch.pages]
        renamed = {number: place for place, number in enumerate(kept)}
        self.number()
        return tuple(renamed[merging.survivor(number)] for number in range(len(merging.into)))


class _Merging:
    def __init__(self, owners: Sequence[int | None], weights: list[int], most: int, into: list[int]) -> None:
        self._owners, self._weights, self._most, self.into = owners, weights, most, into

    def survivor(self, number: int) -> int:
        while self.into[number] != number:
            number = self.into[number]
        return number

    def _absorbs(self, survivor: int, other: int) -> bool:
        weight = self._weights[survivor] + self._weights[other]
        if self._owners[survivor] != self._owners[other] or weight > self._most:
            return False
        self._weights[survivor] = weight
        self.into[other] = survivor
        return True

    def merge(self, branch: Branch) -> None:
        # The deepest first: a child whose own children have gone is a leaf itself. No path is longer than MOST_TOKENS.
        for token in sorted(branch.children):
            child = branch.children[token]
            self.merge(child)
            around = branch.pages[bisect_right(branch.starts, order_of(token))]
            if not child.children and not child.starts and self._absorbs(around, child.pages[0]):
                del branch.children[token]
        starts: list[str] = []
        pages = branch.pages[:1]
        for start, page in zip(branch.starts, branch.pages[1:], strict=True):
            if not self._absorbs(pages[-1], page):
                starts.append(start)
                pages.append(page)
        branch.starts, branch.pages = starts, pages
