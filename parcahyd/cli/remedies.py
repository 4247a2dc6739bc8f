"""What the user can do about a URL that is not stored, by its reason; without an entry it passes by itself or not at all."""

from __future__ import annotations

from parcahyd.core.life_cycle import Reason
from parcahyd.rules.address_policy import literal_address

__all__ = ["REMEDIES", "remedy"]

REMEDIES = {
    Reason.DNS_NO_NAME: "Check the spelling of the host, and the name servers (Map.Nameservers).",
    Reason.DNS_FAILURE: "Check the name servers (Map.Nameservers).",
    Reason.DNS_TIMEOUT: "Check the name servers (Map.Nameservers), or raise Map.DnsTimeout.",
    Reason.TLS: "If the server has a certificate of your own authority, name it with Work.CaFile.",
    Reason.TIMEOUT: "If the server is slow, raise Work.TimeoutConnect, Work.TimeoutIdle or Work.TimeoutTotal.",
    Reason.PLUGIN: "`parcahyd plugins` says which plugin is in use; Work.DownloaderClass chooses another.",
    Reason.PEER: "`parcahyd plugins` says which plugin is in use; Work.DownloaderClass chooses another.",
    Reason.SCOPE: "Give it as a seed (--seed URL), or widen the scope: --set Work.Scope=domain, or any.",
    Reason.DEPTH: "Raise Work.MaxDepth, or give it as a seed (--seed URL).",
    Reason.ADDRESS: "If that network is yours to crawl, allow it: --set 'Map.AllowAddresses=[\"{network}\"]'",
    Reason.SCHEME: "Choose a downloader that serves it (Work.DownloaderClass); `parcahyd plugins` lists them.",
    Reason.SIZE: "Raise Work.MaxBytes.",
    Reason.REDIRECTS: "Raise Work.MaxRedirects.",
    Reason.EXCLUDED: "Change Work.Include or Work.Exclude, or give it as a seed (--seed URL).",
    Reason.SITE_PAGES: "Raise Work.MaxPagesPerSite.",
    Reason.MEDIA_TYPE: "Add its type to Work.MediaTypes.",
    Reason.LENGTH: "Raise Work.MaxUrlLength; the URL is found again when the page that it stands in is.",
    Reason.PATH_DEPTH: "If it is no trap, raise Work.MaxPathSegments, or give it as a seed (--seed URL).",
    Reason.REPEATS: "If it is no trap, raise Work.MaxRepeats, or give it as a seed (--seed URL).",
    Reason.PARAMETERS: "If it is no trap, raise Work.MaxParameters, or give it as a seed (--seed URL).",
    Reason.QUERIES: "If it is no trap, raise Work.MaxQueryShapes, or give it as a seed (--seed URL).",
    Reason.CALENDAR: "If it is no trap, raise Work.MaxYearsAhead or Work.MaxYearsBack.",
    Reason.SESSION: "Name the session's parameter in Work.StripParameters, or set Work.OneSession=false.",
    Reason.DUPLICATES: "If it is no trap, raise Work.TemplateBudget, or give it as a seed (--seed URL).",
    Reason.SOFT_404: "If it is no trap, raise Work.TemplateBudget, or give it as a seed (--seed URL).",
}


def remedy(reason: Reason, host: str) -> str:
    """What to do, in a sentence, for a URL of this host; empty where nothing can be done."""
    address = literal_address(host)
    network = "NETWORK" if address is None else f"{address}/{128 if ':' in address else 32}"
    return REMEDIES.get(reason, "").replace("{network}", network)
