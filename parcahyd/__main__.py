"""`python -m parcahyd` is the command `parcahyd`.

Python itself looks for modules in the current directory first when it is started with `-m`. That ends here, so that plugins and
child processes come from where the command `parcahyd` would take them. `python -P -m parcahyd` never looks there.
Tested in tests/cli/test_application.py and tests/end_to_end/test_current_directory.py.
"""

from __future__ import annotations

import sys

from parcahyd.cli import main

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]
    sys.exit(main())
