"""What can go wrong, in one tree.

ParcahydError
├── UserMistake            one line and a remedy, exit code 2, never a traceback
│   ├── ConfigurationError a key, type or value in MapConf.toml, WorkConf.toml or --set
│   ├── PluginNotFound     a resolver or downloader that nobody provides
│   ├── DatabaseMistake    a DbUrl that cannot be opened, or a schema from a newer version
│   └── CrawlBusy          another run holds the lock of this database
├── ResolutionFailed       a host name without addresses, with its Reason
├── RunFailed              the crawl cannot go on, exit code 1
└── StoreFailed            a batch that the database did not take
"""

from __future__ import annotations

from parcahyd.core.life_cycle import Reason

__all__ = [
    "ConfigurationError",
    "CrawlBusy",
    "DatabaseMistake",
    "ParcahydError",
    "PluginNotFound",
    "ResolutionFailed",
    "RunFailed",
    "StoreFailed",
    "UserMistake",
]


class ParcahydError(Exception):
    """The root of everything this program raises on purpose."""


class UserMistake(ParcahydError):
    """Something the user can put right: the message says what is wrong, `remedy` what to do."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})" if self.remedy else self.message


class ConfigurationError(UserMistake):
    """A setting that cannot be understood, with the place where it stands."""


class PluginNotFound(UserMistake):
    """A plugin that was named and that nobody provides."""


class DatabaseMistake(UserMistake):
    """A database that cannot be used as it is configured."""


class CrawlBusy(UserMistake):
    """A second run on a database that a first one is working on."""


class ResolutionFailed(ParcahydError):
    """A resolver's way of saying that a host has no address now; `reason` decides what happens next."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(detail or reason.sentence)
        self.reason = reason
        self.detail = detail


class RunFailed(ParcahydError):
    """The run ended because a part that it cannot do without is gone."""


class StoreFailed(ParcahydError):
    """The database refused a batch; the batch is whole and can be tried again."""
