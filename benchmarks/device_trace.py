"""Full-size drafts on one CUDA device: shapes of all wires, and values beside the extracted graph.

    python benchmarks/device_trace.py --prepare jobs.json     # where the sources can be had
    python benchmarks/device_trace.py --jobs jobs.json --out result.json   # where the device is
    python benchmarks/device_trace.py --out result.json       # both at once

The second step needs this checkout and an interpreter with torch and the packages that the checked
code imports besides the engines themselves (an environment in which `verify --witness` runs will
do; no server has to be installed): what was read of the sources, the stages and the extracted
graphs come with the jobs. Per side (the trainer's draft and the server's, for a target like Llama
8B) the real code runs in float32 and in bfloat16; the shapes that come out of each wire's line are
compared with those that were read, and the logits of both steps with those of the extracted graph
run in the same type on the same numbers.

Exit status: 0 all as read, 1 something is not, 3 there is no device (or no memory on it).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

SIDES = ("speculators==0.9.0", "sglang==0.5.23")
TYPES = ("float32", "bfloat16")
CLOSE = {"float32": 1e-4, "bfloat16": 0.1}
"""Relative to the largest logit: sums are taken in another order, in bfloat16 with three digits."""


def prepare() -> list[dict[str, Any]]:
    """Everything that a run needs, for both sides and both types."""
    from dataclasses import replace

    from benchmarks.drafts import PLAIN
    from checker.contract.loading import load_contract
    from checker.engines import Inputs, extract_side, load_engines, load_operators
    from checker.extract import role_of
    from checker.graph.dims import evaluate
    from checker.graph.terms import Pool
    from checker.pairing import allow_deep_recursion, open_side
    from checker.request import Access
    from checker.trace.jobs import TOKENS, engine_job, graph_job
    from checker.trace.rows import Statements
    from checker.tracing import as_trained, stated_switches, wires_of
    from checker.witness import setup_for

    allow_deep_recursion()
    contract, engines, found = load_contract(), load_engines(), []
    for spec in SIDES:
        role = role_of(engines, spec)
        opened = open_side(engines, role, spec, (), Access())
        subject, pool = opened.subject(load_operators()), Pool()
        config = PLAIN.train if role == "trainer" else PLAIN.serve
        switches = stated_switches(contract, subject.engine, config, PLAIN.target)
        inputs = Inputs(config, PLAIN.target)
        if role == "server":
            inputs = replace(inputs, checkpoint=as_trained(contract, switches))
        extraction = extract_side(subject, pool, inputs)
        if extraction.failure is not None:
            sys.exit(f"{spec}: {extraction.failure.message}")
        statements, wires = Statements(opened.trees), []
        for wire, term in wires_of(contract, extraction, switches, pool).items():
            places = extraction.origins.get(term, ()) if term is not None else ()
            if term is None or term.op == "input":
                continue
            shape = [evaluate(d, {"S": TOKENS}) for d in term.shape]
            spans = [[p.path, *statements.lines(p)] for p in places]
            wires.append({"wire": str(wire), "shape": shape, "spans": spans})
        setup = replace(
            setup_for(extraction),
            steps=len(extraction.logits),
            device="cuda",
            exact=False,
            record=True,
        )
        for dtype in TYPES:
            typed = replace(setup, dtype=dtype)
            found.append(
                {
                    "side": spec,
                    "dtype": dtype,
                    "engine": engine_job(subject, opened.trees, inputs, typed),
                    "graph": graph_job(extraction, typed),
                    "wires": wires,
                }
            )
    return found


def run(jobs: list[dict[str, Any]], device: str) -> dict[str, Any]:
    """Runs all jobs on one device, one after the other."""
    import torch

    from checker.trace.running import run_job

    sides = []
    for job in jobs:
        started = time.perf_counter()
        about = {"device": device, "numbers": False}
        engine = run_job({**job["engine"], **about, "keep": "engine"})
        graph = run_job({**job["graph"], **about, "against": "engine"})
        relative = [
            difference / size
            for difference, size in zip(graph["differences"], graph["sizes"], strict=True)
        ]
        wires = [_seen(wire, engine["lines"]) for wire in job["wires"]]
        sides.append(
            {
                "side": job["side"],
                "dtype": job["dtype"],
                "seconds": round(time.perf_counter() - started, 3),
                "largest relative difference of each step": relative,
                "close": all(r <= CLOSE[job["dtype"]] for r in relative),
                "never loaded": engine["initial"],
                "wires": wires,
                "wires seen": sum(w["same"] is not None for w in wires),
                "wires not as read": [w["wire"] for w in wires if w["same"] is False],
            }
        )
        if device == "cuda":
            torch.cuda.empty_cache()
    name = torch.cuda.get_device_name(0) if device == "cuda" else device
    agrees = all(s["close"] and not s["wires not as read"] and not s["never loaded"] for s in sides)
    return {"device": name, "torch": torch.__version__, "agrees": agrees, "runs": sides}


def _seen(wire: dict[str, Any], lines: dict[str, dict[int, list[list[Any]]]]) -> dict[str, Any]:
    """A wire's shape as read and as run."""
    from checker.trace.shapes import part_of, same_shape

    results: list[Any] = []
    for path, start, stop in wire["spans"]:
        noted = lines.get(path, {})
        results = [entry for n in range(start, stop + 1) for entry in noted.get(n, ())]
        if results:
            break
    read = wire["shape"]
    fitting = [entry["shape"] for entry in results if same_shape(read, entry["shape"], 0)]
    if fitting:
        return {"wire": wire["wire"], "read": read, "run": fitting[-1], "same": True}
    wider = any(part_of(read, entry["shape"], 0) for entry in results)
    same = None if wider or not results else False
    return {
        "wire": wire["wire"],
        "read": read,
        "run": results[-1]["shape"] if results else None,
        "same": same,
    }


def main() -> int:
    """Prepares, runs or both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prepare", metavar="FILE", help="write the jobs here and run nothing")
    parser.add_argument("--jobs", metavar="FILE", help="jobs that were prepared")
    parser.add_argument("--out", metavar="FILE", default="device_trace.json")
    parser.add_argument("--device", default="cuda", help="cpu: the same run, slowly")
    given = parser.parse_args()
    sys.setrecursionlimit(12_000)
    if given.prepare:
        Path(given.prepare).write_text(json.dumps(prepare()))
        print(f"{given.prepare}: jobs for {', '.join(SIDES)}")
        return 0
    try:
        import torch
    except ImportError:
        print("device_trace: torch is not installed here (pip install torch)")
        return 3
    if given.device == "cuda" and not torch.cuda.is_available():
        print(
            "device_trace: no CUDA device here; prepare jobs here and run them where there is one"
        )
        return 3
    jobs = json.loads(Path(given.jobs).read_text()) if given.jobs else prepare()
    started = time.perf_counter()
    try:
        result = run(jobs, given.device)
    except torch.OutOfMemoryError:
        print("device_trace: out of memory: it takes about 16 GB of device memory")
        return 3
    except Exception as error:  # noqa: BLE001 - whatever checked code raises, said in one line
        print(f"device_trace: no verdict: {type(error).__name__}: {error}")
        return 3
    result["seconds"] = round(time.perf_counter() - started, 1)
    Path(given.out).write_text(json.dumps(result, indent=1) + "\n")
    for side in result["runs"]:
        relative = max(side["largest relative difference of each step"])
        print(
            f"{side['side']} {side['dtype']}: {side['wires seen']} of {len(side['wires'])} wires"
            f" seen, {len(side['wires not as read'])} not as read; graph and run"
            f" differ by {relative:.2g} of the largest logit; {side['seconds']} s"
        )
    print(
        f"{'agree' if result['agrees'] else 'differ'} on {result['device']}, {result['seconds']} s"
    )
    return 0 if result["agrees"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
