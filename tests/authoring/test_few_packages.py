"""The author's side does with few of the project's packages, so that a site's build need not install the crawler's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FEW = ("parcahyd", "typing_extensions", "ada_url", "cffi", "click", "msgspec", "pcre2", "turbohtml")
PROGRAM = f"""
import sys, sysconfig
from importlib.abc import MetaPathFinder

class Refusing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top in {FEW!r} or top.startswith("_"):
            return None
        raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Refusing())
import parcahyd.authoring.asgi, parcahyd.authoring.sphinx_extension, parcahyd.authoring.wsgi
from parcahyd.cli import main
sys.exit(main(["augment", "build", "--jobs", "1", sys.argv[1]]) or main(["augment", "check", "--jobs", "1", sys.argv[1]]))
"""


def test_tables_are_built_and_checked_with_few_packages(site: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(site)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "every table fits" in done.stdout
