"""For authors of plugins: in-memory stand-ins for the ports, and a conformance check for each kind of plugin.

`check_resolver`, `check_downloader`, `check_partitioner`, `check_recognizer`, `check_summarizer` and `check_expander` check a
plugin (a downloader against a real server on loopback) and raise AssertionError with a sentence that says what is broken. The
built-in plugins pass the same checks.
"""

from parcahyd.testing.checks import check_expander, check_recognizer, check_resolver, check_summarizer
from parcahyd.testing.downloader_checks import check_downloader
from parcahyd.testing.fakes import FakeClock, FakeDownloader, FakeResolver
from parcahyd.testing.partitioner_checks import check_partitioner

__all__ = [
    "FakeClock",
    "FakeDownloader",
    "FakeResolver",
    "check_downloader",
    "check_expander",
    "check_partitioner",
    "check_recognizer",
    "check_resolver",
    "check_summarizer",
]
