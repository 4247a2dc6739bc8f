"""The end of a run: only when nothing is left anywhere, and then for all.

A partition's own writer says that it is idle, in the transaction that found nothing to do, with the versions of scope and
routing by which it judged. Letters that come later do not undo that; the end looks for letters, too. It locks the run's row,
and then reads everything by one statement. What that statement sees is younger than the lock, and nothing can come from
outside after it.
"""

from __future__ import annotations

from sqlalchemy import and_, bindparam, exists, extract, func, or_, select, update

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.fence import Fence
from parcahyd.cluster.quotas import MAX_PAGES, Chunk
from parcahyd.cluster.runs import STOPPED
from parcahyd.cluster.tables import chunks, homes, mail, moves, outbox, partitions, quotas, routing, runs, scope, states
from parcahyd.storage.expressions import same

__all__ = ["end_if_done", "set_idle"]

_HUB_NOW = extract("epoch", func.clock_timestamp())
_IDLE = (
    update(states)
    .where(*same(states, "partition"))
    .values(idle_since=_HUB_NOW, scope=bindparam("judged_scope"), routing=bindparam("judged_routing"), wanting=False)
)
_HOLD = select(runs.c.wanted, runs.c.version).where(*same(runs, "id"), runs.c.outcome.is_(None)).with_for_update()
_scope = select(func.max(scope.c.version)).scalar_subquery()
_routing = select(func.max(routing.c.version)).scalar_subquery()
_total = select(quotas.c.total).where(quotas.c.name == bindparam("quota")).scalar_subquery()
_pages = select(func.sum(states.c.pages)).scalar_subquery()
_held = exists().where(
    partitions.c.id == chunks.c.partition, partitions.c.epoch == chunks.c.epoch, partitions.c.token == chunks.c.token
)
_working = or_(states.c.idle_since.is_(None), states.c.scope != _scope, states.c.routing != _routing)
_disobeying = exists().where(
    partitions.c.id == states.c.partition, partitions.c.token.is_not(None), states.c.confirmed < bindparam("version")
)
_SEE = select(
    and_(
        ~exists(select(states.c.partition).where(_working)),
        ~exists(select(mail.c.id)),
        ~exists(select(outbox.c.id)),
        ~exists(select(chunks.c.left).where(chunks.c.left > 0, _held)),
        ~exists(select(homes.c.site).where(or_(homes.c.moving.is_not(None), homes.c.waits))),
        ~exists(select(moves.c.site)),
    ),
    func.coalesce(_pages >= _total, False),
    ~exists(select(states.c.partition).where(_disobeying)),
)
_END = update(runs).where(*same(runs, "id")).values(outcome=bindparam("how"), ended_at=_HUB_NOW)


def set_idle(fence: Fence, chunk: Chunk | None, judged_scope: int, judged_routing: int) -> None:
    """In the writer's transaction that found nothing to do: no visit, no move, no outbox, nothing that is due soon.

    The versions are those by which the partition judged. What it has drawn and not used goes back before.
    """
    if chunk is not None:
        chunk.give_back()
    fence.writer.run(_IDLE, partition=fence.holding.partition, judged_scope=judged_scope, judged_routing=judged_routing)


def end_if_done(hub: HubConnection, run: int) -> str | None:
    """Ends the run if nothing is left: `done`, `max-pages` or `stopped`. None: it goes on, or has ended before."""
    with hub.transaction():
        held = hub.rows(_HOLD, id=run)
        if not held:
            return None
        wanted, version = held[0]
        ((is_done, is_full, is_obeyed),) = hub.rows(_SEE, quota=MAX_PAGES, version=version)
        if is_full:
            how = "max-pages"
        elif is_done:
            how = "done"
        elif wanted == STOPPED and is_obeyed:
            how = "stopped"
        else:
            return None
        hub.run(_END, id=run, how=how)
    return how
