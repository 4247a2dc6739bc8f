"""The model that the setting Topics names."""

from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.formats.topic_model import topic_model
from parcahyd.topics.linear import train_linear
from tests.topics.small_corpus import corpus


def test_a_model_is_read_where_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    path.write_bytes(train_linear(corpus(), "en").encode())
    assert topic_model(WorkConf()) is None
    model = topic_model(WorkConf(Topics=str(path), FollowTopics=("trains", "unclassifiable")))
    assert model is not None
    assert model.head.topics == ("kettles", "trains", "violins")
    with pytest.raises(UserError, match="the model does not"):
        topic_model(WorkConf(Topics=str(path), FollowTopics=("boats",)))


def test_what_cannot_be_used_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        topic_model(WorkConf(Topics=str(tmp_path / "nothing")))
    with pytest.raises(UserError, match="needs a model"):
        topic_model(WorkConf(FollowTopics=("trains",)))
