"""The first children of a crawl, as copies of this process before it has loaded what is its own."""

from __future__ import annotations

from importlib import import_module

from parcahyd.runtime.children import can_be_copied
from parcahyd.runtime.nursery import Nursery

__all__ = ["SHARED", "early_children"]

SHARED = (
    "parcahyd.config.database_url",
    "parcahyd.core.buffer",
    "parcahyd.core.messages",
    "parcahyd.plugin_manager",
    "parcahyd.refresh.schedule",
    "parcahyd.rules.address_policy",
    "parcahyd.rules.host_rules",
    "parcahyd.rules.parameters",
    "parcahyd.rules.url_patterns",
    "parcahyd.runtime.lean_loop",
    "parcahyd.topology",
)
"""What a Crawl Worker needs and another kind of process too: it is loaded once, before they part. What a worker does not need
would only keep it waiting."""


def early_children() -> Nursery:
    """A nursery with an Update Database and a Crawl Worker in it, where children can be copies; else an empty one."""
    nursery = Nursery()
    if can_be_copied():
        for name in SHARED:
            import_module(name)
        nursery.fill()
    return nursery
