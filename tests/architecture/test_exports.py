"""Every module says what it exports, and what it says is there."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import parcahyd

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(parcahyd.__path__, "parcahyd.")
    if not module.ispkg and not module.name.rpartition(".")[2].startswith("_")
)
NEEDS = {"parcahyd.authoring.jinja_tag": "jinja2", "parcahyd.authoring.mkdocs_plugin": "mkdocs"}
"""Modules that can only be imported where the site author's own tool is installed."""
PACKAGES = sorted(module.name for module in pkgutil.walk_packages(parcahyd.__path__, "parcahyd.") if module.ispkg)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_exports_what_it_says(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is not installed: pip install '.[author-test]'")
    module = importlib.import_module(name)
    assert isinstance(getattr(module, "__all__", None), list), f"{name} has no __all__"
    assert len(module.__all__) == len(set(module.__all__)), f"{name} names something twice"
    for exported in module.__all__:
        assert getattr(module, exported, None) is not None, f"{name}.{exported}"


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_opens_with_its_story(name: str) -> None:
    assert importlib.import_module(name).__doc__
