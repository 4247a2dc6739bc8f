"""`parcahyd forget`: remove URLs, or a whole site, from a crawl."""

from __future__ import annotations

import time
from pathlib import Path

import click

from parcahyd.cli.missing_database import require_database
from parcahyd.cli.options import crawl_options, read_configuration
from parcahyd.cli.site_name import site_name
from parcahyd.cli.wording import plural
from parcahyd.config.database_url import database_url
from parcahyd.config.remembered import take_over
from parcahyd.core.errors import UserError
from parcahyd.rules.urls.parameters import Canon
from parcahyd.runtime.run_lock import RunLock

__all__ = ["command"]


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--site", metavar="HOST", help="A whole site instead: a host, or scheme://host[:port].")
@crawl_options
def command(
    folder: Path | None, overrides: tuple[str, ...], database: str | None, urls: tuple[str, ...], site: str | None
) -> None:
    """Remove URLs, or a whole site, from the crawl.

    Their states and versions go, and the documents that no other URL has. A seed is a seed no longer: sites that only it
    brought into the scope leave it. A link to a forgotten URL brings it back when the page with the link has changed; to
    keep it out, set Work.Exclude.

    It needs the crawl for itself, and is refused while a run works on it.

    \b
    Examples:
      parcahyd forget https://www.example.org/private.html
      parcahyd forget --site www.example.org
    """
    from parcahyd.storage.edits import Edits

    configuration = read_configuration(folder, overrides, database)
    if bool(urls) == (site is not None):
        raise UserError("forget takes URLs or --site HOST", "parcahyd forget URL, or parcahyd forget --site HOST")
    url = database_url(configuration)
    require_database(url, configuration.folder)
    lock = RunLock(url, wait=0)
    try:
        with Edits.open(url) as edits:
            if site is not None:
                number = edits.forget_site(site_name(site), time.time())
            else:
                agreed = take_over(configuration, edits.last_settings(), as_configured=True).configuration
                number = edits.forget(list(dict.fromkeys(urls)), Canon.of(agreed.work))
    finally:
        lock.release()
    click.echo(f"{plural(number, 'URL')} forgotten.")
