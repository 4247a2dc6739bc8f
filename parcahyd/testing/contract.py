"""How a broken contract is told.

Tested by the tests of the checks in tests/testing.
"""

from __future__ import annotations

__all__ = ["expect"]


def expect(holds: bool, contract: str) -> None:
    """`contract` is said as it should be; the error says that it is broken."""
    if not holds:
        raise AssertionError(f"broken: {contract}")
