"""Secret values: no message repeats them, no command shows them, and the database does not hold them."""

from __future__ import annotations

import msgspec

from parcahyd.config.database_url import without_password
from parcahyd.config.schema import WorkConf

__all__ = ["SECRETS", "SECRETS_OF_OVERRIDES", "secret_headers", "without_secrets"]

SECRETS = ("DbUrl", "DbPassword", "Proxy", "Credentials", "Headers", "Host")
"""Settings whose values no message repeats."""
SECRETS_OF_OVERRIDES = ("DbUrl", "DbPassword", "Proxy")
"""Those that `--set` takes; a key that is spelled nearly like one of them is a secret too."""

_OPEN_HEADERS = frozenset({"accept", "accept-language", "dnt", "from", "referer"})
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})


def secret_headers(work: WorkConf) -> frozenset[str]:
    """Names, in lower case, of the headers of requests whose values are not shown."""
    given = {name.lower() for rule in work.Host for name in rule.Headers or {}}
    return _SECRET_HEADERS | (given - _OPEN_HEADERS)


def without_secrets(key: str, value: object) -> object:
    """A setting's value, as it may be shown and recorded: passwords are hidden, variables that hold one are named.

    Rules of hosts become plain tables. Of their headers only those that are never secret are shown.
    """
    match key:
        case "DbUrl" | "Proxy":
            return value and without_password(str(value))
        case "DbPassword" | "Credentials":
            return _hidden(value)
        case "Headers" if isinstance(value, dict):
            return {name: text if name.lower() in _OPEN_HEADERS else _hidden(text) for name, text in value.items()}
        case "Host" if isinstance(value, tuple):
            rules = [msgspec.to_builtins(rule) for rule in value]
            return [{name: without_secrets(name, one) for name, one in rule.items() if one is not None} for rule in rules]
    return value


def _hidden(value: object) -> object:
    return value if not value or str(value).startswith("env:") else "***"
