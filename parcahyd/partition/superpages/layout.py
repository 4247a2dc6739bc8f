"""What a plan by superpages decided, as the routing's state: the expanded tree, whose each superpage is, and what was known."""

# Annotations are not postponed here: msgspec would compile each annotation of a record from its text.

from collections.abc import Sequence

import msgspec

from parcahyd.partition.superpages.expansion import Branch, Expansion
from parcahyd.partition.superpages.figures import Figures, Room, merged

__all__ = ["KEPT", "Layout"]

KEPT = Room(hot=224, cool=96, links=320, rates=32)
"""With a tree of at most MOST_SUPERPAGES superpages, less than MAX_SHARED."""


class _State(msgspec.Struct, array_like=True, tag="superpages"):
    """The tag tells a state from that of another strategy."""

    root: Branch
    owners: list[int | None]
    figures: Figures


_DECODER = msgspec.msgpack.Decoder(_State)


class Layout:
    """The same for the same state, everywhere."""

    def __init__(self, expansion: Expansion, owners: Sequence[int | None], figures: Figures) -> None:
        self.expansion = expansion
        self.owners = owners
        """By superpage; None: the hash of the host's name says it."""
        self.figures = figures
        """What was known of the superpages when the plan was made."""

    @classmethod
    def read(cls, state: bytes) -> "Layout":
        """Of a routing's state. One that is empty, or of another strategy, says nothing of any URL."""
        if state:
            try:
                found = _DECODER.decode(state)
            except msgspec.DecodeError:
                found = None
            if found is not None:
                expansion = Expansion(found.root)
                if len(expansion) == len(found.owners):
                    return cls(expansion, found.owners, found.figures)
        return cls(Expansion(), [None], Figures(0))

    def written(self) -> bytes:
        """As the state of a routing."""
        return msgspec.msgpack.encode(_State(self.expansion.root, list(self.owners), merged([self.figures], KEPT)))

    def owner(self, tokens: Sequence[str]) -> int | None:
        """Whose a URL is; None: nothing is said of it."""
        return self.owners[self.expansion.find(tokens)]
