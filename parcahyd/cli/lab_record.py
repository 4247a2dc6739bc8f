"""`parcahyd lab record`: data for the lab from a crawl of one's own."""

from __future__ import annotations

from pathlib import Path

import click

from parcahyd.cli.options import crawl_options, open_reports, read_configuration
from parcahyd.cli.wording import plural
from parcahyd.config.remembered import take_over

__all__ = ["command"]


@click.command("record")
@click.argument("into", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False))
@crawl_options
def command(into: Path, folder: Path | None, overrides: tuple[str, ...], database: str | None) -> None:
    """Write a crawl as data for the lab.

    FOLDER/graph gets the stored pages and who links to whom, FOLDER/sites the number of pages of each site: a further column
    where the crawl was recorded on an earlier day. No text of any page is written. docs/lab/data.md says the form. The database
    is only read, also that of a cluster, and while a crawl runs.

    \b
    Examples:
      parcahyd lab record recorded
      parcahyd lab record recorded --db postgresql://crawler@hub/crawl
      parcahyd lab balance --data recorded/sites --sites 30
    """
    from parcahyd.lab.recording import record_graph, record_sites, recorded_pages

    configuration = read_configuration(folder, overrides, database)
    with open_reports(configuration) as reports:
        agreed = take_over(configuration, reports.last_settings(), as_configured=True).configuration
        recording = recorded_pages(reports)
        links = record_graph(reports, recording, agreed.work, into / "graph")
    record_sites(recording, into / "sites")
    pages, sites = len(recording.bytes_of), len(recording.sites)
    click.echo(f"{into / 'graph'}: {plural(pages, 'page')}, {plural(links, 'link')} from page to page")
    click.echo(f"{into / 'sites'}: {plural(sites, 'site')} on {recording.day or 'no day'}")
