"""What is known about one URL, in lines: the output of `parcahyd explain`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from shlex import quote

from parcahyd.augment.site_offer import ALL_TABLES, ALL_TVI, choose, declarations_in, read_offer
from parcahyd.cli.wording import due, left_out_sentence, plain, plural, size, span, utc_time, version_line
from parcahyd.config.schema import Configuration
from parcahyd.core.records import LOCAL_ADDRESS, RobotsFact, RobotsStatus
from parcahyd.core.states import Reason
from parcahyd.refresh.lastmod import LastmodTrust
from parcahyd.refresh.schedule import NEVER
from parcahyd.rules.media_types.media_type import is_html
from parcahyd.rules.robots.robots_file import SCHEMES_WITH_ROBOTS, Robots, product_token
from parcahyd.rules.traps.guards import Guards
from parcahyd.rules.urls.address_policy import AddressPolicy, literal_address
from parcahyd.rules.urls.canonical_url import split
from parcahyd.rules.urls.cross_links import ALWAYS_LOCAL
from parcahyd.rules.urls.host_rules import HostRules
from parcahyd.rules.urls.parameters import Canon
from parcahyd.rules.urls.spelling_changes import spelling_changes
from parcahyd.rules.urls.url_patterns import UrlPatterns
from parcahyd.storage.reports.records import DocumentReport, UrlDetails

__all__ = [
    "REMEDIES",
    "labelled",
    "remedy",
    "table_lines",
    "url_report_lines",
]

_NOT_READ = {
    RobotsStatus.FOUND: "allowed: the site's robots.txt is empty",
    RobotsStatus.ABSENT: "allowed: the site has no robots.txt",
    RobotsStatus.STALE: "allowed: robots.txt could not be read for longer than RobotsPatience",
    RobotsStatus.ERROR: "nothing may be fetched for now: the server answered robots.txt with an error",
    RobotsStatus.UNREACHABLE: "nothing may be fetched for now: robots.txt could not be fetched",
    RobotsStatus.AWAITED: "nothing may be fetched for now: robots.txt lies on another site and is awaited",
}


def url_report_lines(
    given: str,
    url: str,
    details: UrlDetails | None,
    site: UrlDetails | None,
    configuration: Configuration,
    now: float,
    adding: str = "parcahyd run",
) -> Iterator[str]:
    """Every line, labelled; `site` holds the details of any URL of the same site, which say what is known about the site.

    `adding` is the command that adds a URL to the crawl.
    """
    yield labelled("url", url)
    if given != url:
        yield labelled("given as", given)
        yield labelled("", "; ".join(spelling_changes(given, url, Canon.of(configuration.work))))
    if details is None:
        yield labelled("state", "not in this crawl")
    else:
        yield from _state(details)
    yield labelled("scope", _scope(url, site, configuration))
    yield labelled("guards", _guards(url, details, site, configuration, now))
    yield labelled("robots", _robots(url, site.robots if site else None, configuration, now))
    yield from _tables(url, site, configuration, now)
    yield from _address(url, site, configuration, now)
    if details is None:
        yield labelled("to add it", f"{adding} {quote(url)}")
        return
    yield from _origin(details)
    yield from _history(details)
    for left_out in filter(None, (details.left_out, details.site_left_out)):
        yield labelled("left out", left_out_sentence(left_out))
    yield labelled("next", _next(details, now))


def labelled(label: str, text: str) -> str:
    """A line of the report; a blank label goes on with the one before."""
    return f"{label:10} {plain(text)}"


def _state(details: UrlDetails) -> Iterator[str]:
    yield labelled("state", details.state if details.reason is None else f"{details.state}: {details.reason}")
    if details.sentence:
        yield labelled("", details.sentence)
    if details.detail:
        yield labelled("", details.detail)
    if details.redirect is not None:
        yield labelled("leads to", details.redirect)
    if details.reason is not None and (advice := remedy(Reason.of(details.reason), split(details.url)[1])):
        yield labelled("remedy", advice)


def _scope(url: str, site: UrlDetails | None, configuration: Configuration) -> str:
    scope = configuration.work.Scope
    if (site is not None and site.in_scope) or (site is None and scope == "any"):
        patterns = UrlPatterns.of(configuration.work.Include, configuration.work.Exclude)
        admitted, rule = (True, "") if patterns is None else patterns.verdict(url)
        return f'{"inside" if admitted else "outside"} (Scope = "{scope}")' + (f"; {rule}" if rule else "")
    if site is not None:
        return f'outside (Scope = "{scope}")'
    kin = "is on this site" if scope == "site" else "has the same registrable domain"
    return f'the crawl has not met this site; inside if a seed {kin} (Scope = "{scope}")'


def _guards(url: str, details: UrlDetails | None, site: UrlDetails | None, configuration: Configuration, now: float) -> str:
    """What the trap guards say to the URL, with what they learned of its site."""
    if details is not None and details.seed:
        return "what the user asked for passes every trap guard"
    reason = Guards(configuration.work, now, site.guards if site is not None else b"").judge(split(url)[3])
    if reason is not None:
        return f"refused: {reason.word}. {reason.sentence}"
    return "no trap guard refuses it"


def _robots(url: str, fact: RobotsFact | None, configuration: Configuration, now: float) -> str:
    if split(url)[0] not in SCHEMES_WITH_ROBOTS:
        return "none is asked for: its protocol has no robots.txt"
    if fact is None:
        return "robots.txt of this site was not read yet"
    read = f"read {utc_time(fact.fetched_at)}, " + (
        f"trusted until {utc_time(fact.expires_at)}" if fact.expires_at > now else "to be read again"
    )
    if fact.status not in (RobotsStatus.FOUND, RobotsStatus.STALE) or not fact.text:
        return _NOT_READ[fact.status] + (f" ({fact.detail})" if fact.detail else "") + f"; {read}"
    settings = HostRules(configuration.work, os.environ).of(*split(url)[1:3])
    robots = Robots.parse(fact.text, settings.user_agent)
    rule = robots.line_for(url)
    verdict = "allowed" if robots.allows(url) else "forbidden"
    ignored = ", which IgnoreRobots overrides" if settings.ignores_robots and verdict == "forbidden" else ""
    token = product_token(settings.user_agent)
    return f"{verdict} for {token}" + (f" by {rule}" if rule else ", no rule speaks about it") + f"{ignored}; {read}"


def _tables(url: str, site: UrlDetails | None, configuration: Configuration, now: float) -> Iterator[str]:
    if site is None or site.robots is None:
        return
    sentences = table_lines(url, site.robots.text, site.augmentation, configuration.work.Eager, now)
    for number, sentence in enumerate(sentences):
        yield labelled("" if number else "tables", sentence)


def _address(url: str, site: UrlDetails | None, configuration: Configuration, now: float) -> Iterator[str]:
    literal = literal_address(split(url)[1])
    addresses = (literal,) if literal is not None else site.addresses if site is not None else ()
    if addresses == (LOCAL_ADDRESS,) or split(url)[0] in ALWAYS_LOCAL:
        yield labelled("address", "none: it is a document of this machine, and requests have no delay")
        return
    if not addresses:
        yield labelled("address", "not known; the host is resolved when it is visited next")
        return
    for address in addresses:
        yield labelled("address", f"{address}: {_verdict(address, configuration)}")
    if site is not None and literal is None:
        held = f"hold until {utc_time(site.addresses_expire)}" if site.addresses_expire > now else "to be resolved again"
        yield labelled("", held)
    work = configuration.work
    host, port = split(url)[1:3]
    settings = HostRules(work, os.environ).of(host, port)
    delay = settings.delay
    asked = min(site.robots.delay, work.MaxCrawlDelay) if site is not None and site.robots is not None else 0.0
    why = " (Crawl-delay of its robots.txt)" if asked > delay else ""
    yield labelled("delay", f"{max(delay, asked):g} s between two requests to {host}{why}, more while it answers slowly")
    if settings.max_rate:
        yield labelled("rate", f"{size(settings.max_rate)} per second from {host}, as a mean over several answers")
    yield labelled(
        "group",
        f"hosts on one address share AddressDelay {work.address_delay:g} s and AddressConnections {work.address_connections}",
    )
    if site is not None and site.neighbours:
        yield labelled("", f"known there: {', '.join(site.neighbours)}")
    for pause in site.pauses if site is not None else ():
        if pause.until > now:
            yield labelled("pause", f"{pause.site} is left alone until {utc_time(pause.until)}: {pause.sentence}")


def _verdict(address: str, configuration: Configuration) -> str:
    if AddressPolicy(()).admits(address):
        return "public"
    if AddressPolicy(configuration.map.AllowAddresses).admits(address):
        return "not public, allowed by AllowAddresses"
    return "not public, and not in AllowAddresses"


def _origin(details: UrlDetails) -> Iterator[str]:
    how = f"{plural(details.depth, 'link')} away from a seed"
    if details.seed:
        how = "a seed" if details.via is None else f"where the seed {details.via} redirected to"
    hops = f", {plural(details.hops, 'redirect')} led to it" if details.hops else ""
    yield labelled("found", f"{utc_time(details.first_seen)}, {how}{hops}")
    if details.seen_on is not None:
        yield labelled("", f"first seen on {details.seen_on}")
    if details.site_reason is not None:
        failures = f", {plural(details.site_failures, 'visit')} in a row failed" if details.site_failures else ""
        yield labelled("site", f"spared until {utc_time(details.not_before)}: {details.site_reason}{failures}")


def _history(details: UrlDetails) -> Iterator[str]:
    if details.checked_at is None:
        yield labelled("checked", "never")
        return
    status = f", status {details.status}" if details.status else ""
    tries = f", {plural(details.tries, 'failure')} in a row" if details.tries else ""
    changes = f"; {details.changes:,} of {plural(details.checks, 'check')} found a change" if details.checks else ""
    yield labelled("checked", f"{utc_time(details.checked_at)}{status}{tries}{changes}")
    if details.changes_every is not None:
        yield labelled("changes", f"about every {span(details.changes_every)}, as far as was seen")
    if details.lastmod is not None and details.lastmod_read is not None:
        yield labelled("sitemap", f"says that it changed {utc_time(details.lastmod)}; read {utc_time(details.lastmod_read)}")
        yield labelled("", _believed(LastmodTrust.decode(details.lastmod_trust)))
    if details.document is not None:
        yield from _document(details, details.document)
    for twin in details.twins:
        yield labelled("same as", twin)
    for near in details.similar:
        yield labelled("nearly as", near)
    if details.document is not None and details.document.similarity is None and is_html(details.document.media_type):
        yield labelled("nearly as", "not known: Similarity was off when it was stored")
    for fetch in details.fetches:
        yield labelled("fetched", version_line(fetch))


def _document(details: UrlDetails, document: DocumentReport) -> Iterator[str]:
    """The newest version, and in how many parts it is known."""
    kind = "; charset=".join(word for word in (document.media_type, document.charset) if word)
    newest = next(fetch for fetch in details.fetches if fetch.length is not None)
    yield labelled("document", f"{plural(newest.length or 0, 'byte')}, {kind or 'of unknown type'}")
    yield labelled("", f"SHA-256 {newest.sha256}, DF {document.df % 2**64:016x}")
    if newest.regions:
        yield labelled("regions", f"{plural(newest.regions, 'volatile region')}, marked by its author")
    if details.table is not None:
        merges = plural(details.table.merges, "time")
        yield labelled("table", f"refreshed by its table of variable information, {merges} in a row")
    if details.volatile_places:
        places = "1 place changes" if details.volatile_places == 1 else f"{details.volatile_places:,} places change"
        yield labelled("volatile", f"{places} on most visits; a visit that finds nothing else changed stores no version")
    if document.title or document.language:
        yield labelled("title", document.title + (f" [{document.language}]" if document.language else ""))
    if document.topic:
        yield labelled("topic", document.topic)


def _believed(trust: LastmodTrust) -> str:
    worth = f"{plural(trust.foretold, 'change')} foretold, {trust.missed} missed, {plural(trust.false_alarms, 'false alarm')}"
    return f"such dates of this site are {'believed' if trust.is_trusted else 'not believed'}: {worth}"


def _next(details: UrlDetails, now: float) -> str:
    if details.visiting and details.state == "known":
        return "its site is being visited"
    if details.next_visit is None or details.next_visit >= NEVER:
        return "not before the settings concerned change"
    return due(details.next_visit, now)


REMEDIES = {
    Reason.DNS_NO_NAME: "Check the spelling of the host, and the name servers (Map.Nameservers).",
    Reason.DNS_FAILURE: "Check the name servers (Map.Nameservers).",
    Reason.DNS_TIMEOUT: "Check the name servers (Map.Nameservers), or raise Map.DnsTimeout.",
    Reason.TLS: "If the server has a certificate of your own authority, name it with Work.CaFile.",
    Reason.GAVE_WAY: "If the server is slow, raise Work.Connections, or lower Work.MinRate.",
    Reason.TIMEOUT: "If the server is slow, raise Work.TimeoutConnect, Work.TimeoutIdle or Work.TimeoutTotal.",
    Reason.PLUGIN: "`parcahyd plugins` says which plugin is in use; Work.DownloaderClass chooses another.",
    Reason.PEER: "`parcahyd plugins` says which plugin is in use; Work.DownloaderClass chooses another.",
    Reason.NOFOLLOW: "To follow such links, leave nofollow out of Work.Directives.",
    Reason.TOPIC: "To follow such links, too, add topics to Work.FollowTopics, or --set Work.OtherTopics=later.",
    Reason.SCOPE: "Give it as a seed (parcahyd run URL), or widen the scope: --set Work.Scope=domain, or any.",
    Reason.DEPTH: "Raise Work.MaxDepth, or give it as a seed (parcahyd run URL).",
    Reason.ADDRESS: "If that network is yours to crawl, allow it: --set 'Map.AllowAddresses=[\"{network}\"]'",
    Reason.SCHEME: "Choose a downloader that serves it (Work.DownloaderClass), or add a plugin; `parcahyd plugins` lists them.",
    Reason.LOCAL: "To read it, give it or its folder as a seed (parcahyd run URL).",
    Reason.PORT: "If it is a gopher server, give it as a seed (parcahyd run URL).",
    Reason.SIZE: "Raise Work.MaxBytes.",
    Reason.REDIRECTS: "Raise Work.MaxRedirects.",
    Reason.EXCLUDED: "Change Work.Include or Work.Exclude, or give it as a seed (parcahyd run URL).",
    Reason.SITE_PAGES: "Raise Work.MaxPagesPerSite.",
    Reason.MEDIA_TYPE: "Add its type to Work.MediaTypes.",
    Reason.LENGTH: "Raise Work.MaxUrlLength; the URL is found again when the page that it stands in is.",
    Reason.PATH_DEPTH: "If it is no trap, raise Work.MaxPathSegments, or give it as a seed (parcahyd run URL).",
    Reason.REPEATS: "If it is no trap, raise Work.MaxRepeats, or give it as a seed (parcahyd run URL).",
    Reason.PARAMETERS: "If it is no trap, raise Work.MaxParameters, or give it as a seed (parcahyd run URL).",
    Reason.QUERIES: "If it is no trap, raise Work.MaxQueryShapes, or give it as a seed (parcahyd run URL).",
    Reason.CALENDAR: "If it is no trap, raise Work.MaxYearsAhead or Work.MaxYearsBack.",
    Reason.SESSION: "Name the session's parameter in Work.StripParameters, or set Work.OneSession=false.",
    Reason.DUPLICATES: "If it is no trap, raise Work.TemplateBudget, or give it as a seed (parcahyd run URL).",
    Reason.SOFT_404: "If it is no trap, raise Work.TemplateBudget, or give it as a seed (parcahyd run URL).",
}
"""What the user can do about a URL that is not stored. A reason without an entry passes by itself, or not at all."""


def remedy(reason: Reason, host: str) -> str:
    """What to do, in a sentence, for a URL of this host; empty where nothing can be done."""
    address = literal_address(host)
    network = "NETWORK" if address is None else f"{address}/{128 if ':' in address else 32}"
    if reason is Reason.ADDRESS and address is None:
        return f"The name is resolved again at the next try. {REMEDIES[reason].replace('{network}', network)}"
    return REMEDIES.get(reason, "").replace("{network}", network)


# --- the tables that the URL's site offers -----------------------------------------------------------------------------


def table_lines(url: str, robots: bytes, augmentation: bytes, eager: str, now: float) -> Iterator[str]:
    """Where this URL's tables are, which file declares them, and what is not requested.

    `augmentation` is what visits learned about the site.
    """
    by_robots, offer = declarations_in(robots), read_offer(augmentation)
    declarations = [*by_robots, *offer.declarations]
    holds = choose(declarations, url)
    path = split(url)[3]
    if not declarations:
        yield "the site declares none"
    elif holds is None:
        yield "the site declares some, but none for this URL"
    else:
        speaker = "robots.txt" if holds in by_robots else "a page or a file of declarations"
        named = [("links", holds.tol_of(url)), ("what changes", holds.tvi_of(url))]
        places = [f"{what} at {place}" for what, place in named if place is not None]
        yield f"{', '.join(places) or 'none for this URL'}, declared by {speaker} for {holds.scope}"
    for declaration in declarations:
        bundle = declaration.bundle_of(url[: len(url) - len(path)])
        if bundle is not None:
            yield f'a bundle of links at {bundle}; Eager = "{eager}"'
    yield from _not_asked_for(path, offer.absent, now)
    if offer.links_barred_until > now:
        yield f"its tables of links are ignored until {utc_time(offer.links_barred_until)}: its documents lack too many of them"
    if offer.fragments_barred_until > now:
        yield f"its tables of what changes are ignored until {utc_time(offer.fragments_barred_until)}: too many were wrong"


def _not_asked_for(path: str, absent: tuple[tuple[str, float], ...], now: float) -> Iterator[str]:
    directory = path.partition("?")[0].rpartition("/")[0] + "/"
    for place, until in absent:
        if until <= now:
            continue
        if place == ALL_TABLES:
            yield f"no tables are asked for on this site before {utc_time(until)}: three were missing"
        elif place == ALL_TVI:
            yield f"no tables of what changes are asked for on this site before {utc_time(until)}: three were missing"
        elif place == directory:
            yield f"no tables are asked for in {place} before {utc_time(until)}: three were missing"
        elif not place.endswith("/"):
            yield f"{place} is not asked for before {utc_time(until)}"
