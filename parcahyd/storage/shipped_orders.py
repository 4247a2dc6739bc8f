"""The orders that come with the program, answering the same hook as everyone's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parcahyd.rules.orders import BREADTH_FIRST, ByDepth, ByInLinks, Fair

if TYPE_CHECKING:
    from parcahyd.hookspecs import OrderFactory

__all__ = ["parcahyd_orders"]


def parcahyd_orders() -> dict[str, OrderFactory]:
    return {BREADTH_FIRST: ByDepth, "in-links": ByInLinks, "fair": Fair}
