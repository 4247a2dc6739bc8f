"""The model that the setting Topics names.

Tested in tests/formats/test_topic_model.py.
"""

from __future__ import annotations

from pathlib import Path

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.topics.model import TopicModel, read_model

__all__ = ["topic_model"]


def topic_model(work: WorkConf) -> TopicModel | None:
    """Reads the model; None where documents are not labelled. UserError: it cannot be read, or lacks one of FollowTopics."""
    if not work.Topics:
        if work.FollowTopics:
            raise UserError("FollowTopics needs a model that finds topics", "name its file with --set Work.Topics=FILE")
        return None
    try:
        content = Path(work.Topics).read_bytes()
    except OSError as error:
        sentence = f'Topics "{work.Topics}" cannot be read: {error.strerror}'
        raise UserError(sentence, "name a file that parcahyd topic train wrote, or leave Topics empty") from None
    model = read_model(content, f'Topics "{work.Topics}"')
    for topic in work.FollowTopics:
        if topic not in model.labels:
            raise UserError(f'FollowTopics has "{topic}", and the model does not', f"it has {', '.join(model.labels)}")
    return model
