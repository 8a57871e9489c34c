"""The questions of the command line as functions; `checker` itself exports them.

They read no settings and print nothing. Everything that `verify`, `solve` and `diff` may be given
by name is described by `Given`. What cannot be used raises `checker.InputError`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from checker.errors import InputError
from checker.request import Access, CaptureRequest, DiffRequest, Pin, Rename, Target, VerifyRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from typing_extensions import TypedDict, Unpack

    from checker.configs import ConfigFile
    from checker.contract.added import Added
    from checker.report.capture import Table
    from checker.report.changes import Changes
    from checker.report.model import Report
    from checker.report.solution import Solution

    Config: TypeAlias = str | Path | Mapping[str, Any]

    class Given(TypedDict, total=False):
        """What may be given by name.

        A configuration is a path, a folder with a ``config.json``, or a mapping.
        """

        draft: Config
        """The draft's configuration, used by both sides; for `verify` also its folder as training
        saved it: then its tensors are accounted for, too."""
        serve_draft: str | Path
        """The folder that is served, where it is another one (`verify` only)."""
        train_config: Config
        """The configuration that the trainer wrote."""
        serve_config: Config
        """The configuration that the server reads."""
        target: Config
        """The target's configuration, or ``CLASS[:LAYERS]``."""
        launch: str
        """The server's command line, or a file with it."""
        renames: Mapping[str, str]
        """What a conversion did to tensor names: old prefixes and new ones."""
        train_with: Mapping[str, str]
        """Releases to read dependencies of the trainer from, by name."""
        serve_with: Mapping[str, str]
        """The same for the server."""
        tp: int
        """Tensor parallel size."""
        pp: int
        """Pipeline parallel size."""
        contracts: Iterable[str | Path]
        """Contract files to add."""
        offline: bool
        """Fetch nothing."""
        use_cache: bool
        """Take what was extracted before (the default)."""
        draw: bool
        """The report gets both graphs, for ``render(report, "html")`` (`verify` only)."""


_NAMES = frozenset((
    "draft", "serve_draft", "train_config", "serve_config", "target", "launch", "renames",
    "train_with", "serve_with", "tp", "pp", "contracts", "offline", "use_cache", "draw",
))  # fmt: skip


def verify(train: str, serve: str, **given: Unpack[Given]) -> Report:
    """Compares what a trainer trained with what a server computes.

    Args:
        train: the trainer: ``NAME==VERSION``, ``NAME``, a folder, wheel or sdist,
            ``git:FOLDER@REVISION``.
        serve: the server, likewise.
        given: see `Given`; without configurations the trainer's default drafts are explored.

    Raises:
        InputError: something that was given cannot be used.
    """
    from checker.exploring import explore
    from checker.stored.folder import read_checkpoint
    from checker.verification import verify as run

    draft, served = given.get("draft"), given.get("serve_draft")
    request = replace(
        _request(train, serve, given),
        draft=read_checkpoint(str(draft)) if isinstance(draft, (str, Path)) else None,
        serve_draft=None if served is None else read_checkpoint(str(served), needed=True),
        draw=given.get("draw", False),
    )
    bare = request.train_config is None and request.serve_config is None
    return explore(request) if bare else run(request)


def solve(train: str, serve: str, **given: Unpack[Given]) -> Solution:
    """The configuration, flags and tensor names under which a server computes what was trained.

    Args:
        train: the trainer, as for `verify`.
        serve: the server, likewise.
        given: see `Given`; `train_config` and `target` are needed.

    Raises:
        InputError: something that was given cannot be used, or is missing.
    """
    from checker.solver import solve as run

    request = _request(train, serve, given)
    if request.train_config is None:
        raise InputError("nothing says what was trained", "give train_config")
    return run(request)


def diff(old: str, new: str, *, beside: str | None = None, **given: Unpack[Given]) -> Changes:
    """What changed in meaning between two releases of a trainer or a server.

    Args:
        old: a release, as for `verify`.
        new: another one of the same engine.
        beside: who trains, or serves; the example pair's by default.
        given: see `Given`; with configurations only that draft is looked at.

    Raises:
        InputError: something that was given cannot be used.
    """
    from checker.differences import diff as run
    from checker.engines import load_engines
    from checker.extract import role_of

    request = _request("", "", given)
    if beside is not None:
        of_trainer = role_of(load_engines(request.contracts), old) == "trainer"
        request = replace(request, serve=beside) if of_trainer else replace(request, train=beside)
    return run(DiffRequest(old, new, request))


def capture(
    source: str,
    *,
    target: str | None = None,
    layers: int = 61,
    ids: Sequence[int] | None = None,
    tp: int = 1,
    contracts: Iterable[str | Path] = (),
    offline: bool = False,
    use_cache: bool = True,
) -> Table:
    """Which states of the target a server hands to the draft, class by class.

    Args:
        source: the server, as for `verify`.
        target: one registered class; all by default.
        layers: how many decoder layers the target has.
        ids: layer ids in the draft's configuration; None where it states none.
        tp: how many ranks share each tensor.
        contracts: contract files to add.
        offline: fetch nothing.
        use_cache: take what was extracted before.

    Raises:
        InputError: something that was given cannot be used.
    """
    from checker.capturing import capturing

    request = CaptureRequest(
        source=source,
        layers=layers,
        target=target,
        ids=None if ids is None else tuple(ids),
        access=Access(offline, use_cache),
        contracts=_added(contracts),
        tensor_parallel=tp,
    )
    return capturing(request)


def render(report: Report, form: str = "text", contracts: Iterable[str | Path] = ()) -> str:
    """A report as ``text``, ``json``, ``sarif``, ``junit``, ``github``, ``markdown`` or ``html``.

    Raises:
        ValueError: there is no such format.
    """
    from checker.report.formats import Rendering
    from checker.report.formats import render as run

    return run(report, form, Rendering(_added(contracts)))


# --- from arguments to requests -----------------------------------------------------------------


def _request(train: str, serve: str, given: Given) -> VerifyRequest:
    from checker.words import folder_of, launch_of

    unknown = sorted(set(given) - _NAMES)
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
    both = _config(given.get("draft"), "draft")
    served = _config(given.get("serve_draft"), "serve_draft") or both
    launch = given.get("launch")
    return VerifyRequest(
        train=train,
        serve=serve,
        train_config=_config(given.get("train_config"), "train_config") or both,
        serve_config=_config(given.get("serve_config"), "serve_config") or served,
        target=_target(given.get("target")),
        launch=launch_of(launch),
        launch_folder="" if launch is None else folder_of(launch),
        renames=tuple(Rename(old, new) for old, new in given.get("renames", {}).items()),
        train_with=tuple(Pin(*pin) for pin in given.get("train_with", {}).items()),
        serve_with=tuple(Pin(*pin) for pin in given.get("serve_with", {}).items()),
        tensor_parallel=given.get("tp", 1),
        pipeline_parallel=given.get("pp", 1),
        access=Access(given.get("offline", False), given.get("use_cache", True)),
        contracts=_added(given.get("contracts", ())),
    )


def _config(given: Config | None, name: str) -> ConfigFile | None:
    from checker.configs import ConfigFile, read_config

    if given is None:
        return None
    if not isinstance(given, Mapping):
        return read_config(str(given))
    try:
        raw = json.dumps(given).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"is no JSON: {error}", "give what a config.json holds", name) from None
    return ConfigFile(name, raw, given)


def _target(given: Config | None) -> Target | None:
    from checker.words import target

    if isinstance(given, Mapping):
        return Target(config=_config(given, "target"))
    return None if given is None else target(str(given))


def _added(paths: Iterable[str | Path]) -> tuple[Added, ...]:
    from checker.contract.added import added

    return added([Path(path) for path in paths])
