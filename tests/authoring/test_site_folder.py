"""The pages of a folder, the names of their tables, and the processes that work on them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.site_folder import Page, find_pages, find_sidecars, for_all_pages, reference_to

THREADED = """
import threading, warnings
warnings.simplefilter("error")
from parcahyd.authoring.site_folder import for_all_pages

if __name__ == "__main__":
    ended = threading.Event()
    threading.Thread(target=ended.wait, daemon=True).start()
    print(sum(for_all_pages(abs, range(-1000, 0), 2)))
    ended.set()
"""


def test_pages_and_their_tables_are_found(tmp_path: Path) -> None:
    for name in ("index.html", ".hidden.html", "feed.xml", "old.TOL", "sub/a b.htm"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("<p>", encoding="utf-8")
    plan = make_plan(tmp_path)
    assert find_pages(plan) == [
        Page("index.html", "index.TOL", "index.TVI"),
        Page("sub/a b.htm", "sub/a b.TOL", "sub/a b.TVI"),
    ]
    assert find_sidecars(plan) == ["old.TOL"]


def test_a_reference_is_relative_and_quoted() -> None:
    assert reference_to("sub/a b.html", "sub/a b.TOL") == "a%20b.html"
    assert reference_to("sub/c:d.html", "sub/c:d.TOL") == "./c:d.html"
    assert reference_to("sub/page.html", "site.TOL") == "sub/page.html"


def test_results_come_in_the_order_of_the_items() -> None:
    items = range(-1000, 0)
    assert list(for_all_pages(abs, items, 2)) == list(for_all_pages(abs, items, 1)) == list(range(1000, 0, -1))


def test_processes_start_without_a_warning_beside_a_thread(tmp_path: Path) -> None:
    """Python 3.12 and newer warn when a process with several threads forks."""
    program = tmp_path / "program.py"
    program.write_text(THREADED, encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "500500", "")
