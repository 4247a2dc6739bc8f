"""What the plug-ins of site generators share: tables for the folder that was built, and a word on each page of where they are.

robots.txt speaks for a whole site, and is written where the folder is one. A site below a path (`/project/`) has none of its
own: there, a file of declarations is written into the folder and each page names it, which binds the pages below it.
"""

from __future__ import annotations

import os
from pathlib import Path

from parcahyd.augment.site_offer import write_declaration
from parcahyd.authoring.author_plan import AuthorPlan, make_plan
from parcahyd.authoring.build import BuildReport, build
from parcahyd.authoring.whole_files import read_or_none, write_whole

__all__ = ["BUNDLE", "DECLARATIONS", "augment_folder", "page_element"]

DECLARATIONS = "augment.txt"
BUNDLE = "site.TOL"
_ANYWHERE = "http://localhost/"


def augment_folder(folder: str | os.PathLike[str], base_url: str, *, form: str = "stem", bundle: str = BUNDLE) -> BuildReport:
    """Writes what belongs to the pages of a folder that was just built; without a base URL, the folder is a whole site."""
    plan = make_plan(Path(folder), base_url or _ANYWHERE, form=form, bundle=bundle)
    report = build(plan)
    if not plan.is_whole_site:
        _declare(plan, report)
    return report


def page_element(page: str, base_url: str) -> str:
    """The element for the head of a page (path in the folder, or URL relative to it); empty where robots.txt says it all."""
    if make_plan(Path(), base_url or _ANYWHERE).is_whole_site:
        return ""
    return f'<link rel="augment" href="{"../" * page.count("/")}{DECLARATIONS}">'


def _declare(plan: AuthorPlan, report: BuildReport) -> None:
    file = os.path.join(plan.folder, DECLARATIONS)
    text = f"Augment: {write_declaration(plan.declaration)}\n".encode()
    if read_or_none(file) != text:
        write_whole(file, text)
        report.written.append(DECLARATIONS)
