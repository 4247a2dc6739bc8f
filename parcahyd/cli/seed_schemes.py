"""Seeds whose scheme nothing serves: said before anything is written, with the schemes that are served.

Tested in tests/end_to_end/test_schemes.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from parcahyd.config.schema import Configuration
from parcahyd.core.errors import UserError
from parcahyd.rules.urls.canonical_url import canonical

__all__ = ["scheme_errors"]

_BUILT_IN = frozenset(("http", "https", "ftp", "gopher", "file"))


def scheme_errors(configuration: Configuration, seeds: Iterable[str]) -> list[UserError]:
    """A UserError for each seed with a scheme that no plugin serves."""
    odd = [seed for seed in seeds if (canonical(seed) or "http:").partition(":")[0] not in _BUILT_IN]
    if not odd:
        return []  # Nearly always. The plugins are read once, by the run.
    from parcahyd.plugin_manager import PluginManager

    served = PluginManager.load(configuration).served_schemes
    return [
        UserError(f'seed "{seed[:200]}": nothing serves the scheme "{scheme}"', f"served are {', '.join(sorted(served))}")
        for seed in odd
        if (scheme := (canonical(seed) or seed).partition(":")[0]) not in served
    ]
