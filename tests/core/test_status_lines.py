from __future__ import annotations

from parcahyd.core.status_lines import usual_status_line


def test_a_status_line_for_every_number() -> None:
    assert usual_status_line(404) == b"HTTP/1.1 404 Not Found"
    assert usual_status_line(200, "1.0") == b"HTTP/1.0 200 OK"
    assert usual_status_line(799) == b"HTTP/1.1 799 "
    assert usual_status_line(7) == b"HTTP/1.1 007 "
