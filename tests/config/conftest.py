"""What every test of the configuration may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.refusals import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Writes the files that are given and gives their folder."""

    def written(map_conf: str | bytes | None = None, work_conf: str | bytes | None = None) -> Path:
        for name, content in (("MapConf.toml", map_conf), ("WorkConf.toml", work_conf)):
            if content is not None:
                (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    return written
