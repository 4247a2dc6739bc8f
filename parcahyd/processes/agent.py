"""The agent of a machine: it takes partitions, runs a pipeline for each, and gives them back when it is stopped.

It decides nothing about visits, and may die at any time: its pipelines then end in order, and other machines take their
partitions. Tested in tests/cluster_lab/test_agent.py.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import msgspec

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import boot_time
from parcahyd.cluster.fence import Fence
from parcahyd.cluster.identity import ClusterFacts
from parcahyd.cluster.machine import Looked, MachineAtHub
from parcahyd.cluster.planning import plan, read_routing
from parcahyd.cluster.records import HeldPartition, Holding
from parcahyd.cluster.runs import Run
from parcahyd.cluster.taking import Taking
from parcahyd.config.database_url import database_url
from parcahyd.config.remembered import join_run, read_record
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import DatabaseUnusable, LeaseLost, StoreFailure, UserError
from parcahyd.core.messages import Begin, CannotRun, FromPipelineToAgent, Notice
from parcahyd.core.partitions import Routing
from parcahyd.plugin_manager import PluginManager
from parcahyd.processes.part_of_crawl import lock_name
from parcahyd.processes.pipeline_shares import share_of_one
from parcahyd.processes.surroundings import LEASE_IS_OVER
from parcahyd.runtime.channel import Channel
from parcahyd.runtime.children import Child
from parcahyd.runtime.machine_facts import measure_machine
from parcahyd.runtime.run_lock import is_free
from parcahyd.runtime.stop_signals import handled_signals, ignore_from_now_on, interrupt_on_signals

__all__ = ["Agent"]

_LOOK_EVERY = 1.0
_LONGEST_LOOK = 60.0
"""Seconds after which a look gets no answer any more. Plans of a large cluster take some seconds."""
_LOCK_SECONDS = 1.0
_GRACE = 15.0
"""Seconds beyond StopTimeout after which a pipeline that does not end is killed."""
_LONGEST_REST = 30.0
_MOST_FAILED_STARTS = 5
_GAVE_BACK = frozenset({0, 130})
"""Exit codes of pipelines whose partition is free."""
_TIE_SIZE = 4096
_EXIT_DONE, _EXIT_INTERRUPTED = 0, 130


class _Pipeline:
    """One pipeline of this machine."""

    def __init__(self, holding: Holding, run: int, child: Child) -> None:
        self.holding = holding
        self.run = run
        self.child = child
        self.error: UserError | None = None
        """Why it could not begin."""


class Agent:
    """Runs until it is stopped; with `once`, until the run is over. `say` gets a line for people.

    `tied_to` is an open pipe or socket: the agent ends when its other end is closed.
    """

    def __init__(
        self,
        configuration: Configuration,
        name: str,
        address: str,
        *,
        once: bool,
        forever: bool,
        say: Callable[[str], None],
        tied_to: int | None = None,
    ) -> None:
        self._configuration = configuration
        self._url = database_url(configuration)
        self._name = name
        self._address = address
        self._once = once
        self._forever = forever
        self._say = say
        self._tied_to = tied_to
        self._loop = asyncio.new_event_loop()
        self._thread = ThreadPoolExecutor(1, "hub")
        self._machine: MachineAtHub | None = None
        self._pipelines: dict[int, _Pipeline] = {}
        self._channels: dict[int, Channel] = {}
        self._left_behind: dict[int, Holding] = {}
        self._failures: dict[int, int] = {}
        """By partition: pipelines that failed in a row."""
        self._rests_until: dict[int, float] = {}
        """By partition: the boot time from which the next pipeline may begin."""
        self._joined: tuple[tuple[int, int], Configuration] | None = None
        """The run with the version of what is wanted of it, and the settings by which it is crawled."""
        """The run that was joined last, with the configuration for it."""
        self._result: int | Exception | None = None
        self._is_stopping = False
        self._was_away = False
        self._has_looked = False

    def run(self) -> int:
        """The exit code. Raises UserError."""
        with interrupt_on_signals():  # Afterwards signals are as they were before.
            return self._run_until_ended()

    def _run_until_ended(self) -> int:
        numbers = handled_signals()
        for number in numbers:
            self._loop.add_signal_handler(number, self._interrupted)
        self._loop.set_exception_handler(self._bug)
        if self._tied_to is not None:
            self._loop.add_reader(self._tied_to, self._read_tie, self._tied_to)
        try:
            self._loop.call_soon(self._look)
            self._loop.run_forever()
        finally:
            for number in numbers:
                self._loop.remove_signal_handler(number)
            ignore_from_now_on()
            self._kill_pipelines()
            self._thread.submit(self._leave).result()
            self._thread.shutdown()
            self._loop.close()
        if isinstance(self._result, Exception):
            raise self._result
        assert self._result is not None  # noqa: S101 - the loop runs until there is one
        return self._result

    # --- looking, in the thread that talks to the hub -------------------------------------------------------------------

    def _look_at_hub(self, left_behind: list[Holding]) -> tuple[Looked, str | None]:
        if self._machine is None:
            self._machine = MachineAtHub(
                HubConnection(self._url, f"parcahyd agent {self._name}", _LOCK_SECONDS),
                lambda holding, lease: HubConnection(self._url, holding.session_name, lease / 10, holding.identity),
                boot_time,
                name=self._name,
                address=self._address,
                capacity=lambda: msgspec.json.encode(measure_machine(self._name)).decode(),
                plan=self._plan,
            )
        looked = self._machine.look(left_behind, self._may_take)
        is_new = looked.run is not None and (self._joined is None or self._joined[0] != (looked.run.id, looked.run.version))
        return looked, self._machine.settings() if is_new else None

    def _may_take(self, partition: int) -> bool:
        is_ours = partition in self._pipelines or partition in self._left_behind
        return not self._is_stopping and not is_ours and self._rests_until.get(partition, 0.0) <= boot_time()

    def _plan(self, planner: Fence, facts: ClusterFacts, alive: Collection[str]) -> None:
        configuration = self._configuration if self._joined is None else self._joined[1]
        version, _, state = read_routing(planner.writer)
        routing = Routing(facts.partitions, version, state, facts.secret)
        plan(planner, PluginManager.load(configuration).partitioner(routing), routing, alive)

    def _leave(self) -> None:
        if self._machine is not None:
            self._machine.close()

    # --- what a look brought --------------------------------------------------------------------------------------------

    def _look(self) -> None:
        # A process of an ended pipeline that stands still keeps the lock.
        left_behind = [one for one in self._left_behind.values() if is_free(lock_name(self._url, one.partition))]
        look = self._thread.submit(self._look_at_hub, left_behind)
        look.add_done_callback(lambda future: self._loop.call_soon_threadsafe(self._looked, future))
        self._loop.call_later(_LONGEST_LOOK, self._cut_off, look)

    def _cut_off(self, look: Future[tuple[Looked, str | None]]) -> None:
        if not look.done() and self._machine is not None:
            self._machine.cut_off()
            self._loop.call_later(_LONGEST_LOOK, self._cut_off, look)

    def _looked(self, future: Future[tuple[Looked, str | None]]) -> None:
        error = future.exception()
        if isinstance(error, (StoreFailure, LeaseLost)) or (isinstance(error, DatabaseUnusable) and self._has_looked):
            self._hub_is_away(error)
        elif isinstance(error, UserError):
            self._stop(error)
        elif error is not None:
            raise error
        else:
            self._act(*future.result())
        self._loop.call_later(_LOOK_EVERY, self._look)

    def _hub_is_away(self, error: Exception) -> None:
        if not self._was_away:
            self._say(f"the hub does not answer: {error}")
        self._was_away = True

    def _act(self, looked: Looked, settings: str | None) -> None:
        self._has_looked = True
        if self._was_away:
            self._say("the hub answers again")
            self._was_away = False
        for partition in looked.ended:
            self._left_behind.pop(partition, None)
            self._say(f"partition {partition}: what its last holder left behind is free now")
        for partition in looked.given_back:
            self._left_behind.pop(partition, None)
        for pipeline in self._pipelines.values():
            if pipeline.holding.identity != looked.facts.identity:  # The hub went back, and knows nothing of this holder.
                pipeline.child.kill()
        if not looked.is_to_work and self._channels:
            self._say("this machine is drained: partitions are given back")
            self._close_channels()
        if looked.run is not None and settings is not None:
            self._join(looked.run, settings)
        for taking in looked.taken:
            self._start(taking, looked)
        self._end_if_over(looked)

    def _join(self, run: Run, settings: str) -> None:
        """Crawls by the settings of the run from now on. What is the user's own must be this machine's, too."""
        try:
            agreed = join_run(self._configuration, read_record(settings))
        except UserError as error:
            self._stop(error)
            return
        if self._joined is None or self._joined[0][0] != run.id:
            self._say(f"run {run.id} is under way")
        self._joined = (run.id, run.version), agreed

    def _end_if_over(self, looked: Looked) -> None:
        is_over = self._joined is not None and (looked.run is None or looked.run.id != self._joined[0][0])
        if is_over and self._once and not self._pipelines and looked.is_free:
            self._end(_EXIT_DONE)
        elif self._is_stopping and not self._pipelines:
            self._end(_EXIT_INTERRUPTED)

    # --- pipelines ------------------------------------------------------------------------------------------------------

    def _start(self, taking: Taking, looked: Looked) -> None:
        holding, facts = taking.holding, looked.facts
        partition = holding.partition
        if self._joined is None or looked.run is None or self._is_stopping:
            self._left_behind[partition] = holding
            return
        held = HeldPartition(
            holding=holding,
            node=self._name,
            lease=facts.lease,
            noted=taking.noted,
            secret=facts.secret,
            partitions=facts.partitions,
            run=looked.run.id,
        )
        share = share_of_one(self._joined[1], facts, wanted_here=looked.wanted_here, nodes=len(looked.alive))
        child = Child("pipeline")
        self._pipelines[partition] = pipeline = _Pipeline(holding, looked.run.id, child)
        channel = self._channels[partition] = Channel(
            child.end, self._loop, FromPipelineToAgent, partial(self._ended, partition)
        )
        channel.on(Notice, lambda notice: self._say(notice.sentence))
        channel.on(CannotRun, partial(self._cannot_run, pipeline))
        channel.send(Begin(msgspec.msgpack.encode(share), forever=self._forever, partition=msgspec.msgpack.encode(held)))
        self._say(f"partition {partition}: its pipeline starts (process {child.pid})")

    @staticmethod
    def _cannot_run(pipeline: _Pipeline, message: CannotRun) -> None:
        pipeline.error = UserError(message.message, message.remedy)

    def _ended(self, partition: int) -> None:
        """A pipeline has closed its channel: it ends, and leaves its partition free or behind."""
        pipeline = self._pipelines[partition]
        del self._channels[partition]
        code = pipeline.child.wait(0.05)
        if code is None:
            self._loop.call_later(0.1, self._wait_for, partition, boot_time() + self._configuration.work.StopTimeout + _GRACE)
        else:
            self._note_end(partition, code)

    def _wait_for(self, partition: int, until: float) -> None:
        pipeline = self._pipelines[partition]
        code = pipeline.child.wait(0.0)
        if code is None and boot_time() >= until:
            pipeline.child.kill()
        if code is None:
            self._loop.call_later(0.1, self._wait_for, partition, until)
        else:
            self._note_end(partition, code)

    def _note_end(self, partition: int, code: int) -> None:
        pipeline = self._pipelines.pop(partition)
        self._left_behind[partition] = pipeline.holding
        if code in _GAVE_BACK:
            self._failures.pop(partition, None)
            self._say(f"partition {partition}: its pipeline has ended")
            return
        failures = self._failures[partition] = self._failures.get(partition, 0) + 1
        self._rests_until[partition] = boot_time() + min(_LONGEST_REST, 2.0 ** min(failures, 10) / 2)
        why = "its lease is over" if code == LEASE_IS_OVER else f"exit code {code}"
        if pipeline.error is not None:
            why = str(pipeline.error)
        self._say(f"partition {partition}: its pipeline has ended: {why}")
        if pipeline.error is not None and failures >= _MOST_FAILED_STARTS:
            self._stop(pipeline.error)

    # --- the end --------------------------------------------------------------------------------------------------------

    def _interrupted(self) -> None:
        """The first signal gives the partitions back, the second ends at once."""
        if self._is_stopping:
            self._end(_EXIT_INTERRUPTED)
        else:
            self._say("stopping: partitions are given back")
            self._stop(None)

    def _read_tie(self, tie: int) -> None:
        """What is written there has no meaning."""
        if not os.read(tie, _TIE_SIZE):
            self._loop.remove_reader(tie)
            self._say("stopping: who started this agent is gone; partitions are given back")
            self._stop(None)

    def _stop(self, error: UserError | None) -> None:
        if self._result is None and error is not None:
            self._result = error
        if self._is_stopping:
            return
        self._is_stopping = True
        self._close_channels()
        self._loop.call_soon(self._end_when_empty)

    def _close_channels(self) -> None:
        """Asks every pipeline for its partition."""
        until = boot_time() + self._configuration.work.StopTimeout + _GRACE
        for partition, channel in self._channels.items():
            channel.close()
            self._loop.call_later(0.1, self._wait_for, partition, until)
        self._channels.clear()

    def _end_when_empty(self) -> None:
        if self._pipelines:
            self._loop.call_later(0.1, self._end_when_empty)
        else:
            self._end(_EXIT_INTERRUPTED)

    def _end(self, result: int | Exception) -> None:
        if self._result is None:
            self._result = result
        self._loop.stop()

    def _kill_pipelines(self) -> None:
        for pipeline in self._pipelines.values():
            pipeline.child.kill()
            pipeline.child.wait()

    def _bug(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception):
            self._end(error)
        else:
            loop.default_exception_handler(context)
