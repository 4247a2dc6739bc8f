"""Every exception that this program raises on purpose, in one tree.

ParcahydError
├── UserError            one line and a remedy, exit code 2, never a traceback
│   ├── ConfigurationError a key, type or value in MapConf.toml, WorkConf.toml or --set
│   ├── PluginError        a plugin that cannot be imported, registered or made
│   │   └── PluginNotFound a resolver, downloader or order that no plugin offers
│   ├── DatabaseUnusable    a DbUrl that cannot be opened, or a schema from a newer version
│   └── CrawlBusy          another run holds the lock of this database
├── ResolutionFailure       a host name without addresses, with its Reason
├── RunFailure              the crawl cannot go on, exit code 1
├── ExportFailure           an export that cannot go on now, exit code 1
├── LeaseLost               another machine may have this partition: the process ends without writing
│   └── HubWentBack        the hub is another one, or an older state of it
└── StoreFailure            a batch that the database did not take, and may take later
    └── RecordRefusal      a batch with a record that the database never takes

Four nouns are used for what goes wrong, here and in messages. A *UserError* is for the user to put right. A *PluginError* is
for the author of a plugin. A *Failure* is something that did not work and may work later. A *Refusal* is something that this
program or a server declines to do.
"""

from __future__ import annotations

from parcahyd.core.states import Reason

__all__ = [
    "ConfigurationError",
    "CrawlBusy",
    "DatabaseUnusable",
    "ExportFailure",
    "HubWentBack",
    "LeaseLost",
    "ParcahydError",
    "PluginError",
    "PluginNotFound",
    "RecordRefusal",
    "ResolutionFailure",
    "RunFailure",
    "StoreFailure",
    "UserError",
    "error_line",
]


class ParcahydError(Exception):
    """The root of the tree."""


class UserError(ParcahydError):
    """Something the user can put right: the message says what is wrong, `remedy` what to do."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})" if self.remedy else self.message


class ConfigurationError(UserError):
    """A setting that cannot be used; the message says where it was given."""


class PluginError(UserError):
    """A plugin that cannot be imported, registered or made; the message names it."""


class PluginNotFound(PluginError):
    """A name in the configuration that no plugin offers."""


class DatabaseUnusable(UserError):
    """A database that cannot be used as it is configured."""


class CrawlBusy(UserError):
    """A second run on a database that a first one is working on."""


class ResolutionFailure(ParcahydError):
    """A resolver found no address for a host; `reason` decides what happens next."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(detail or reason.sentence)
        self.reason = reason
        self.detail = detail


class RunFailure(ParcahydError):
    """The run ended because a part that it needs is gone."""


class ExportFailure(ParcahydError):
    """There is no room for what an export writes; it can go on later."""


class LeaseLost(ParcahydError):
    """The lease of a partition is over, or nobody knows whether it is; whoever held it asks for nothing and writes nothing."""


class HubWentBack(LeaseLost):
    """The hub of a cluster is not the one that gave the lease: a standby took over, or a backup was restored."""


class StoreFailure(ParcahydError):
    """The database did not take a batch; the batch is whole and can be tried again."""


class RecordRefusal(StoreFailure):
    """The database refused a value in a batch. It refuses the batch again until the record with that value is taken out."""


def error_line(error: BaseException) -> str:
    """An exception's type and the first line of its text."""
    first = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
