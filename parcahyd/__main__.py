"""`python -m parcahyd` is the command `parcahyd`."""

from __future__ import annotations

import sys

from parcahyd.cli import main

if __name__ == "__main__":
    sys.exit(main())
