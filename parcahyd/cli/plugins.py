"""`parcahyd plugins`: what each plugin offers, and what is in use."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from parcahyd.cli.options import crawl_options, read_configuration
from parcahyd.cli.wording import plain
from parcahyd.config.schema import Configuration
from parcahyd.plugin_manager import PluginManager, PluginReport

__all__ = ["command"]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON list, for programs.")
@crawl_options
def command(folder: Path | None, overrides: tuple[str, ...], database: str | None, as_json: bool) -> None:
    """List the plugins: what they offer, and which are in use.

    Plugins are found as entry points of installed packages, as Python files in PluginDir, and by dotted path. The one that
    DnsResolverClass, DownloaderClass, Order or Partition names is marked as in use; of the other kinds, all are.
    docs/plugins.md says how to write one.

    \b
    Examples:
      parcahyd plugins
      parcahyd plugins --conf conf/ --json
      parcahyd plugins --set Work.DownloaderClass=requests
    """
    configuration = read_configuration(folder, overrides, database)
    listing = PluginManager.load(configuration, check=False).listing()
    in_use = _in_use(configuration)
    if as_json:
        rows = [{**msgspec.structs.asdict(report), "in_use": _is_in_use(report, in_use)} for report in listing]
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(rows)) + b"\n")
        return
    for hook in dict.fromkeys((*in_use, *(report.hook for report in listing))):
        _write_hook(hook, in_use.get(hook), [report for report in listing if report.hook == hook])


def _in_use(configuration: Configuration) -> dict[str, str]:
    """The hooks of which the configuration chooses one; of the others, everything is in use."""
    return {
        "parcahyd_resolvers": configuration.map.DnsResolverClass,
        "parcahyd_downloaders": configuration.work.DownloaderClass,
        "parcahyd_orders": configuration.work.Order,
        "parcahyd_partitioners": configuration.work.Partition,
    }


def _is_in_use(report: PluginReport, in_use: dict[str, str]) -> bool:
    return in_use.get(report.hook, report.name) == report.name


def _write_hook(hook: str, chosen: str | None, offers: list[PluginReport]) -> None:
    click.echo(hook)
    names = max((len(plain(offer.name)) for offer in offers), default=0)
    for offer in offers:
        owner = "" if offer.found == "built-in" else f", plugin {offer.plugin}"
        mark = ", in use" if chosen in (None, offer.name) else ""
        click.echo(f"  {plain(offer.name):{names}}  {plain(offer.found + owner)}{mark}")
    if chosen is not None and chosen not in {offer.name for offer in offers}:
        click.echo(f"  no plugin offers {plain(chosen)!r}, which the configuration names")
