"""How a long-lived process treats garbage: what it started with is never looked at again, and the rest is looked at rarely."""

from __future__ import annotations

import gc

__all__ = ["settle_in"]

# Records are invisible to the collector and little else makes cycles, so most collections would find nothing.
_NEW_OBJECTS = 50_000


def settle_in() -> None:
    """Called once everything is loaded."""
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 20, 100)
    gc.enable()
