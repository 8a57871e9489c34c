"""``python -m checker`` is ``eagle3-check``."""

from __future__ import annotations

import sys

from checker.cli import main

if __name__ == "__main__":
    sys.exit(main())
