"""What is to be known of an exchange beside its bytes: marks that are stored with it.

Tested in tests/pipeline/crawl_worker/test_record_writer.py and tests/end_to_end/test_exchange.py.
"""

from __future__ import annotations

__all__ = ["ExchangeMark"]


class ExchangeMark:
    """Bits of the column `marks`. Plain numbers: they are combined for every page."""

    MERGED = 1
    """The document was made of the stored one and its table of variable information; the head is that of the stored one."""
    HEAD_MADE_UP = 2
    """The downloader does not hand over the head as it was received: it is written anew from status and headers."""
    HEAD_CUT = 4
    """The head was larger than is kept: its last lines are missing."""
    CONDITIONAL = 8
    """The request had the validators of the stored document besides."""
    BODY_CUT = 16
    """The body was larger than is kept: its end is missing."""
    IMPORTED = 32
    """The answer comes from an archive that somebody else may have written; we have not received it."""
