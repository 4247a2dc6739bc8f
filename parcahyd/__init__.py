"""PARCAHYD: a parallel crawler for augmented hypertext documents. This is the page for programs that use it.

    import time
    import parcahyd

    configuration = parcahyd.load_configuration("conf", ["Work.MaxPages=100"])
    parcahyd.crawl(configuration, ["https://www.example.org/"])
    with parcahyd.open_reports(configuration) as reports:
        print(reports.status(time.time()).states)
        for url in reports.urls(state="stored"):
            print(url.url, len(reports.document(url.url).body))

The names in `__all__` are public, and so are those of `parcahyd.plugins`, the page for authors of plugins, with the checks for
their tests in `parcahyd.testing`. Everything else may change without notice.

Every module of the package runs this file first, so it stays light: `crawl` and `open_reports` import the crawler and the
database layer when they are called.

To read the code, begin with `topology.py`, which joins the boxes of `pipeline/` as the architecture's drawing does. `core/`
holds what passes between them, `rules/` and `refresh/` decide, `net/` and `storage/` act.

Tested in tests/architecture/test_public_pages.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from parcahyd.config.database_url import database_url
from parcahyd.config.loading import load as load_configuration
from parcahyd.config.schema import Configuration, HostRule, MapConf, WorkConf
from parcahyd.core.errors import (
    ConfigurationError,
    CrawlBusy,
    DatabaseUnusable,
    ParcahydError,
    PluginError,
    RunFailure,
    UserError,
)
from parcahyd.core.progress import NullObserver, Observer, Progress, RunSummary
from parcahyd.core.version import __version__

if TYPE_CHECKING:
    from parcahyd.storage.reports import Reports

__all__ = [
    "Configuration",
    "ConfigurationError",
    "CrawlBusy",
    "DatabaseUnusable",
    "HostRule",
    "MapConf",
    "Observer",
    "ParcahydError",
    "PluginError",
    "Progress",
    "RunFailure",
    "RunSummary",
    "UserError",
    "WorkConf",
    "__version__",
    "crawl",
    "load_configuration",
    "open_reports",
]


def crawl(
    configuration: Configuration,
    seeds: Sequence[str] = (),
    *,
    forever: bool = False,
    observer: Observer | None = None,
    as_configured: bool = False,
    told: Callable[[str], None] | None = None,
) -> int:
    """Crawl until nothing is due, or without end where `forever` is true; the same call goes on where a run stopped.

    It starts processes of its own and is called from the main thread, where it handles SIGINT, SIGTERM and SIGHUP.
    `observer` gets a snapshot twice a second and a summary at the end. Returns the exit code: 0 when done, 130 when
    interrupted. What belongs to the crawl (limits, scope, delays, order) is taken over from the last run where the
    configuration leaves it at its default, and `told` gets a line about each such setting. What was given besides must be given
    again, or `as_configured` be true: docs/command-line.md says which these are. Raises UserError for what the user can put
    right and RunFailure when the crawl cannot go on.
    """
    from parcahyd.topology import crawl as run  # Heavy: see above.

    watching = observer or NullObserver()
    return run(configuration, seeds, forever=forever, observer=watching, as_configured=as_configured, told=told)


def open_reports(configuration: Configuration) -> Reports:
    """What is stored in the database of this configuration, to be used in a `with` block; a crawl may run meanwhile.

    `status`, `urls`, `document` and `story` answer what the commands `status`, `urls`, `show` and `explain` ask. Raises
    DatabaseUnusable where no crawl is stored.
    """
    from parcahyd.storage.reports import Reports  # Heavy: see above.

    return Reports.open(database_url(configuration))
