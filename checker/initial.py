"""What can be seen in a folder, and settings that fit it."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from checker.configs import read_config
from checker.contract.formats import format_of
from checker.contract.loading import load_contract
from checker.engines import load_engines
from checker.errors import InputError
from checker.locks import is_lock, pins_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from checker.contract.added import Added
    from checker.contract.model import Contract, Format
    from checker.engines import Engine
    from checker.locks import Pinned

_DEPTH = 4
_MOST = 20_000
"""Files that are looked at: a folder of models and checkouts has many more."""
_LARGEST = 256 * 1024
"""Bytes of a configuration; what is larger holds data."""
_SKIPPED = {"node_modules", "__pycache__", "site-packages", "venv", "build", "dist"}
_CONFIG = "config.json"
_LACKING = "model"
"""The format of a model that is no draft."""
_TOLD = 8
"""Things of a kind that are named; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft's configuration: its path, its format's title, and whether a trainer writes that.

    `tensors`: there are weights beside it.
    """

    path: str
    title: str
    trained: bool
    tensors: bool

    @property
    def given(self) -> str:
        """What an option is given: the folder where there are tensors to account for."""
        return Path(self.path).parent.as_posix() if self.tensors else self.path


@dataclass(frozen=True, slots=True)
class Seen:
    """What a folder holds.

    `forks` are the roles of engines whose package lies in it, `roles` those of distributions.
    `looked` files were looked at, which was the `whole` folder or not; `left` are names of
    folders that were not.
    """

    forks: tuple[str, ...]
    pins: tuple[Pinned, ...]
    roles: Mapping[str, str]
    drafts: tuple[Draft, ...]
    targets: tuple[str, ...]
    looked: int = 0
    whole: bool = True
    left: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """What was seen, for people."""
        yield from (f"saw a checkout of a {role}" for role in self.forks)
        for pin in self.pins:
            yield f"saw a pin: {pin.name}=={pin.version} ({pin.path}:{pin.line})"
        yield from _few("saw a draft", [f"{draft.path} ({draft.title})" for draft in self.drafts])
        yield from _few("saw another model", self.targets)
        if not (self.forks or self.pins or self.drafts or self.targets):
            yield "saw nothing that is known: no checkout of an engine, no pin, no draft"
        left = f", not in {', '.join(self.left)}" if self.left else ""
        end = "" if self.whole else "; that was not all: name a smaller folder to see the rest"
        yield f"looked at {self.looked} files, {_DEPTH} folders deep at most{left}{end}"


def _few(what: str, found: Sequence[str]) -> Iterator[str]:
    yield from (f"{what}: {one}" for one in found[:_TOLD])
    if len(found) > _TOLD:
        yield f"{what}: and {len(found) - _TOLD} more"


def look(folder: Path, contracts: tuple[Added, ...] = ()) -> Seen:
    """Looks at the files of a folder, reading lock files and configurations only."""
    engines, contract = load_engines(contracts), load_contract(contracts)
    trainers = {engine.name for engine in engines if engine.role == "trainer"}
    names = [engine.distribution for engine in engines]
    pins: list[Pinned] = []
    drafts: list[Draft] = []
    targets: list[str] = []
    files = _Files()
    for path in files.below(folder):
        inside = path.relative_to(folder).as_posix()
        if is_lock(inside):
            with contextlib.suppress(InputError, OSError):
                pins += pins_in(inside, path.read_text("utf-8", "replace"), names)
            continue
        found = _format(path, contract)
        if found is None:  # neither a draft nor another model
            continue
        if found.id == _LACKING:
            targets.append(inside)
        else:
            beside = path.name == _CONFIG and any(path.parent.glob("*.safetensors"))
            drafts.append(Draft(inside, found.title, found.id in trainers, beside))
    return Seen(
        tuple(engine.role for engine in engines if _is_in(folder, engine)),
        tuple(pins),
        {engine.distribution: engine.role for engine in engines},
        tuple(drafts),
        tuple(targets),
        files.count,
        files.whole,
        tuple(sorted(files.left)),
    )


class _Files:
    """The files of a folder that settings could name, and what of the folder was left out."""

    def __init__(self) -> None:
        self.count = 0
        self.whole = True
        self.left: set[str] = set()

    def below(self, folder: Path) -> Iterator[Path]:
        """Lock files and whatever may be a configuration."""
        for place, folders, files in os.walk(folder):
            depth = len(Path(place).relative_to(folder).parts)
            self.left.update(_SKIPPED.intersection(folders))
            hidden = [n for n in folders if n.startswith(".")]
            self.left.update(["hidden folders"] if hidden else [])
            inner = [n for n in folders if n not in _SKIPPED and n not in hidden]
            folders[:] = sorted(inner) if depth < _DEPTH else []
            for name in sorted(files):
                if self.count == _MOST:
                    self.whole = False
                    return
                self.count += 1
                if name.endswith(".json") or is_lock(name):
                    yield Path(place, name)


def _format(path: Path, contract: Contract) -> Format | None:
    """The format of a configuration; one that is called otherwise has to name its class."""
    classes = contract.target["class"]
    try:
        if path.stat().st_size > _LARGEST:
            return None
        data = read_config(str(path)).data
    except (InputError, OSError):
        return None
    if path.name != _CONFIG and not isinstance(data.get(classes), list):
        return None
    return format_of(data, contract.formats, classes)


def _is_in(folder: Path, engine: Engine) -> bool:
    from checker.sources import open_source

    try:
        open_source(str(folder.resolve()), package=engine.package, offline=True)
    except InputError:
        return False
    return True


_HEAD = """\
# Settings of eagle3-check. What stands here is what `eagle3-check verify` checks in this folder;
# options of the command line come after it. `eagle3-check contracts schema settings` describes
# every key. Paths start at this file's folder.

"""
_TAIL = """\

# What fails a check: "unproven" (the default), "violated", or "never".
# fail-on = "unproven"

# Reports to write besides: text, json, sarif, junit, github, markdown, html.
# output = ["sarif=eagle3-check.sarif", "html=eagle3-check.html"]

# Contract files of your own: clauses, switches, wires, engines, operators.
# contracts = ["contracts/my-engine.yaml"]

# The findings of the day on which you began (eagle3-check baseline writes it).
# baseline = "eagle3-check-baseline.json"

# One finding that does not count, for a reason and for a time. The report names the fingerprint.
# [[waivers]]
# clause = "residual-source"
# fingerprint = "0123456789abcdef"
# reason = "the next draft is trained without it"
# owner = "you@example.org"
# expires = 2027-01-31
"""


def settings_for(seen: Seen) -> str:
    """Settings that fit what was seen; what is not known stands there as a comment."""
    lines: list[str] = []
    for role, key, more in (
        ("trainer", "train", "the trainer: NAME==VERSION, NAME (newest), a folder, wheel or sdist"),
        ("server", "serve", 'the server, likewise; "." is this checkout'),
    ):
        lines.append(f"# {more[0].upper()}{more[1:]}.")
        lines.append(_side(key, role, seen))
    lines += [
        "",
        "# The draft: its config.json or folder; two files where a conversion lies between.",
    ]
    lines += _drafts(seen)
    lines += ["", "# The target: its config.json, or CLASS[:LAYERS]."]
    target = seen.targets[0] if len(seen.targets) == 1 else None
    lines.append(_said("target", target, "path/to/target/config.json"))
    lines += ["", "# The server's command line, or a file with it."]
    lines.append(_said("launch", None, "launch.sh"))
    return _HEAD + "\n".join(lines) + "\n" + _TAIL


def _side(key: str, role: str, seen: Seen) -> str:
    if role in seen.forks:
        return f'{key} = "."'
    for pin in seen.pins:
        if seen.roles.get(pin.name) == role:
            return f'{key} = "{pin.name}=={pin.version}"  # {pin.path}:{pin.line}; gate follows it'
    name = next((name for name, known in sorted(seen.roles.items()) if known == role), "NAME")
    return f'# {key} = "{name}==VERSION"'


def _drafts(seen: Seen) -> Iterator[str]:
    trained = [d for d in seen.drafts if d.trained]
    served = [d for d in seen.drafts if not d.trained]
    if len(seen.drafts) == 1:
        yield _said("draft", seen.drafts[0].given, "")
    elif len(trained) == 1 and len(served) == 1:
        yield _said("train-config", trained[0].path, "")
        yield _said("serve-config", served[0].path, "")
    elif seen.drafts:
        yield from (f"# draft = {json.dumps(draft.given)}" for draft in seen.drafts)
    else:
        yield _said("draft", None, "path/to/draft")


def _said(key: str, value: str | None, otherwise: str) -> str:
    """A key with its value; as a comment where it is not known. JSON's texts are TOML's."""
    return f"# {key} = {json.dumps(otherwise)}" if value is None else f"{key} = {json.dumps(value)}"
