"""`parcahyd explain`: everything that is known about one URL."""

from __future__ import annotations

import time
from pathlib import Path

import click

from parcahyd.cli.options import crawl_options, open_reports, read_configuration
from parcahyd.cli.url_report import url_report_lines
from parcahyd.core.errors import UserError
from parcahyd.core.records import origin
from parcahyd.rules.urls.canonical_url import recorded, shortened, split
from parcahyd.rules.urls.parameters import Canon
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.records import UrlDetails

__all__ = ["command"]


@click.command()
@click.argument("url")
@crawl_options
def command(folder: Path | None, overrides: tuple[str, ...], database: str | None, url: str) -> None:
    """Show what is known about one URL: its state, and why.

    Its canonical form and what was changed for it, its state with the reason and what can be done about it, whether scope,
    trap guards and robots.txt admit it and by which rule, which tables its site offers, the address of its host, who
    shares it and which delay holds there, what was fetched so far, how often it changes, and when it is asked for next. URLs
    that the crawl has never seen are explained too. Nothing is fetched. On a cluster it also says whose the URL is and why,
    which machine runs that partition, who sends requests to its host and addresses now, and who waits for that.

    \b
    Examples:
      parcahyd explain https://www.example.org/private/
      parcahyd explain --conf conf/ http://127.0.0.1:8080/index.html
    """
    configuration = read_configuration(folder, overrides, database)
    text = recorded(url)
    if text is None:
        raise UserError(f"{url!r} is not the URL of a document on a server", "write it in full, such as https://example.org/")
    canon = Canon.of(configuration.work)
    with open_reports(configuration) as reports:
        details = reports.url_details(text)  # As it was found, perhaps before the options of the canonical form were given.
        if details is None and canon is not None:
            text = canon.apply(text)
            details = reports.url_details(text)
        if details is None and len(text) > configuration.work.MaxUrlLength and (short := shortened(text)) is not None:
            details = reports.url_details(short)
        neighbour = details or _same_site(reports, text)
        adding = "parcahyd cluster seed" if reports.reader.partitions else "parcahyd run"
        lines = list(url_report_lines(url, text, details, neighbour, configuration, time.time(), adding))
        if reports.reader.partitions:
            from parcahyd.cli.cluster_database import ownership_lines  # With it come the plugins.

            lines += ownership_lines(reports, text, neighbour, configuration)
    for line in lines:
        click.echo(line)


def _same_site(reports: Reports, url: str) -> UrlDetails | None:
    """The details of any URL of the same site: they say what is known about the site."""
    any_url = next(reports.urls(site=origin(*split(url)[:3])), None)
    return reports.url_details(any_url.url) if any_url is not None else None
