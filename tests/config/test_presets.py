"""A preset is made of settings that exist, and the user's own go before it."""

from __future__ import annotations

from parcahyd.config.loading import load
from parcahyd.config.presets import ARCHIVE
from parcahyd.config.schema import WorkConf


def test_the_archive_keeps_everything_and_makes_nothing_up() -> None:
    work = load(None, ARCHIVE).work
    assert (work.Embedded, work.KeepCoded, work.LearnRegions, work.MergeMode) == (True, True, False, "never")
    usual = WorkConf()
    assert work.KeepVersions > 1000 * usual.KeepVersions
    assert min(work.KeepChecks, work.KeepErrors) > 1000
    assert (usual.KeepChecks, usual.KeepErrors, usual.KeepCoded) == (0, 0, False)


def test_what_the_user_sets_goes_before_a_preset() -> None:
    assert load(None, (*ARCHIVE, "Work.KeepVersions=7")).work.KeepVersions == 7
