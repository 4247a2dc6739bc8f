"""`python -m parcahyd.config conf Map`, `conf Work` or `docs` prints conf/MapConf.toml, conf/WorkConf.toml or docs/settings.md.

Tested in tests/config/test_explaining.py.
"""

from __future__ import annotations

import sys

from parcahyd.config.explaining import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
