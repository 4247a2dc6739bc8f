"""An event loop in a thread of its own, so that a test can block on a crawl while its servers answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.support.processes import TEST_TIMEOUT

__all__ = ["LoopThread"]

_T = TypeVar("_T")


class LoopThread:
    """Runs coroutines for a caller that has no loop; `close` cancels whatever still runs and joins the thread."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, _T]) -> _T:
        """The coroutine's result, computed on the loop, within `TEST_TIMEOUT`, so that no test hangs on its own server."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(TEST_TIMEOUT)

    def close(self) -> None:
        self.call(_cancel_everything())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


async def _cancel_everything() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
