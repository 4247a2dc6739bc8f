"""The resolver of a table on disk: for tests, staging and closed networks."""

from __future__ import annotations

from parcahyd.config.schema import MapConf
from parcahyd.core.errors import ConfigurationError, ResolutionFailed
from parcahyd.core.life_cycle import Reason
from parcahyd.core.ports import Resolution
from parcahyd.net.hosts_table import HostsTable

__all__ = ["HostsFileResolver"]


class HostsFileResolver:
    """Knows the hosts in `HostsFile` and no others; a change of the file counts from the next question on."""

    def __init__(self, conf: MapConf) -> None:
        self._path = conf.HostsFile
        self._ttl = min(conf.MinTtl, conf.MaxTtl)
        self._table = HostsTable(conf.HostsFile)
        try:
            self._table.addresses("")
        except OSError as error:
            raise ConfigurationError(
                f'HostsFile "{conf.HostsFile}" cannot be read: {error.strerror}', "name a file in the form of /etc/hosts"
            ) from error

    def resolve(self, host: str) -> Resolution:
        try:
            addresses = self._table.addresses(host)
        except OSError as error:
            raise ResolutionFailed(Reason.DNS_FAILURE, f"{self._path} cannot be read: {error.strerror}") from error
        if not addresses:
            raise ResolutionFailed(Reason.DNS_NO_NAME, f"{host} is not in {self._path}")
        return Resolution(addresses, self._ttl)

    def close(self) -> None:
        """Nothing is held open."""
