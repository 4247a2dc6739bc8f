"""The account of py-spy's samples."""

from __future__ import annotations

from bench.sampling import tables, tally

_SAMPLES = """\
process 1:"parcahyd run";thread (1): MainThread;run (parcahyd/processes/coordinator.py:9);read (a.py:3) 2
process 1:"parcahyd run";process 2:"";thread (2): MainThread;CrawlWorkerProcess.run (w.py:1);scan (s.py:7) 5
process 1:"parcahyd run";process 2:"";thread (2): MainThread;CrawlWorkerProcess.run (w.py:1);scan (s.py:8) 1
process 1:"parcahyd run";process 2:"";thread (2): MainThread;CrawlWorkerProcess.run;EpollSelector.select (selectors.py:4) 9
process 1:"parcahyd run";process 3:"";thread (4): packer_1;run (threading.py:1);pack (p.py:2) 4
"""


def test_samples_are_counted_by_process_thread_and_function_without_those_that_wait() -> None:
    assert tally(_SAMPLES.splitlines()) == {
        "coordinator": {"read (a.py)": 2},
        "Crawl Worker": {"scan (s.py)": 6},
        "Update Database, packer": {"pack (p.py)": 4},
    }


def test_the_busiest_comes_first() -> None:
    lines = list(tables(tally(_SAMPLES.splitlines()), 1))
    assert lines[0] == "Crawl Worker: 50 % of all samples\n"
    assert "| 100.0 % | `scan (s.py)` |" in lines
