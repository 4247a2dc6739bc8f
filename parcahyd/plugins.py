"""The page for authors of plugins: everything that a plugin imports from PARCAHYD. docs/plugins.md shows how to use it.

- `hookimpl` marks the functions that offer something; `parcahyd/hookspecs.py` lists the hooks.
- The ports say what each kind of plugin does: `Resolver`, `Downloader`, `Order`, `Partitioner`, `Recognizer`,
  `Summarizer`, `Expander`.
- `MapConf` and `WorkConf` are the configurations that factories get.
- Resolvers return a `Resolution`, or raise `ResolutionFailure` with a `Reason`. `AnswerCache` remembers answers.
- Downloaders get a `DownloadRequest` and give a `DownloadResult`, with a `DownloadFailure` where the transfer failed.
  `ThreadedDownloader` is the base class of those that block. `ACCEPT_ENCODING` is the header that asks for the content codings
  which the crawl undoes, and `codings_of` reads those of an answer.
- Partition strategies are made with a `Routing`. They are asked about a `Seen` host, which may have `Neighbours`, and may be
  `Undecided`; about a `JudgedPage`; and for a `Plan` with each `SiteMove`, from a `ClusterView` of every `ClusterNode`. They
  are told an `Observation` of each kind (`Observed`) that they name. `ByHash` is the built-in one, and a base class for
  others.
- Summarizers return a `Summary` within the `MAX_` bounds; `decode`, `one_line` and `Joiner` help. Expanders yield `Member`s,
  with a word of `Skipped` for those that are no documents.
- A factory raises `UserError` for what the user of the plugin can put right, such as a missing library.

The checks for tests of plugins are in `parcahyd.testing`. A test holds the list of names.

Tested in tests/architecture/test_public_pages.py.
"""

from __future__ import annotations

from parcahyd.config.schema import MapConf, WorkConf
from parcahyd.core.documents import (
    MAX_HEADINGS,
    MAX_KEYWORDS,
    MAX_LANGUAGE,
    MAX_LINKS,
    MAX_NAME,
    MAX_TEXT,
    MAX_TITLE,
    MAX_WORD,
    Expander,
    Member,
    Recognizer,
    Skipped,
    Summarizer,
    Summary,
)
from parcahyd.core.errors import ResolutionFailure, UserError
from parcahyd.core.partitions import (
    MAX_SHARED,
    ClusterNode,
    ClusterView,
    JudgedPage,
    Neighbours,
    Observation,
    Observed,
    Partitioner,
    Plan,
    Routing,
    Seen,
    SiteMove,
    Undecided,
)
from parcahyd.core.ports import (
    GENERAL,
    Downloader,
    DownloadFailure,
    DownloadRequest,
    DownloadResult,
    Order,
    RequestOptions,
    Resolution,
    Resolver,
)
from parcahyd.core.states import Reason
from parcahyd.hookspecs import hookimpl
from parcahyd.net.answer_cache import AnswerCache
from parcahyd.net.threaded_downloader import ThreadedDownloader
from parcahyd.partition.by_hash import ByHash
from parcahyd.rules.html.encodings import decode
from parcahyd.rules.html.title_and_language import one_line
from parcahyd.rules.media_types.content_codings import ACCEPT_ENCODING, codings_of
from parcahyd.rules.urls.canonical_url import Joiner

__all__ = [
    "ACCEPT_ENCODING",
    "GENERAL",
    "MAX_HEADINGS",
    "MAX_KEYWORDS",
    "MAX_LANGUAGE",
    "MAX_LINKS",
    "MAX_NAME",
    "MAX_SHARED",
    "MAX_TEXT",
    "MAX_TITLE",
    "MAX_WORD",
    "AnswerCache",
    "ByHash",
    "ClusterNode",
    "ClusterView",
    "DownloadFailure",
    "DownloadRequest",
    "DownloadResult",
    "Downloader",
    "Expander",
    "Joiner",
    "JudgedPage",
    "MapConf",
    "Member",
    "Neighbours",
    "Observation",
    "Observed",
    "Order",
    "Partitioner",
    "Plan",
    "Reason",
    "Recognizer",
    "RequestOptions",
    "Resolution",
    "ResolutionFailure",
    "Resolver",
    "Routing",
    "Seen",
    "SiteMove",
    "Skipped",
    "Summarizer",
    "Summary",
    "ThreadedDownloader",
    "Undecided",
    "UserError",
    "WorkConf",
    "codings_of",
    "decode",
    "hookimpl",
    "one_line",
]
