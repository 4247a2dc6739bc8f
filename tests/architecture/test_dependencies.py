"""Every package that is asked for has a lower and an upper bound, and the tests' packages are pinned for every Python."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
PYTHONS = ("3.11", "3.12", "3.13")
_PIN = re.compile(r"(?P<name>[a-z0-9]+(?:[.-][a-z0-9]+)*)==(?P<version>\S+)")


def _asked_for() -> list[Requirement]:
    groups = [PROJECT["build-system"]["requires"], PROJECT["project"]["dependencies"], *EXTRAS.values()]
    requirements = [Requirement(text) for group in groups for text in group]
    return [requirement for requirement in requirements if requirement.name != "parcahyd"]


def _pins() -> dict[str, Version]:
    lines = (ROOT / "tests" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins: dict[str, Version] = {}
    for line in lines:
        if not line.startswith("#"):
            pin = _PIN.fullmatch(line)
            assert pin is not None, line  # No address of a registry, no path, no bound: a name and a version.
            pins[canonicalize_name(pin["name"])] = Version(pin["version"])
    return pins


@pytest.mark.parametrize("requirement", _asked_for(), ids=lambda requirement: requirement.name)
def test_a_package_has_a_lower_bound_and_an_upper_one_at_a_major_version(requirement: Requirement) -> None:
    bounds = {each.operator: Version(each.version) for each in requirement.specifier}
    assert set(bounds) == {">=", "<"}, requirement
    assert bounds[">="] < bounds["<"]
    assert bounds["<"].release[1:] in ((), (0,)), "the next major version"


def test_what_is_asked_for_is_pinned_within_its_bounds() -> None:
    pins = _pins()
    build = {Requirement(text).name for text in PROJECT["build-system"]["requires"]}
    for requirement in _asked_for():
        if requirement.name not in build:
            assert pins[canonicalize_name(requirement.name)] in requirement.specifier, requirement


@pytest.mark.parametrize("python", PYTHONS)
def test_everything_that_the_tests_need_is_pinned_for_every_python(python: str) -> None:
    """As far as the packages that are installed here tell; a package of an extra need not be."""
    pins = _pins()
    missing = {name for name in _needed(python) if name not in pins}
    assert missing == set()


@pytest.mark.parametrize("python", PYTHONS)
def test_every_pinned_version_is_for_every_python(python: str) -> None:
    for name, version in _pins().items():
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        if Version(found.version) == version and found.metadata["Requires-Python"]:
            assert SpecifierSet(found.metadata["Requires-Python"]).contains(f"{python}.0"), name


def test_the_pins_are_what_make_installs() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "PINS ?= tests/constraints.txt" in text
    assert "--constraint $(PINS) --editable '.[test,lint,author-test]'" in text


def _needed(python: str) -> set[str]:
    """The names of all packages that are installed with the tests and linters."""
    environment = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    needed: set[tuple[str, frozenset[str]]] = set()
    open_ones = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
    open_ones += [Requirement("parcahyd[test,lint,author-test]")]
    while open_ones:
        one = open_ones.pop()
        key = canonicalize_name(one.name), frozenset(one.extras)
        if key not in needed:
            needed.add(key)
            open_ones += [found for found in _requirements(one) if _applies(found, environment, one.extras)]
    return {name for name, _ in needed} - {"parcahyd"}


def _requirements(one: Requirement) -> Iterator[Requirement]:
    if one.name == "parcahyd":
        texts = [text for extra in one.extras for text in EXTRAS[extra]]
    else:
        try:
            texts = distribution(one.name).requires or []
        except PackageNotFoundError:
            texts = []
    return map(Requirement, texts)


def _applies(requirement: Requirement, environment: dict[str, str], extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({**environment, "extra": extra}) for extra in extras or {""})
