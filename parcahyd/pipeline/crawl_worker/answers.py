"""What answers say: where a redirect leads, what an answer to robots.txt means, and which validators can be sent back."""

from __future__ import annotations

from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import RobotsFact, RobotsStatus
from parcahyd.rules.politeness.backoff import REDIRECTS, Failure
from parcahyd.rules.robots.robots_file import MAX_ROBOTS
from parcahyd.rules.urls.parameters import Canon, joining

__all__ = ["location", "read_robots"]


def location(result: DownloadResult, url: str, canon: Canon | None = None) -> str:
    """Where a redirect of `url` leads, or nothing where that is not said."""
    target = result.header("location")
    return (joining(url, canon)(target) or "") if target else ""


def read_robots(result: DownloadResult, failed: Failure | None, url: str, now: float, ttl: float) -> tuple[RobotsFact, str]:
    """What an answer to robots.txt means (RFC 9309, section 2.3.1), and where it redirects to, if it does."""
    if failed is not None or result.failure is not None:
        reason = failed.reason.sentence if failed is not None else result.detail
        return RobotsFact(RobotsStatus.UNREACHABLE, b"", now, now, reason), ""
    status = result.status
    if status in REDIRECTS and (target := location(result, url)):
        return RobotsFact(RobotsStatus.AWAITED, b"", now, now, f"redirects to {target}"), target
    if 200 <= status < 300:
        return RobotsFact(RobotsStatus.FOUND, result.body[:MAX_ROBOTS], now, now + ttl), ""
    if status == 429 or status >= 500:
        return RobotsFact(RobotsStatus.ERROR, b"", now, now, f"HTTP {status}"), ""
    return RobotsFact(RobotsStatus.ABSENT, b"", now, now + ttl, f"HTTP {status}"), ""
