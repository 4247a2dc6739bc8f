from __future__ import annotations

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from parcahyd.config.schema import WorkConf
from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.rules.urls.parameters import Canon
from parcahyd.rules.urls.spelling_changes import spelling_changes


@pytest.mark.parametrize(
    ("given", "changes"),
    [
        ("http://a.example/x?y=1", []),
        (" http://a.example/ ", ["blanks around it dropped"]),
        ("HTTP://A.example/", ["scheme in lower case", "host in lower case"]),
        ("http://me:secret@a.example/", ["credentials dropped"]),
        ("http://a.example:80/#top", ["default port dropped", "fragment dropped"]),
        ("http://a.example./x/../y", ["dot after the host dropped", "dot segments resolved"]),
        ("http://a.example/x?", ["empty query dropped"]),
        ("http://a.example/%7ex%2f", ["escapes in their usual spelling"]),
        ("http://a.example/x y", ["characters escaped"]),
        ("http://a.example/?q=%7e", ["escapes of the query in their usual spelling"]),
        ("http://b\u00fccher.example/", ["host in its ASCII form"]),
        ("http://0x7f.1/", ["host resolved"]),
        ("http:\\\\a.example\\x", ["backslashes turned"]),
    ],
)
def test_every_kind_of_change_is_named(given: str, changes: list[str]) -> None:
    url = canonical(given)
    assert url is not None
    assert spelling_changes(given, url) == changes


def test_parameters_that_settings_leave_out() -> None:
    canon = Canon.of(WorkConf(StripParameters=("utm_*",), SortParameters=True))
    assert canon is not None
    changes = spelling_changes("http://a.example/?b=1&a=2&utm_source=x#y", "http://a.example/?a=2&b=1", canon)
    assert changes == ["fragment dropped", "parameters left out or sorted, as StripParameters and SortParameters say"]


@drawn(st.text(max_size=40))
def test_whatever_changed_there_is_a_word_for_it(text: str) -> None:
    for given in (f"http://a.example/{text}", f"http://{text}/"):
        url = canonical(given)
        if url is not None:
            assert bool(spelling_changes(given, url)) == (given != url)
