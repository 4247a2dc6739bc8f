"""What is kept of a site's tables."""

from __future__ import annotations

import msgspec
import pytest

from parcahyd.augment.declaration import Declaration
from parcahyd.augment.site_offer import MAX_ABSENT, NOTHING_OFFERED, SiteOffer, read_offer, write_offer

OFFER = SiteOffer((Declaration("/docs/", "{stem}.TOL", within="/docs/"),), (("/old/", 5.0),), 3, 1, 0.0, 2, 99.0)


def test_what_is_written_is_read_back() -> None:
    assert read_offer(write_offer(OFFER)) == OFFER
    assert read_offer(b"") == NOTHING_OFFERED


@pytest.mark.parametrize(
    "data",
    [
        write_offer(OFFER)[:-1],
        b"\xc1",
        write_offer(msgspec.structs.replace(OFFER, form=2)),
        write_offer(msgspec.structs.replace(OFFER, absent=(("/", 1.0),) * (MAX_ABSENT + 1))),
    ],
)
def test_what_is_damaged_or_of_another_form_is_nothing(data: bytes) -> None:
    assert read_offer(data) == NOTHING_OFFERED
