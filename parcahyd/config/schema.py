"""Every setting, once: its key, type, default and a sentence. Help, `conf/*.toml` and docs/settings.md follow from here.

Keys keep the names of the paper's tables (statements P12, P15), and new keys follow their style.

Tested in tests/config/test_loading.py and tests/config/test_explaining.py.
"""

# Annotations are not postponed here: msgspec reads those of records, and would compile each from its text in every process.

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from parcahyd.core.version import __version__

__all__ = ["Configuration", "HostRule", "MapConf", "WorkConf", "decode_configuration"]

_Amount = Annotated[float, Meta(ge=0)]
_Seconds = Annotated[float, Meta(ge=0, le=1_000_000_000)]
"""Thirty years: every point in time that follows from them is one that a calendar has."""
_TimeLimit = Annotated[float, Meta(ge=0, le=1_000_000)]
"""Seconds that are given to libraries, which count milliseconds in 32 bits: what is longer becomes short, or fails."""
_Count = Annotated[int, Meta(ge=1)]
_ProductName = Annotated[str, Meta(min_length=1, pattern=r"^[!-~][ -~]*$")]
_Limit = Annotated[int, Meta(ge=0)]
"""A count of which 0 means that there is no limit."""


def _says(sentence: str) -> Meta:
    return Meta(description=sentence)


def _belongs_to(owner: str) -> Meta:
    return Meta(extra={"belongs_to": owner})


# Whose setting it is, which decides what a run does that goes on with a crawl and is not given it. `remembered.py` does it.
_CRAWL = _belongs_to("crawl")
"""What is crawled, how far and how quickly: taken over from the last run. MapConf has none: mappers start before it is read."""
_USER = _belongs_to("user")
"""Code, files, networks, names, secrets and what robots.txt may say. A database may come from others, so it is never taken
from one: the run stops and has the user repeat it."""
_RUN = _belongs_to("run")
"""What one run does on one machine: not taken over, and told where it differs."""
_APART = _belongs_to("apart")
"""How the database is reached, and the seeds, which are in it: not compared."""


class _DatabaseSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    DbUrl: Annotated[
        str,
        _APART,
        _says(
            "Where the crawl is stored: sqlite:///FILE (relative to this folder) or postgresql://HOST:PORT/NAME. "
            "Given in one file it serves both."
        ),
    ] = "sqlite:///crawl.db"
    DbName: Annotated[str, _APART, _says("The database's name, where DbUrl does not give it.")] = ""
    DbUser: Annotated[str, _APART, _says("The database user, where DbUrl does not give it.")] = ""
    DbPassword: Annotated[
        str, _APART, _says('The database password; "env:NAME" reads it from the environment variable NAME.')
    ] = ""


class MapConf(_DatabaseSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The mapping process: URL Dispatcher, URL-IP Queue, Mapping Manager, URL Mappers."""

    DnsResolverClass: Annotated[
        str,
        _USER,
        _says('The DNS resolver plugin: "dnspython", "system", "hosts-file", another plugin\'s name, or a dotted path.'),
    ] = "dnspython"
    MaxInstances: Annotated[_Count, _RUN, _says("How many URL Mapper threads resolve host names at the same time.")] = 40
    LocalInstance: Annotated[
        bool, _USER, _says("The crawl runs on this machine; false in either file: on the machines of ListIP (extra: cluster).")
    ] = True
    ListIP: Annotated[
        tuple[str, ...], _USER, _says("Addresses of the machines of a cluster, added to those in the other file.")
    ] = ()
    ArgumentUrl: Annotated[_Count, _RUN, _says("How many URL-IP pairs a URL Mapper gets in one set, at most.")] = 10
    QueueSize: Annotated[_Count, _RUN, _says("How many pairs the URL-IP Queue and the Resolved URL Queue hold, at most.")] = (
        1000
    )
    AllowAddresses: Annotated[
        tuple[str, ...],
        _USER,
        _says('Networks that may be crawled although they are not public, such as ["127.0.0.0/8", "192.168.7.0/24"].'),
    ] = ()
    Nameservers: Annotated[
        tuple[str, ...], _USER, _says('Name servers to ask, as "ADDRESS" or "ADDRESS:PORT"; empty: those of this machine.')
    ] = ()
    HostsFile: Annotated[str, _USER, _says('The file that the "hosts-file" resolver reads, in the form of /etc/hosts.')] = (
        "/etc/hosts"
    )
    DnsTimeout: Annotated[_TimeLimit, _RUN, _says("Seconds after which a DNS question counts as unanswered.")] = 5.0
    MinTtl: Annotated[_Seconds, _RUN, _says("Seconds for which an address holds at least, whatever its TTL says.")] = 60.0
    MaxTtl: Annotated[_Seconds, _RUN, _says("Seconds for which an address holds at most, whichever resolver found it.")] = (
        86400.0
    )
    NegativeTtl: Annotated[_Seconds, _RUN, _says("Seconds for which a resolver remembers that a host has no address.")] = 300.0
    PluginDir: Annotated[
        str, _USER, _says("Folder whose Python files are loaded as plugins, relative to this folder; empty: no folder.")
    ] = "../plugins"


class HostRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is different for some hosts. The first rule whose Pattern fits a host counts for it, and no other."""

    Pattern: Annotated[
        str,
        _says('Which hosts: "example.org" itself, "*.example.org" those below it, "example.org:8080" on one port.'),
    ]
    Delay: Annotated[_Seconds | None, _says("HostDelay for these hosts.")] = None
    Connections: Annotated[_Count | None, _says("HostConnections for these hosts.")] = None
    MaxRate: Annotated[_Limit | None, _says("MaxHostRate for these hosts; 0: no limit.")] = None
    UserAgent: Annotated[_ProductName | None, _says("UserAgent for these hosts, in robots.txt too.")] = None
    Headers: Annotated[
        dict[str, str] | None, _says('Headers that are sent along, such as { "Accept-Language" = "pt", "X-Key" = "env:KEY" }.')
    ] = None
    Credentials: Annotated[
        str | None, _says('"USER:PASSWORD" for these hosts; "env:NAME" reads it from the environment variable NAME.')
    ] = None
    Authentication: Annotated[
        Literal["basic", "digest"] | None,
        _says('How Credentials are shown: "basic", at once (the default), or "digest", when the server asks.'),
    ] = None
    Proxy: Annotated[str | None, _says('Proxy for these hosts; "" means none.')] = None
    VerifyTls: Annotated[bool | None, _says("Certificates of these hosts are checked; unset: they are.")] = None
    Cookies: Annotated[bool | None, _says("Cookies for these hosts.")] = None
    Http2: Annotated[bool | None, _says("Http2 for these hosts.")] = None
    IgnoreRobots: Annotated[
        bool | None,
        _says("Fetch what robots.txt forbids: for hosts of your own, which Pattern must name. Each run warns about it."),
    ] = None


class WorkConf(_DatabaseSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The crawling process: Crawl Manager, Crawl Workers, Document and URL Buffer, Update Database."""

    DownloaderClass: Annotated[
        str, _USER, _says('The downloader plugin: "curl", "requests", another plugin\'s name, or a dotted path.')
    ] = "curl"
    Proxy: Annotated[
        str,
        _USER,
        _says(
            'Proxy for all requests, "http://HOST:PORT", "https://..." or "socks5://..."; "env:NAME" reads it from the '
            "environment variable NAME; empty: none."
        ),
    ] = ""
    Cookies: Annotated[bool, _USER, _says("Send cookies back to the site that set them, for as long as a worker runs.")] = False
    Http2: Annotated[bool, _CRAWL, _says("Speak HTTP/2 with servers that offer it over TLS.")] = True
    Seeds: Annotated[tuple[str, ...], _APART, _says("URLs that the crawl starts from; `parcahyd run URL` adds to them.")] = ()
    Order: Annotated[
        str,
        _CRAWL,
        _says(
            'In which order a site\'s pages are asked for: "depth", breadth first; "in-links", those first that most visits '
            'met; "pagerank", those first that important pages link to; "fair", breadth first in short visits; or another '
            "plugin's name."
        ),
    ] = "depth"
    HostShare: Annotated[
        Annotated[float, Meta(ge=0, le=1)],
        _CRAWL,
        _says(
            "A host that got more than this share of an hour's requests (and twice an even one) waits for others; "
            "0: none has to."
        ),
    ] = 0.002
    Scope: Annotated[
        Literal["site", "domain", "any"],
        _CRAWL,
        _says(
            'What belongs to the crawl: "site", the seeds\' own sites; "domain", their registrable domains; "any", everything.'
        ),
    ] = "site"
    Domains: Annotated[
        tuple[str, ...],
        _CRAWL,
        _says(
            'Hosts that belong to the crawl besides: "example.org" with all its subdomains, by http and https; '
            '"=www.example.org" only itself.'
        ),
    ] = ()
    Include: Annotated[
        tuple[str, ...],
        _CRAWL,
        _says(
            'Patterns of whole URLs of which one must fit, such as "https://example.org/docs/*"; "*" stands for any text, and '
            '"re:" opens a regular expression (PCRE2) that must be found in the URL. Empty: every URL. Seeds need not fit.'
        ),
    ] = ()
    Exclude: Annotated[
        tuple[str, ...],
        _CRAWL,
        _says("Patterns of URLs that are refused even if Include has them, written as those of Include."),
    ] = ()
    MediaTypes: Annotated[
        tuple[str, ...],
        _CRAWL,
        _says(
            'Media types of documents that are kept, such as ["text/html", "image/*"]; others are refused. Empty: all types.'
        ),
    ] = ()
    MaxDepth: Annotated[
        Annotated[int, Meta(ge=0)] | None, _CRAWL, _says("How many links a page may be away from a seed; unset: no limit.")
    ] = None
    MaxPages: Annotated[
        _Limit | None,
        _CRAWL,
        _says(
            "How many pages a run stores or finds unchanged, at most; sites that have work share them. 0 or unset: no limit."
        ),
    ] = None
    MaxPagesPerSite: Annotated[
        _Limit,
        _CRAWL,
        _says("How many pages of one site are stored, at most, in all runs together; 0: no limit."),
    ] = 0
    MaxSeconds: Annotated[
        _Seconds,
        _CRAWL,
        _says(
            "After how many seconds a run sends no more requests; what is on the wire is finished within StopTimeout, then it "
            "ends. 0: no limit."
        ),
    ] = 0.0
    MaxNewUrls: Annotated[
        _Limit,
        _CRAWL,
        _says(
            "How many new URLs of its own site, and how many of others, one page may bring at a time; the others are counted, "
            "and the page is read again; 0: no limit."
        ),
    ] = 50_000
    MaxSiteUrls: Annotated[
        _Limit,
        _CRAWL,
        _says(
            "How many URLs of its own a site may bring, besides a hundred for each page that it gave; pages with more are read "
            "again when there is room; 0: no limit."
        ),
    ] = 100_000
    MaxExternalUrls: Annotated[
        _Limit,
        _CRAWL,
        _says(
            "How many new URLs of other sites a site may bring, besides a hundred for each page that it gave; the others are "
            "counted; 0: no limit."
        ),
    ] = 10_000
    MaxBytes: Annotated[
        _Count, _CRAWL, _says("How large a document may be, in bytes after decompression; larger ones are refused.")
    ] = 32 * 1024 * 1024
    MaxUrlLength: Annotated[
        _Count, _CRAWL, _says("How long a URL may be, in characters; of a longer one only the beginning is recorded.")
    ] = 4000
    MaxRedirects: Annotated[Annotated[int, Meta(ge=0)], _CRAWL, _says("How many redirects in a row are followed.")] = 10
    Embedded: Annotated[bool, _CRAWL, _says("Fetch images, scripts, styles and media of pages too.")] = False
    StripParameters: Annotated[
        tuple[str, ...],
        _CRAWL,
        _says(
            'Parameters that are taken out of URLs, such as ["utm_*", "jsessionid"]; "*" at the end stands for any rest. '
            "Holds for URLs found from then on."
        ),
    ] = ()
    SortParameters: Annotated[
        bool, _CRAWL, _says("Sort the parameters of URLs by name, so that their order does not matter.")
    ] = False

    MaxPathSegments: Annotated[_Limit, _CRAWL, _says("How many segments a path may have; 0: no limit.")] = 32
    MaxRepeats: Annotated[
        _Limit,
        _CRAWL,
        _says("How many segments of a path, or parameters of a query, may have occurred in it before; 0: no limit."),
    ] = 3
    MaxParameters: Annotated[_Limit, _CRAWL, _says("How many parameters a query may have; 0: no limit.")] = 30
    MaxQueryShapes: Annotated[
        _Limit, _CRAWL, _says("With how many different lists of parameter names one path is followed; 0: no limit.")
    ] = 200
    MaxYearsAhead: Annotated[_Limit, _CRAWL, _says("How many years ahead runs of dates in URLs are followed; 0: no limit.")] = 5
    MaxYearsBack: Annotated[_Limit, _CRAWL, _says("How many years back runs of dates in URLs are followed; 0: no limit.")] = 300
    OneSession: Annotated[bool, _CRAWL, _says("Of URLs that differ in nothing but a session id, follow the first only.")] = True
    TemplateBudget: Annotated[
        _Limit,
        _CRAWL,
        _says(
            "After how many nearly identical documents from URLs that differ in numbers only (ten times as many from one "
            "directory, a hundred times from one site) no more of them are asked for; 0: no limit."
        ),
    ] = 500

    UserAgent: Annotated[
        _ProductName,
        _USER,
        _says("How the crawler names itself to servers and in robots.txt; add a way to reach you."),
    ] = f"parcahyd/{__version__}"
    Directives: Annotated[
        tuple[Literal["noindex", "nofollow", "noarchive"], ...],
        _USER,
        _says(
            "Which directives of pages (meta robots, X-Robots-Tag) and of links (rel) are obeyed; docs/documents.md says how."
        ),
    ] = ("noindex", "nofollow", "noarchive")
    Sitemaps: Annotated[bool, _CRAWL, _says("Read the sitemaps that robots.txt names, before the pages.")] = True
    Eager: Annotated[
        Literal["auto", "always", "never"],
        _CRAWL,
        _says(
            'Ask for the tables of links that a site declares, to know links before their documents: "auto", where that saves '
            'time; "always", before every document; "never".'
        ),
    ] = "auto"
    Probe: Annotated[
        Literal["declared", "well-known", "blind"],
        _CRAWL,
        _says(
            'How tables are looked for: "declared", where robots.txt or a page names them; "well-known", by one more request '
            'for each site; "blind", by asking for a table beside each page, until three are missing.'
        ),
    ] = "declared"
    HostDelay: Annotated[_Seconds, _CRAWL, _says("Seconds between two requests to one host.")] = 1.0
    HostConnections: Annotated[_Count, _CRAWL, _says("How many requests to one host may be under way at once.")] = 1
    AddressDelay: Annotated[
        _Seconds | None, _CRAWL, _says("Seconds between two requests to one address; unset: a tenth of HostDelay.")
    ] = None
    AddressConnections: Annotated[
        _Count | None,
        _CRAWL,
        _says("How many requests to one address may be under way at once; unset: eight times HostConnections."),
    ] = None
    MaxRate: Annotated[
        _Limit,
        _CRAWL,
        _says(
            "Bytes per second that the run receives, as a mean over several answers: after a large one the next request waits. "
            "Each Crawl Worker has an equal part of it. 0: no limit."
        ),
    ] = 0
    MaxHostRate: Annotated[
        _Limit, _CRAWL, _says("Bytes per second that are received from one host, as a mean over several answers; 0: no limit.")
    ] = 0

    DelayFactor: Annotated[
        _Amount,
        _CRAWL,
        _says("Where a host answers slowly, its delay is at least so many times the mean time of its answers; 0: it stays."),
    ] = 1.0
    MaxHostDelay: Annotated[_Seconds, _CRAWL, _says("Seconds up to which slow answers lengthen the delay of a host.")] = 30.0
    MaxCrawlDelay: Annotated[
        _Seconds, _CRAWL, _says("Seconds up to which a Crawl-delay in robots.txt is obeyed; a longer one counts as this.")
    ] = 60.0
    MaxRetryAfter: Annotated[
        _Seconds, _CRAWL, _says("Seconds up to which a server's Retry-After is obeyed; a longer one counts as this.")
    ] = 86400.0

    MaxInstances: Annotated[
        Annotated[int, Meta(ge=0)], _RUN, _says("How many Crawl Worker processes there are; 0: as many as usable cores.")
    ] = 0
    LocalInstance: Annotated[
        bool, _USER, _says("The crawl runs on this machine; false in either file: on the machines of ListIP (extra: cluster).")
    ] = True
    ListIP: Annotated[
        tuple[str, ...], _USER, _says("Addresses of the machines of a cluster, added to those in the other file.")
    ] = ()
    Partition: Annotated[
        str,
        _CRAWL,
        _says(
            'How a cluster divides the crawl among its machines: "hash", by a hash of the host\'s name; "dynamic_size", the '
            'largest hosts first to whoever has room; "superpage", what links to each other together; "location", each host '
            "to the machine that reaches it soonest; or another plugin's name. Unused while LocalInstance is true."
        ),
    ] = "hash"
    PartitionBy: Annotated[
        Literal["host", "domain"],
        _CRAWL,
        _says(
            'What "hash" keeps together: "host", every host by itself; "domain", all hosts of a registrable domain; unused '
            "while LocalInstance is true."
        ),
    ] = "host"
    Registries: Annotated[
        str,
        _USER,
        _says(
            'For "location": file of the registries\' address ranges that parcahyd lab rir made, by which fewer probes are '
            "needed; empty: none. Unused while LocalInstance is true."
        ),
    ] = ""
    NearEnough: Annotated[
        _Seconds,
        _CRAWL,
        _says(
            'For "location": seconds by which the machine of a host may be farther from it than the nearest one, in the mean; '
            "less takes more probes. Unused while LocalInstance is true."
        ),
    ] = 0.0025
    PostedBytes: Annotated[
        Annotated[int, Meta(ge=64)],
        _RUN,
        _says(
            "How many bytes a partition of a cluster uses to remember which URLs it has posted to others; unused while "
            "LocalInstance is true."
        ),
    ] = 8 * 1024 * 1024
    HotUrls: Annotated[
        _Count,
        _RUN,
        _says(
            "How many URLs of others, those that most links lead to, a partition of a cluster remembers besides; unused while "
            "LocalInstance is true."
        ),
    ] = 10_000
    ArgumentUrl: Annotated[_Count, _RUN, _says("How many pairs a Crawl Worker gets in one set, at most.")] = 5
    Connections: Annotated[_Count, _RUN, _says("How many requests a Crawl Worker may have under way at once.")] = 64
    OpenSites: Annotated[_Count, _RUN, _says("How many sites a Crawl Worker visits at the same time, at most.")] = 1000
    VisitPages: Annotated[_Count, _RUN, _says("How many pages one visit to a site fetches, at most.")] = 50_000
    VisitSeconds: Annotated[
        _Seconds, _RUN, _says("After how many seconds a visit to a site ends and its place is given to another.")
    ] = 600.0
    LocalUrls: Annotated[_Count, _RUN, _says("How many URLs wait in the LocalQs of a Crawl Worker together, at most.")] = (
        200_000
    )
    MetaKeys: Annotated[_Count, _RUN, _says("Up to how many known URLs of a site are sent along with a visit.")] = 100_000

    TimeoutConnect: Annotated[
        _TimeLimit, _CRAWL, _says("Seconds within which a connection must stand, encryption included.")
    ] = 15.0
    TimeoutFirstByte: Annotated[
        _TimeLimit | None,
        _CRAWL,
        _says("Seconds from a request, connecting included, to the first byte of its answer; unset: TimeoutIdle."),
    ] = None
    TimeoutIdle: Annotated[_TimeLimit, _CRAWL, _says("Seconds without a byte after which a transfer is given up.")] = 30.0
    TimeoutTotal: Annotated[_TimeLimit, _CRAWL, _says("Seconds that one document may take from request to last byte.")] = 300.0
    SendTimeout: Annotated[
        _TimeLimit,
        _RUN,
        _says(
            "Seconds after which a connection is given up whose server acknowledges nothing of what was sent; a connection is "
            "then reset when it is closed. 0: as the system does. A cluster sets a tenth of its lease."
        ),
    ] = 0.0
    MinRate: Annotated[
        _Amount,
        _CRAWL,
        _says(
            "Bytes per second that a transfer must bring, as a mean over TimeoutIdle seconds; 0: no limit. While all "
            "Connections are in use and others wait, it grows for transfers beyond a quarter of them, as a mean over five "
            "seconds: sixteen times within five seconds, then with the time for which a transfer keeps others waiting. "
            'The downloader "requests" does not know it.'
        ),
    ] = 100.0
    CaFile: Annotated[
        str, _USER, _says("File of trusted certificate authorities; empty: the system's, else the bundled one.")
    ] = ""

    MaxTries: Annotated[_Count, _CRAWL, _says("How often a URL is tried before it counts as gone.")] = 5
    RetryDelay: Annotated[
        _Seconds, _CRAWL, _says("Seconds before the first new try; every further try waits twice as long.")
    ] = 20.0
    WaitForRetries: Annotated[_Seconds, _CRAWL, _says("A run ends when nothing falls due within this many seconds.")] = 60.0
    RobotsTtl: Annotated[_Seconds, _USER, _says("Seconds for which a robots.txt is trusted.")] = 86400.0
    RobotsPatience: Annotated[
        _Seconds,
        _USER,
        _says("Seconds after which a robots.txt that cannot be read is replaced by its last copy, or by none."),
    ] = 30 * 86400.0
    RevisitAfter: Annotated[
        _Seconds, _CRAWL, _says("Seconds after which a document is due again that was stored for the first time.")
    ] = 86400.0
    RevisitMin: Annotated[
        _Seconds | None,
        _CRAWL,
        _says("Seconds that pass at least between two visits to a page, however often it changes; unset: RevisitAfter / 24."),
    ] = None
    RevisitMax: Annotated[
        _Seconds | None,
        _CRAWL,
        _says("Seconds that pass at most between two visits to a page, however seldom it changes; unset: RevisitAfter * 30."),
    ] = None
    RevisitsPerDay: Annotated[
        Annotated[int, Meta(ge=0)],
        _CRAWL,
        _says(
            "How many requests a day may go to URLs that were visited before; they are made where they do most for freshness. "
            "0: no limit."
        ),
    ] = 0

    MaxSize: Annotated[_Count, _RUN, _says("How many records Update Database writes in one transaction, at most.")] = 500
    BufferBytes: Annotated[
        Annotated[int, Meta(ge=65536)],
        _RUN,
        _says("How many bytes of records may wait in the Document and URL Buffer, and of bodies on the wire."),
    ] = 64 * 1024 * 1024
    Compressor: Annotated[
        Literal["zlib-ng", "isal"],
        _RUN,
        _says(
            'What compresses stored documents: "zlib-ng"; or "isal", ISA-L, which is quicker (pip install \'parcahyd[isal]\'). '
            "Both write zlib streams, so the setting may change between runs."
        ),
    ] = "zlib-ng"
    CompressionLevel: Annotated[
        Annotated[int, Meta(ge=1, le=9)],
        _RUN,
        _says('Level of "zlib-ng": 1 fast, 9 small; 2 takes twice the time of 1 for a fifth less space. "isal" has one level.'),
    ] = 1
    KeepVersions: Annotated[_Count, _CRAWL, _says("How many versions of a document are kept.")] = 3
    KeepChecks: Annotated[
        Annotated[int, Meta(ge=0)],
        _CRAWL,
        _says("How many answers that found nothing new (304, the same bytes) are kept of each URL: their heads and times."),
    ] = 0
    KeepErrors: Annotated[
        Annotated[int, Meta(ge=0)],
        _CRAWL,
        _says(
            "How many answers with an error (4xx, 5xx) are kept of each URL, with head and body, up to a megabyte; where it is "
            "not 0, the bodies of redirects are kept, too, and every robots.txt."
        ),
    ] = 0
    KeepCoded: Annotated[
        bool,
        _CRAWL,
        _says(
            "Keep the compressed bytes of every answer as the server sent them, also where its document is stored already in "
            "other ones."
        ),
    ] = False
    MergeMode: Annotated[
        Literal["lazy", "eager", "never"],
        _CRAWL,
        _says(
            'How a document with volatile regions is stored: "lazy", its skeleton once and the regions of each version, put '
            'together when it is read; "eager", every version whole. What is read is the same. "never": every version whole, '
            "and each is requested whole, never made of the stored one and its table."
        ),
    ] = "lazy"
    LearnRegions: Annotated[
        bool,
        _CRAWL,
        _says(
            "Learn from the versions of a page what changes on most visits (a clock, a token, a counter): where nothing else "
            "changed, the page counts as unchanged and is not stored again."
        ),
    ] = True
    KeepLinks: Annotated[bool, _CRAWL, _says("Store each document's table of links.")] = True
    StopTimeout: Annotated[
        _TimeLimit, _RUN, _says("Seconds that an interrupted run waits for requests that are under way.")
    ] = 10.0

    Summaries: Annotated[
        Literal["none", "brief", "full"],
        _CRAWL,
        _says(
            'What is stored about a document beside its bytes: "none"; "brief", title and language of HTML; "full", text, '
            "keywords and headings too, of every format that a summarizer reads."
        ),
    ] = "brief"
    Topics: Annotated[
        str,
        _USER,
        _says(
            "File of a model that says what pages are about (`parcahyd topic train` makes one): each HTML document is labelled "
            "with its topic. Empty: none is."
        ),
    ] = ""
    FollowTopics: Annotated[
        tuple[str, ...],
        _CRAWL,
        _says('Topics whose pages come first with their links, such as ["sports"]; the links of seeds always do. Empty: all.'),
    ] = ()
    OtherTopics: Annotated[
        Literal["later", "never"],
        _CRAWL,
        _says(
            'What becomes of the links of pages that are about none of FollowTopics: "later", they are followed after all '
            'others; "never", they are refused.'
        ),
    ] = "later"
    Similarity: Annotated[
        bool,
        _CRAWL,
        _says(
            "Take a fingerprint of the text of each HTML document, by which near-duplicates are found; costs about a tenth of "
            "a crawl's CPU time."
        ),
    ] = False
    Expand: Annotated[
        bool, _CRAWL, _says("Take archives (ZIP, TAR, GZIP and so on) apart: each member becomes a document.")
    ] = False
    ExpandMembers: Annotated[_Count, _CRAWL, _says("How many members of one archive are looked at, at most.")] = 1000
    ExpandBytes: Annotated[
        _Count, _CRAWL, _says("How many bytes one archive may unpack to, at most; MaxBytes holds for each member.")
    ] = 256 * 1024 * 1024

    Host: Annotated[tuple[HostRule, ...], _USER, _says("Settings of single hosts, each set of them a table [[Host]].")] = ()

    @property
    def address_delay(self) -> float:
        """AddressDelay with its default applied."""
        return self.HostDelay / 10 if self.AddressDelay is None else self.AddressDelay

    @property
    def address_connections(self) -> int:
        """AddressConnections with its default applied."""
        return self.HostConnections * 8 if self.AddressConnections is None else self.AddressConnections

    @property
    def revisit_min(self) -> float:
        """RevisitMin with its default applied."""
        return self.RevisitAfter / 24 if self.RevisitMin is None else self.RevisitMin

    @property
    def revisit_max(self) -> float:
        """RevisitMax with its default applied; where it is less than RevisitMin, that one counts."""
        return max(self.revisit_min, self.RevisitAfter * 30 if self.RevisitMax is None else self.RevisitMax)


class Configuration(msgspec.Struct, frozen=True):
    """Both files with everything applied; `sources` says of each `Map.KEY` and `Work.KEY` where its value came from."""

    map: MapConf
    work: WorkConf
    folder: str = "."
    """The configuration folder, absolute; relative paths start here."""
    sources: dict[str, str] = {}
    """"MapConf.toml:12", "--set", "last run: --set", or absent for a default."""
    has_folder: bool = False
    """There is a configuration folder: a key that its files lack has its default on purpose."""

    @property
    def is_cluster(self) -> bool:
        """Either file says that the crawl does not run on this machine alone."""
        return not (self.map.LocalInstance and self.work.LocalInstance)

    @property
    def machines(self) -> tuple[str, ...]:
        """The addresses in ListIP of both files, each once."""
        return tuple(dict.fromkeys((*self.map.ListIP, *self.work.ListIP)))


decode_configuration = msgspec.msgpack.Decoder(Configuration).decode
"""Reads a configuration that another process encoded. Made once, when this module is imported: to inspect
every setting takes half a millisecond."""
