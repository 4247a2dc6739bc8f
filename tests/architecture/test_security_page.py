"""SECURITY.md says what the code does: its bounds are the defaults, and the files that it names are there."""

from __future__ import annotations

import re
from pathlib import Path

from parcahyd.config.schema import MapConf, WorkConf

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_page_has_what_a_reporter_looks_for() -> None:
    assert re.findall(r"^## (.*)$", PAGE, re.MULTILINE) == [
        "Report a vulnerability",
        "Threat model",
        "What counts",
        "What holds against hostile pages",
        "What holds around the process",
        "What does not hold",
    ]


def test_the_bounds_are_the_defaults() -> None:
    defaults = {**_defaults(MapConf()), **_defaults(WorkConf())}
    rows = re.findall(r"^\| [^|]+ \| `(\w+)` \| ([\d.]+) \|$", PAGE, re.MULTILINE)
    assert len(rows) >= 10
    for key, value in rows:
        assert str(defaults[key]) == value, key


def _defaults(conf: MapConf | WorkConf) -> dict[str, object]:
    return {key: getattr(conf, key) for key in conf.__struct_fields__}


def test_the_tests_that_it_names_are_there() -> None:
    for name in re.findall(r"`(tests/[\w/]+\.(?:py|txt))`", PAGE):
        assert (ROOT / name).exists(), name
