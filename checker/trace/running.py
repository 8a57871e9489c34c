"""One job: the stages of an engine on real tensors, or an extracted graph."""

from __future__ import annotations

import math
import sys
from typing import Any

import torch

from checker.interpreter.stubs import Stubs, Summary
from checker.trace import execute
from checker.trace.exact import make_exact
from checker.trace.lazy import Globals, Library, NoVerdict
from checker.trace.native import Operators, record_argmax
from checker.trace.parsed import ParsedWorkspace

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
        env[name] = torch.randn((tokens, width), generator=generator, dtype=torch.float64)
    ids = torch.randint(1, job["vocabulary"], (tokens + steps,), generator=generator)
    first = ids[:tokens]
    for step in range(steps):
        moved = torch.cat([first[step:], torch.zeros(step, dtype=torch.long)])
        env[f"tokens.{step}"] = moved
    env["positions"] = torch.arange(tokens)
    return env


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Runs one job and gives numbers.

    Raises:
        NoVerdict: the run cannot say anything.
    """
    global _EXACT  # noqa: PLW0603 - one switch a process, and no way back
    if not _EXACT:
        make_exact()
        _EXACT = True
    torch.manual_seed(job["seed"])
    if job["kind"] == "graph":
        return _graph(job)
    return _engine(job)


def _graph(job: dict[str, Any]) -> dict[str, Any]:
    env = environment(job)
    operators = Operators(env, {"seed": job["seed"]}, torch.float64)
    for name, shape in job["parameters"].items():
        if name.startswith("unloaded:"):
            env[name] = torch.full(tuple(shape), math.nan, dtype=torch.float64)
        else:
            env[name] = operators.made(name.removeprefix("target."), tuple(shape))
    try:
        values = execute.run(job["nodes"], env, "cpu", torch.float64)
    except LookupError as error:
        raise NoVerdict(str(error)) from None
    return {"logits": [values[i].tolist() for i in job["logits"]], "wires": {}}


def _engine(job: dict[str, Any]) -> dict[str, Any]:
    env = environment(job)
    settings = dict(job["settings"])
    settings["sizes"] = {"S": job["tokens"], "blocks": -(-job["tokens"] // 128)}
    settings["seed"] = job["seed"]
    operators = Operators(env, settings, torch.float64)
    trees = [MemoryTree(t["label"], t["roots"], t["files"]) for t in job["trees"]]
    summaries = Stubs(
        [
            Summary(**{**s, "match": tuple(s["match"]), "defines": tuple(s["defines"])})
            for s in job["summaries"]
        ]
    )
    library = Library(ParsedWorkspace(list(trees)), summaries, operators, set(job["eager"]))
    operators.library = library
    before = set(sys.modules)
    library.install()
    original = torch.argmax
    record_argmax(operators)
    try:
        space = _stages(job, operators, library)
        return _results(job, operators, space)
    finally:
        torch.argmax = original
        sys.meta_path = [f for f in sys.meta_path if getattr(f, "library", None) is not library]
        for name in set(sys.modules) - before:
            if library.owns(name):
                del sys.modules[name]


def _stages(job: dict[str, Any], operators: Operators, library: Library) -> Globals:
    space = Globals(library, "<stages>", None)
    space.update(
        op=operators,
        draft_config=job["config"],
        target_config=job.get("target_config") or {},
        launch=job.get("launch") or {},
        TOKENS=job["tokens"],
        STEPS=job["steps"],
        target_embedding=job["target_embedding"],
        target_hidden_size=(job.get("target_config") or {}).get("hidden_size"),
        checkpoint={
            renamed: operators.made(name, tuple(shape))
            if kind == "float"
            else torch.zeros(tuple(shape), dtype=torch.long)
            for renamed, (name, shape, kind) in job["checkpoint"].items()
        },
    )
    with torch.no_grad():
        for stage in job["stages"]:
            exec(compile(stage["python"], f"<{stage['name']}>", "exec"), space)
    return space


def _results(job: dict[str, Any], operators: Operators, space: Globals) -> dict[str, Any]:
    model = space["model"]
    tokens = job["tokens"]
    logits = [t.reshape(tokens, -1) for t in space["logits"]]
    feedback = [t.reshape(tokens, -1) for t in space.get("feedback") or []]
    initial = [
        path for path, p in model.named_parameters() if p.is_floating_point() and p.isnan().any()
    ]
    saved = {}
    if job["role"] == "trainer":
        saved = {name: [list(v.shape), str(v.dtype)] for name, v in space["checkpoint"].items()}
    return {
        "logits": [t.tolist() for t in logits],
        "feedback": [t.tolist() for t in feedback],
        "initial": initial,
        "summaries": sorted(operators.library.used) if operators.library else [],
        "checkpoint": saved,
    }
