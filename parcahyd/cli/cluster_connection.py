"""The hub that a command of `parcahyd cluster` works with.

Tested in tests/cli/test_cluster.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from parcahyd.cli.options import read_configuration
from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.identity import ClusterFacts, ClusterIdentity
from parcahyd.config.database_url import database_url
from parcahyd.config.schema import Configuration

__all__ = ["connected", "open_hub"]

_LOCK_SECONDS = 5.0
_NAME = "parcahyd command"


@contextmanager
def connected(configuration: Configuration) -> Iterator[HubConnection]:
    """A session at the database, whether there is a hub in it or not."""
    with closing(HubConnection(database_url(configuration), _NAME, _LOCK_SECONDS)) as hub:
        yield hub


@contextmanager
def open_hub(
    folder: Path | None, overrides: Sequence[str], database: str | None
) -> Iterator[tuple[HubConnection, ClusterFacts]]:
    """The hub of the crawl that `--conf`, `--set` and `--db` name. A database without one is a DatabaseUnusable."""
    with connected(read_configuration(folder, overrides, database)) as hub:
        yield hub, ClusterIdentity(hub).read()
