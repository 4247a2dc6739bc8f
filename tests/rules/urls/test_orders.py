"""Which URLs come first."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import Order
from parcahyd.rules.urls.orders import FIRST, LATER, ByDepth, ByInLinks, ByPageRank, Fair, moved


def test_breadth_first_is_by_depth_and_nothing_else() -> None:
    order = ByDepth(WorkConf())
    assert [order.first("/x", depth) for depth in (0, 1, 5)] == [0, 1, 5]
    assert order.again(3) == 3


def test_what_is_met_more_often_comes_first() -> None:
    order = ByInLinks(WorkConf())
    once = order.first("/x", 7)
    assert order.again(order.again(once)) < order.again(once) < once


def test_all_are_orders() -> None:
    assert all(isinstance(kind(WorkConf()), Order) for kind in (ByDepth, ByInLinks, ByPageRank, Fair))
    assert Fair(WorkConf()).visit_pages


def test_a_page_gives_its_links_equal_parts_of_what_it_collected() -> None:
    order = ByPageRank(WorkConf())
    unit = 1 << 14
    assert order.first("/", 7) == 0
    assert order.part(0, 1) == -round(0.85 * 0.15 * unit)
    assert order.part(-unit, 10) == -round(0.85 * 1.15 * unit / 10)
    assert order.part(LATER - unit, 10) == order.part(-unit, 10), "that it waited for others is no rank"
    assert order.part(0, 0) == order.part(0, 1)
    assert order.part(-(1 << 31), 1) > FIRST


def test_a_url_waits_for_all_others_until_one_page_leads_there_in_order() -> None:
    assert moved(3, 3, LATER) == 3
    assert moved(LATER + 3, LATER + 3, LATER) == LATER + 3
    assert moved(LATER + 3, LATER + 3, 0) == 3
    assert moved(LATER - 5, LATER - 6, -2) == -8
    assert moved(FIRST + 1, FIRST + 1, -10) == FIRST
