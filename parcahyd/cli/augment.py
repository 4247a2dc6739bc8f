"""`parcahyd augment`: the site author's tool. It writes tables of links and of variable information, checks and serves them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from parcahyd.authoring.author_plan import AuthorPlan, make_plan
from parcahyd.authoring.build import BuildReport, build
from parcahyd.authoring.check import check
from parcahyd.authoring.page_tables import PageError
from parcahyd.authoring.site_folder import FolderServer
from parcahyd.cli.options import port_option
from parcahyd.cli.progress_line import progress_line
from parcahyd.cli.wording import plain, plural, size, span
from parcahyd.core.errors import UserError
from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.runtime.children import usable_cores

__all__ = ["command"]

_Command = TypeVar("_Command", bound=Callable[..., object])


@click.group(invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Write, check and serve the tables of a site that you publish.

    A table of links (.TOL) names the links of a page, so that crawlers know them before they load it. A table of variable
    information (.TVI) holds the parts of a page that change, so that a refresh transfers those and nothing else. Browsers
    ignore both.
    docs/augmented-hypertext.md explains both.

    \b
    Examples:
      parcahyd augment build public/ --base-url https://www.example.org/
      parcahyd augment check public/ --base-url https://www.example.org/
      parcahyd augment check https://www.example.org/
      parcahyd augment serve public/
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


class _FolderOrUrl(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """A folder as a path, or the URL of a page as a text."""

    name = "folder or URL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path | str:
        is_url = isinstance(value, str) and value.lower().startswith(("http://", "https://"))
        return value if is_url else Path(_FOLDER.convert(value, param, ctx))


def _site_options(function: _Command) -> _Command:
    """The options that `build` and `check` share."""
    options = (
        click.option(
            "--base-url",
            default="http://localhost/",
            metavar="URL",
            help="Where DIR is served. Without it, DIR is taken for a whole site.",
        ),
        click.option(
            "--form",
            type=click.Choice(["stem", "path"]),
            default="stem",
            show_default=True,
            help="How tables are called: page.TOL (stem) or page.html.TOL (path), for sites where a.html and a.xml stand side "
            "by side.",
        ),
        click.option(
            "--bundle",
            default="site.TOL",
            show_default=True,
            metavar="NAME",
            help="The file in DIR with the links of all pages; an empty name for none.",
        ),
        click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes; as many as there are cores unless given."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@command.command("build")
@click.argument("folder", metavar="DIR", type=_FOLDER)
@_site_options
@click.option("--dry-run", is_flag=True, help="Write nothing; say what would be written.")
@click.option("--quiet", "-q", is_flag=True, help="Say only what is wrong.")
def _build(folder: Path, base_url: str, form: str, bundle: str, jobs: int | None, dry_run: bool, quiet: bool) -> int:
    """Write the tables of the pages in DIR, the bundle, and the line of robots.txt.

    The last step of a site's build. Only what has changed is written; tables of pages that are gone are removed. What is wrong
    with a page's markers is reported with line and column, no .TVI is written for that page, and the exit code is then 1.

    \b
    Examples:
      parcahyd augment build public/ --base-url https://www.example.org/docs/
      parcahyd augment build public/ --dry-run
    """
    plan = make_plan(folder, base_url, form=form, bundle=bundle)
    began = time.monotonic()
    with progress_line("pages", quiet) as progress:
        report = build(plan, jobs=_processes(jobs), dry_run=dry_run, progress=progress)
    _write_errors(report.errors)
    if not quiet:
        _print_report(report, plan, time.monotonic() - began, dry_run)
    return 1 if report.errors else 0


@command.command("check")
@click.argument("place", metavar="DIR|URL", type=_FolderOrUrl())
@_site_options
@click.pass_context
def _check(ctx: click.Context, place: Path | str, base_url: str, form: str, bundle: str, jobs: int | None) -> int:
    """Say which tables no longer fit their pages: those in DIR, or those that are published for the page at URL.

    In DIR every table is checked; one line is written for each finding. At URL the page, robots.txt and the page's tables are
    requested as a crawler requests them. The lines say what was found, what is wrong, and what a crawler does with it. The exit
    code is 1 where something is wrong. Nothing is changed.

    \b
    Examples:
      parcahyd augment check public/ --base-url https://www.example.org/docs/
      parcahyd augment check https://www.example.org/docs/
    """
    if isinstance(place, str):
        for option in ("base_url", "form", "bundle", "jobs"):
            if ctx.get_parameter_source(option) is not ParameterSource.DEFAULT:
                raise UserError(f"--{option.replace('_', '-')} is for a folder", "leave it out: the site itself says so")
        return _check_published(place)
    with progress_line("pages") as progress:
        found = check(make_plan(place, base_url, form=form, bundle=bundle), jobs=_processes(jobs), progress=progress)
    for error in found:
        sys.stdout.write(f"{plain(str(error))}\n")
    if not found:
        click.echo("Nothing was found: every table fits.")
    return 1 if found else 0


def _check_published(given: str) -> int:
    try:  # Only here the author's side requests anything, and needs the crawler's packages.
        from parcahyd.cli.published_tables import WOULD, WRONG, check_published
        from parcahyd.cli.site_requests import SiteRequests
        from parcahyd.config.schema import Configuration, MapConf, WorkConf
    except ModuleNotFoundError as missing:
        raise UserError(f"a URL cannot be checked without the package {missing.name}", "pip install parcahyd") from missing

    url = canonical(given)
    if url is None:
        raise UserError(f"{given!r} is not the URL of a page on a server", "write it in full, such as https://example.org/")
    with SiteRequests(url, Configuration(MapConf(PluginDir=""), WorkConf())) as requests:
        findings = check_published(url, requests.get, requests.user_agent)
        is_public = requests.is_public
    for kind, sentence in findings:
        click.echo(f"{kind:8} {plain(sentence)}")
    if not is_public:
        click.echo(f"{WOULD:8} it connects to this address only where AllowAddresses names it: it is not public")
    wrong = sum(kind == WRONG for kind, _ in findings)
    click.echo(f"{plural(wrong, 'thing')} {'is' if wrong == 1 else 'are'} wrong." if wrong else "Nothing is wrong.")
    return 1 if wrong else 0


@command.command("serve")
@click.argument("folder", metavar="DIR", type=_FOLDER)
@port_option
def _serve(folder: Path, port: int) -> None:
    """Serve DIR on this machine, to try its tables out.

    \b
    Example:
      parcahyd augment serve public/ --port 8090
    """
    try:
        server = FolderServer(folder, port)
    except OSError as failure:
        raise UserError(f"port {port} cannot be had: {failure.strerror}", "choose another with --port") from failure
    with server:
        click.echo(f"{folder} is at {server.url} (end it with Ctrl-C)")
        server.serve_forever()


def _processes(jobs: int | None) -> int:
    return jobs or usable_cores()


def _write_errors(errors: list[PageError]) -> None:
    for error in errors:
        sys.stderr.write(f"{plain(str(error))}\n")


def _print_report(report: BuildReport, plan: AuthorPlan, seconds: float, dry_run: bool) -> None:
    share = 100 * report.table_bytes / report.page_bytes if report.page_bytes else 0.0
    would = "would be " if dry_run else ""
    click.echo(
        f"{plural(report.pages, 'page')} ({size(report.page_bytes)}) in {span(seconds)}: "
        f"{plural(len(report.written), 'file')} {would}written, {len(report.removed):,} {would}removed; "
        f"tables beside the pages are {size(report.table_bytes)}, {share:.1f} % of them."
    )
    if dry_run:
        for path in (*report.written, *report.removed):
            click.echo(plain(path))
    if report.robots_line:
        click.echo(f"{plan.folder} is not the whole site; write this into its robots.txt:\n{report.robots_line}")
