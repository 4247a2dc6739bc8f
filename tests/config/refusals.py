"""Folders of configuration files that tests write, and the lines that report errors in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from parcahyd.config.loading import load
from parcahyd.core.errors import ConfigurationError

__all__ = ["Folder", "refusal"]

Folder = Callable[..., Path]


def refusal(folder: Path | None, *overrides: str) -> str:
    """The line that reports an error."""
    with pytest.raises(ConfigurationError) as caught:
        load(folder, overrides)
    line = str(caught.value)
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    return line
