"""The tree of errors is the one that its module draws."""

from __future__ import annotations

import re

import pytest

from parcahyd.core import errors
from parcahyd.core.errors import ParcahydError, PluginError, UserError, error_line


def _drawn() -> dict[str, str]:
    """Each class of the drawing, with the class that it stands under."""
    parents: dict[str, str] = {}
    above = ["ParcahydError"]
    for branch, name in re.findall(r"^([│ ]*)[├└]── (\w+)", errors.__doc__ or "", re.MULTILINE):
        depth = len(branch) // 4
        parents[name] = above[depth]
        above[depth + 1 :] = [name]
    return parents


def test_the_drawing_shows_every_class_under_its_parent() -> None:
    classes = [getattr(errors, name) for name in errors.__all__ if name[0].isupper()]
    assert _drawn() == {made.__name__: made.__base__.__name__ for made in classes if made is not ParcahydError}


def test_a_user_error_is_one_line_with_its_remedy() -> None:
    assert str(UserError("it is wrong", "mend it")) == "it is wrong (mend it)"
    assert str(PluginError("it is wrong")) == "it is wrong"


@pytest.mark.parametrize(
    ("error", "line"),
    [(ValueError("first\nsecond"), "ValueError: first"), (KeyError(), "KeyError"), (OSError(""), "OSError")],
)
def test_an_exception_in_one_line(error: Exception, line: str) -> None:
    assert error_line(error) == line
