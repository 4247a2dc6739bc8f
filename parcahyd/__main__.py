"""`python -m parcahyd` is the command `parcahyd`. Tested in tests/cli/test_application.py."""

from __future__ import annotations

import sys

from parcahyd.cli import main

if __name__ == "__main__":
    sys.exit(main())
