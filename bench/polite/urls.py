"""Canonical URLs against the cases of the URL standard (web-platform-tests) and of a web archive's canonicaliser (urlcanon)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from parcahyd.rules.urls.canonical_url import canonical
from tests.conformance.test_url_spellings import DIFFERENT as FROM_URLCANON
from tests.conformance.test_url_spellings import compared as compared_with_urlcanon
from tests.conformance.test_url_standard import CASES, NO_SERVER, VALID, standard
from tests.conformance.test_url_standard import DIFFERENT as FROM_THE_STANDARD

__all__ = ["lines"]


def lines() -> Iterator[str]:
    parsed = sum(standard(case) == (None if case.get("failure") else case["href"]) for case in CASES)
    yield f"- web-platform-tests, parsing and joining: {parsed} of {len(CASES)} cases"
    served = [case for case in VALID if case["host"] and case["protocol"] not in NO_SERVER]
    different = [
        case["href"]
        for case in served
        if canonical(case["href"]) != f"{case['protocol']}//{case['host']}{case['pathname'] or '/'}{case['search']}"
    ]
    yield (
        f"- the same, canonical form: of {len(VALID)} valid URLs {len(served)} name a server; {len(served) - len(different)} "
        "of these are written as the standard writes them, without credentials and fragment; "
        f"{len(different)} (of {len(set(different))} spellings) differ on purpose:"
    )
    yield from _reasons(FROM_THE_STANDARD)
    agreed, differences, every = compared_with_urlcanon()
    yield f"- urlcanon, `semantic_precise`: {agreed} of {every} cases; {len(differences)} differ on purpose:"
    yield from _reasons(FROM_URLCANON)


def _reasons(different: Mapping[str, Mapping[str, str | None]]) -> Iterator[str]:
    for reason, forms in different.items():
        url, form = next(iter(forms.items()))
        yield f"  - {len(forms)}: {reason}, such as `{url!r}`, which is `{form}` here"
