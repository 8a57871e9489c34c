"""``python -m checker`` is ``eagle3-check``."""

from __future__ import annotations

from checker.cli import run

if __name__ == "__main__":
    run()
