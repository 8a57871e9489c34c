"""Writes `contracts/pins`: what the definitions that summaries stand for mean, release by release.

    python -m benchmarks.pins [RELEASE…]

Run it after somebody has read what a new release changed in them: a digest that stands in the table
says that it was looked at.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from checker.contract.loading import load_plain
from checker.data import CONTRACTS
from checker.engines import load_engines, load_outlines, pins
from checker.pairing import allow_deep_recursion, open_side
from checker.request import Access

if TYPE_CHECKING:
    from checker.engines import Subject

Table = dict[str, dict[str, dict[str, str]]]
RELEASES = Path(__file__).resolve().parents[1] / "tests/releases/releases.yaml"
HEAD = """\
# yaml-language-server: $schema=../schema/pins.schema.json
# Written by `python -m benchmarks.pins`, not by hand: by module, by the release in which they were
# first seen, the digests of what summaries stand for. Nobody has to read this.
version: 1
library: sglang
modules:
"""


def releases() -> tuple[str, ...]:
    """Every release of the server that the tests know, the oldest first."""
    groups = load_plain(RELEASES)["servers"]["groups"]
    return tuple(spec.partition("==")[2] for group in groups for spec in group["releases"])


def release(version: str) -> Subject:
    """A release as it is captured from."""
    return open_side(load_engines(), "server", f"sglang=={version}", [], Access()).outline()


def wanted() -> list[str]:
    """The definitions that summaries name."""
    return sorted({pin for summary in load_outlines().all() for pin in summary.pins})


def of_release(subject: Subject) -> dict[str, dict[str, str]]:
    """The digests of all wanted definitions of a release, by module."""
    found: dict[str, dict[str, str]] = {}
    for pin in wanted():
        name, _, member = pin.partition(":")
        package = name.removesuffix(".**")
        for module in [name] if package == name else below(subject, package):
            file = subject.workspace.find(module)
            if file is not None:
                found.setdefault(module, {}).update(pins.digests(file, member))
    return found


def below(subject: Subject, package: str) -> list[str]:
    """A package and all modules in it and below it."""
    folder = package.replace(".", "/") + "/"
    found = []
    for tree in subject.workspace.trees:
        for root in tree.roots:
            for entry in sorted(tree.listdir(root + folder)):
                if entry.endswith("/"):
                    found += below(subject, f"{package}.{entry[:-1]}")
                elif entry == "__init__.py":
                    found.append(package)
                elif entry.endswith(".py"):
                    found.append(f"{package}.{entry[:-3]}")
    return found


def table(versions: tuple[str, ...]) -> Table:
    """What was first seen in which release."""
    result: Table = {}
    seen: set[tuple[str, str, str]] = set()
    for version in versions:
        for module, digests in of_release(release(version)).items():
            for name, digest in digests.items():
                if (module, name, digest) not in seen:
                    seen.add((module, name, digest))
                    result.setdefault(module, {}).setdefault(version, {})[name] = digest
    return result


def written(found: Table) -> str:
    """The table as YAML."""
    lines = []
    for module in sorted(found):
        lines.append(f"  {module}:")
        for version, digests in found[module].items():
            pairs = ", ".join(f'{_quoted(n)}: "{d}"' for n, d in sorted(digests.items()))
            text = f'"{version}": {{{pairs}}}'
            lines += textwrap.wrap(
                text, 120, initial_indent="    ", subsequent_indent="      ", break_long_words=False
            )
    return HEAD + "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    return f'"{name}"' if name.startswith("<") else name


def main() -> None:
    """Writes the table of the named releases, or of all."""
    allow_deep_recursion()
    versions = tuple(sys.argv[1:]) or releases()
    path = CONTRACTS / "pins" / "sglang.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(written(table(versions)), encoding="utf-8")


if __name__ == "__main__":
    main()
