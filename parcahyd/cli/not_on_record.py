"""What is said where nothing that was asked for is stored of a URL."""

from __future__ import annotations

from shlex import quote

from parcahyd.cli.wording import utc_time
from parcahyd.core.errors import UserError
from parcahyd.storage.reports.records import ExchangeReport, UrlDetails

__all__ = ["no_document", "no_exchange", "not_in_crawl"]


def not_in_crawl(url: str) -> UserError:
    """For a URL that the crawl has never seen."""
    return UserError(f"{url} is not in this crawl", f"parcahyd explain {quote(url)} says whether it could be")


def no_document(url: str, details: UrlDetails | None, at: float | None = None) -> UserError:
    """For a URL without a document, or without one at that time."""
    if details is None:
        return not_in_crawl(url)
    if at is not None and details.fetches:
        return _no_document_then(details, at)
    if details.redirect is not None:
        return UserError(f"{url} is a redirect", f"parcahyd show {quote(details.redirect)}")
    # A page that does not want to be kept is "stored" without its document.
    why = f"its page asks for that ({details.reason})" if details.state == "stored" else f"it is {details.state}"
    return UserError(f"no document is stored for {url}: {why}", f"parcahyd explain {quote(url)} says why")


def _no_document_then(details: UrlDetails, at: float) -> UserError:
    earlier = next((version for version in details.fetches if version.at <= at), None)
    if earlier is None:
        oldest = utc_time(details.fetches[-1].at)
        return UserError(
            f"{details.url} as it was at {utc_time(at)} is not stored: the oldest stored version is of {oldest}",
            f'parcahyd show --at "{oldest}" {quote(details.url)}',
        )
    return UserError(
        f"{details.url} was a redirect at {utc_time(at)}", f"parcahyd show {quote(earlier.redirect or details.url)}"
    )


def no_exchange(url: str, details: UrlDetails | None, history: list[ExchangeReport], at: float | None = None) -> UserError:
    """For a URL with which no exchange is on record, or none by that time; `history` has those that are."""
    if history and at is not None:
        oldest = utc_time(history[-1].at)
        return UserError(
            f"no exchange with {url} by {utc_time(at)} is on record: the oldest is of {oldest}", f'use --at "{oldest}"'
        )
    if details is None:
        return not_in_crawl(url)
    if details.checked_at is None or details.state == "refused":
        return UserError(f"nothing was exchanged with {url}: it is {details.state}", f"parcahyd explain {quote(url)} says why")
    if details.state == "stored":
        return UserError(
            f"no exchange with {url} is on record: its page asks not to be kept ({details.reason})",
            f"parcahyd explain {quote(url)} says more",
        )
    reason = f": {details.reason}" if details.reason else ""
    return UserError(
        f"no exchange with {url} is on record: it is {details.state}{reason}",
        "answers with an error are kept by runs with KeepErrors, or with --archive",
    )
