from __future__ import annotations

import msgspec

from parcahyd.cli.freshness_lines import freshness_lines
from parcahyd.storage.report_records import FreshnessReport

REPORT = FreshnessReport(pages=1200, rechecked=800, changed=90, fresh=0.873, mean_age=7300.0, overdue=4, kept=0)


def test_a_collection_in_words() -> None:
    assert list(freshness_lines(REPORT)) == [
        "freshness  87.3% of 1,200 pages expected to be current, mean age 2 h 1 min; 4 overdue",
        "  checked  800 more than once, 90 found changed",
    ]
    kept = msgspec.structs.replace(REPORT, fresh=None, mean_age=None, kept=1)
    assert list(freshness_lines(kept)) == [
        "freshness  nothing is stored",
        "  kept     1 document of URLs that failed, are gone or refused now",
    ]
