"""Writes what torch makes of the tensor programs.

`python tests/interpreter/record_tensor_results.py`.

Needs torch; the tests that read the file do not.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "graph"), str(HERE.parents[1])]


def main() -> None:
    import tensor_support
    import torch

    torch.set_default_dtype(torch.float64)
    recorded: dict[str, list[dict[str, object]]] = {}
    for path in sorted(tensor_support.PROGRAMS.glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, function in vars(module).items():
            if name.startswith("case_"):
                given = {k: torch.tensor(v) for k, v in tensor_support.arrays().items()}
                results = function(**given)
                results = results if isinstance(results, tuple) else (results,)
                recorded[f"{path.stem}.{name}"] = [
                    {
                        "kind": {"f": "float", "i": "int", "b": "bool"}[r.numpy().dtype.kind],
                        "shape": list(r.shape),
                        "values": [round(float(x), 9) for x in r.reshape(-1).tolist()],
                    }
                    for r in results
                ]
    lines = [f"{json.dumps(name)}: {json.dumps(results)}" for name, results in recorded.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    tensor_support.RESULTS.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
