"""Which URLs come first."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import Order
from parcahyd.rules.urls.orders import ByDepth, ByInLinks, Fair


def test_breadth_first_is_by_depth_and_nothing_else() -> None:
    order = ByDepth(WorkConf())
    assert [order.first("/x", depth) for depth in (0, 1, 5)] == [0, 1, 5]
    assert order.again(3) == 3


def test_what_is_met_more_often_comes_first() -> None:
    order = ByInLinks(WorkConf())
    once = order.first("/x", 7)
    assert order.again(order.again(once)) < order.again(once) < once


def test_all_are_orders() -> None:
    assert all(isinstance(kind(WorkConf()), Order) for kind in (ByDepth, ByInLinks, Fair))
    assert Fair(WorkConf()).visit_pages
