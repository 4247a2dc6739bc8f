from __future__ import annotations

import re

from parcahyd.cli.application import COMMANDS
from parcahyd.cli.remedies import REMEDIES, remedy
from parcahyd.config.schema import MapConf, WorkConf
from parcahyd.core.life_cycle import SETTINGS_OF, Reason


def test_every_refusal_that_a_setting_decides_has_a_remedy_that_names_it() -> None:
    for reason, settings in SETTINGS_OF.items():
        if reason is not Reason.ROBOTS:  # robots.txt is obeyed; a user agent that poses as another is no remedy
            assert any(setting in REMEDIES[reason] for setting in settings), reason


def test_remedies_name_settings_and_commands_that_exist() -> None:
    keys = {f"Map.{key}" for key in MapConf.__struct_fields__} | {f"Work.{key}" for key in WorkConf.__struct_fields__}
    for text in REMEDIES.values():
        assert set(re.findall(r"\b(?:Map|Work)\.\w+", text)) <= keys
        assert set(re.findall(r"`parcahyd (\w+)", text)) <= set(COMMANDS)


def test_nothing_can_be_done_about_a_missing_page() -> None:
    assert remedy(Reason.MISSING, "host.example") == ""
