"""One job: the stages of an engine on real tensors, or an extracted graph."""

from __future__ import annotations

import importlib.metadata
import math
import sys
from contextlib import nullcontext
from typing import Any

import torch

from checker.interpreter.stubs import Stubs, Summary
from checker.trace import execute
from checker.trace.exact import flex_shapes, make_exact, run_uncompiled
from checker.trace.lazy import Globals, Library, NoVerdict
from checker.trace.native import Operators, record_argmax
from checker.trace.parsed import ParsedWorkspace
from checker.trace.real import Installed, places
from checker.trace.recording import Recorder, summary

_EXACT = False


class MemoryTree:
    """A tree whose files came with the job."""

    def __init__(self, label: str, roots: list[str], files: dict[str, str]) -> None:
        self.label, self.roots = label, tuple(roots)
        self._files = files
        self._folders: dict[str, set[str]] = {}
        for path in files:
            parts = path.split("/")
            for depth in range(len(parts)):
                folder = "/".join(parts[:depth]) + "/" if depth else ""
                name = parts[depth] + ("/" if depth < len(parts) - 1 else "")
                self._folders.setdefault(folder, set()).add(name)

    def read(self, path: str) -> bytes:
        """A file's bytes."""
        return self._files[path].encode()

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return path in self._files

    def listdir(self, folder: str) -> list[str]:
        """Names in a folder; folders end with a slash."""
        return sorted(self._folders.get(folder, ()))


def environment(job: dict[str, Any]) -> dict[str, Any]:
    """Random inputs by name: the same on every side for the same seed."""
    tokens, steps = job["tokens"], job["steps"]
    generator = torch.Generator().manual_seed(job["seed"])
    env: dict[str, Any] = {}
    for name, width in job["inputs"].items():
        drawn = torch.randn((tokens, width), generator=generator, dtype=torch.float64, device="cpu")
        env[name] = drawn.to(device_of(job), dtype_of(job))
    drawn = torch.randint(
        1, job["vocabulary"], (tokens + steps,), generator=generator, device="cpu"
    )
    ids = drawn.to(device_of(job))
    first = ids[:tokens]
    for step in range(steps):
        moved = torch.cat([first[step:], torch.zeros(step, dtype=torch.long)])
        env[f"tokens.{step}"] = moved
    env["positions"] = torch.arange(tokens)
    return env


def device_of(job: dict[str, Any]) -> str:
    """Where a job runs.

    Raises:
        NoVerdict: there is no such device here.
    """
    device = str(job.get("device", "cpu"))
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise NoVerdict("no CUDA device is to be had here; say --device cpu")
    return device


def dtype_of(job: dict[str, Any]) -> torch.dtype:
    """What a job computes in."""
    return torch.float64 if job.get("exact", True) else getattr(torch, job["dtype"])


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Runs one job and gives numbers.

    Raises:
        NoVerdict: the run cannot say anything.
    """
    global _EXACT  # noqa: PLW0603 - one switch a process, and no way back
    if job.get("exact", True) and not _EXACT:
        make_exact()
        _EXACT = True
    run_uncompiled()
    torch.manual_seed(job["seed"])
    torch.set_default_dtype(dtype_of(job))
    torch.set_default_device(device_of(job))
    try:
        with flex_shapes() if device_of(job) == "meta" else nullcontext():
            return _graph(job) if job["kind"] == "graph" else _engine(job)
    finally:
        torch.set_default_device("cpu")


_KEPT: dict[str, list[Any]] = {}
"""Logits that a job asked to keep, for a later one to be compared with."""


def _told(job: dict[str, Any], logits: list[Any]) -> dict[str, Any]:
    """Logits as a job wants them: as numbers, kept here, or only compared with kept ones."""
    if "keep" in job:
        _KEPT[job["keep"]] = logits
    if "against" in job:
        kept = _KEPT[job["against"]]
        pairs = [(a.double(), b.double()) for a, b in zip(kept, logits, strict=False)]
        return {
            "differences": [float((a - b).abs().max()) for a, b in pairs],
            "sizes": [float(a.abs().max()) for a, _ in pairs],
        }
    if not job.get("numbers", True) or any(t.device.type == "meta" for t in logits):
        return {"shapes": [list(t.shape) for t in logits]}
    return {"logits": [t.tolist() for t in logits]}


def _graph(job: dict[str, Any]) -> dict[str, Any]:
    env = environment(job)
    dtype = dtype_of(job)
    operators = Operators(env, {"seed": job["seed"], "device": device_of(job)}, dtype)
    for name, shape in job["parameters"].items():
        if name.startswith("unloaded:"):
            env[name] = torch.full(tuple(shape), math.nan, dtype=dtype)
        else:
            env[name] = operators.made(name.removeprefix("target."), tuple(shape))
    try:
        values = execute.run(job["nodes"], env, device_of(job), dtype)
    except LookupError as error:
        raise NoVerdict(str(error)) from None
    wires = {
        name: summary(values[i], job["tokens"]) for name, i in (job.get("wires") or {}).items()
    }
    return {**_told(job, [values[i] for i in job["logits"]]), "wires": wires}


def _engine(job: dict[str, Any]) -> dict[str, Any]:
    env = environment(job)
    settings = dict(job["settings"])
    settings["sizes"] = {"S": job["tokens"], "blocks": -(-job["tokens"] // 128)}
    settings["seed"] = job["seed"]
    settings["device"] = device_of(job)
    operators = Operators(env, settings, dtype_of(job))
    operators.schedule = job.get("schedule", [])
    library = _library(job, operators)
    operators.library = library
    before = set(sys.modules)
    library.install()
    original, version = torch.argmax, importlib.metadata.version
    metadata: Any = importlib.metadata
    metadata.version = lambda name: _version(library, version, name)
    record_argmax(operators)
    try:
        if not job.get("record"):
            return _results(job, operators, _stages(job, operators))
        if job.get("real"):
            every = places(job["trees"])
        else:
            every = {path: path for tree in job["trees"] for path in tree["files"]}
        with Recorder(every, job.get("wanted"), job["tokens"]) as recorder:
            space = _stages(job, operators)
        return {**_results(job, operators, space), "lines": recorder.lines}
    finally:
        torch.argmax, metadata.version = original, version
        sys.meta_path = [f for f in sys.meta_path if getattr(f, "library", None) is not library]
        for name in set(sys.modules) - before:
            if library.owns(name):
                del sys.modules[name]


def _library(job: dict[str, Any], operators: Operators) -> Library | Installed:
    """Where imports of the stages lead: the installed package, or the files of the job."""
    if job.get("real"):
        return Installed(job["real"]["stand_ins"])
    trees = [MemoryTree(t["label"], t["roots"], t["files"]) for t in job["trees"]]
    summaries = Stubs([_summary(said) for said in job["summaries"]])
    return Library(
        ParsedWorkspace(list(trees)),
        summaries,
        operators,
        set(job["eager"]),
        frozenset(job.get("unrunnable", ())),
    )


def _version(library: Library | Installed, version: Any, name: str) -> str:
    """A distribution's version; that of a tree which is not installed is of no account."""
    try:
        return str(version(name))
    except importlib.metadata.PackageNotFoundError:
        if not library.owns(name):
            raise
        return "0"


def _stages(job: dict[str, Any], operators: Operators) -> dict[str, Any]:
    library = operators.library
    space: dict[str, Any] = {"__name__": "<stages>"}
    if isinstance(library, Library):
        space = Globals(library, "<stages>", None)
    space.update(
        op=operators,
        draft_config=job["config"],
        target_config=job.get("target_config") or {},
        launch=job.get("launch") or {},
        TOKENS=job["tokens"],
        STEPS=job["steps"],
        retrained=job["retrained"],
        checkpoint={
            renamed: operators.made(name, tuple(shape))
            if kind == "float"
            else _offsets(tuple(shape))
            for renamed, (name, shape, kind) in job["checkpoint"].items()
        },
    )
    with torch.no_grad():
        for stage in job["stages"]:
            exec(compile(stage["python"], f"<{stage['name']}>", "exec"), space)
    return space


def _offsets(shape: tuple[int, ...]) -> Any:
    """Whole numbers of a checkpoint: no two neighbours alike, so that a shift by one shows."""
    return (torch.arange(math.prod(shape)) ** 2 % 7).reshape(shape)


def _plain(value: Any) -> Any:
    """What JSON can say of a value that is a tensor, as a rule."""
    return value.tolist() if isinstance(value, torch.Tensor) else value and str(value)


def _results(job: dict[str, Any], operators: Operators, space: dict[str, Any]) -> dict[str, Any]:
    model = space["model"]
    tokens = job["tokens"]
    logits = [t.reshape(tokens, -1) for t in space["logits"]]
    feedback = [t.reshape(tokens, -1) for t in space.get("feedback") or []]
    initial = [
        path
        for path, p in model.named_parameters()
        if p.is_floating_point() and p.device.type != "meta" and p.isnan().any()
    ]
    saved = {}
    if job["role"] == "trainer":
        saved = {name: [list(v.shape), str(v.dtype)] for name, v in space["checkpoint"].items()}
    told = _told(job, logits)
    feedback = feedback if "logits" in told else []
    return {
        **told,
        "feedback": [t.tolist() for t in feedback],
        "initial": initial,
        "vocabulary map": _plain(space.get("vocabulary_map")),
        "summaries": sorted(operators.library.used) if operators.library else [],
        "stand_ins": sorted(getattr(operators.library, "touched", ())),
        "checkpoint": saved,
    }


def _summary(said: dict[str, Any]) -> Summary:
    """A summary as it was sent: JSON has no tuples."""
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in said.items()}
    return Summary(**fields)
