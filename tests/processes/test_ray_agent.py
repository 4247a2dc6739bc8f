"""The actor without Ray: it keeps an agent, tells how it is doing in plain values, and leaves Ray when the run is over."""

from __future__ import annotations

import queue
import sys

import pytest

from parcahyd.processes import ray_agent
from parcahyd.processes.agent_keeper import AgentPlace
from parcahyd.processes.ray_agent import RayAgent
from tests.support.processes import TEST_TIMEOUT

PLACE = ("192.0.2.1", "postgresql+psycopg://db.example/crawl", "/etc/parcahyd", False)


def test_an_actor_whose_agent_ended_with_the_run_removes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[AgentPlace] = []
    removed: queue.Queue[str] = queue.Queue()

    def command(place: AgentPlace) -> list[str]:
        asked.append(place)
        return [sys.executable, "-c", "import sys; print('the last line', file=sys.stderr)"]

    monkeypatch.setattr(ray_agent, "agent_command", command)
    monkeypatch.setattr(ray_agent, "_remove_actor", removed.put)
    actor = RayAgent("c1", *PLACE)
    assert removed.get(timeout=TEST_TIMEOUT) == "c1 192.0.2.1"
    assert actor.health() == (1, 0, "the last line")
    assert actor.place() == PLACE
    assert asked == [AgentPlace(*PLACE)]
