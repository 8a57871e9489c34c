"""Whether what documentation and contracts link to elsewhere is there: needs the network.

    python .ci/links.py [FOLDER]

Not part of the tests, which need no network: `.github/workflows/links.yml` runs it once a week.
Prints a line for each link that is dead, with its place, and exits with 1 where there is any. A
server that is busy, or wants no programs, says nothing about a page.
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

_LINK = re.compile(r"https?://[^\s<>\"'`)\]|]+")
_FILES = ("*.md", "docs/**/*.md", "contracts/**/*.yaml", "mkdocs.yml", "pyproject.toml")
_PLACEHOLDERS = ("OWNER", "example.org")
_SECONDS = 20
_TRIES = 3
_GONE = range(400, 500)
_UNTOLD = (401, 403, 405, 408, 429, 451)
"""Answers of servers that would tell a browser otherwise."""


def links(root: Path) -> dict[str, str]:
    """Each link with the first place where it stands."""
    found: dict[str, str] = {}
    for path in sorted({path for pattern in _FILES for path in root.glob(pattern)}):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            for match in _LINK.finditer(line):
                link = match[0].rstrip(".,;:").partition("#")[0]
                if not any(word in link for word in _PLACEHOLDERS):
                    found.setdefault(link, f"{path.relative_to(root)}:{number}")
    return found


def problem(link: str) -> str | None:
    """Why a link leads nowhere; None where it leads somewhere, or nobody can tell."""
    said = ""
    for _ in range(_TRIES):
        try:
            with requests.get(link, timeout=_SECONDS, stream=True) as answer:
                status = answer.status_code
        except requests.RequestException as error:
            said = type(error).__name__
            continue
        return f"status {status}" if status in _GONE and status not in _UNTOLD else None
    return said


def main() -> int:
    """Looks at all of them, a few at a time."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1])
    found = links(root)
    with ThreadPoolExecutor(8) as pool:
        told = dict(zip(found, pool.map(problem, found), strict=True))
    dead = {link: said for link, said in told.items() if said is not None}
    for link, said in dead.items():
        print(f"{found[link]}: {link}: {said}")
    print(f"{len(found)} links, {len(dead)} dead")
    return 1 if dead else 0


if __name__ == "__main__":
    raise SystemExit(main())
