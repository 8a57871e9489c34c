"""A report with one of everything, for the tests of the formats."""

from __future__ import annotations

from checker.contract.model import Clause, Contract, Severity, Switch
from checker.location import Location
from checker.report.model import (
    NOT_A_BOUNDARY,
    NOT_IMPLEMENTED,
    Capture,
    ClauseResult,
    ConfigRead,
    Facts,
    Raised,
    Report,
    Side,
    SideFacts,
    SideValue,
    Status,
)

TRAIN = Side("trainer", "trainer==1.0", "1.0", "aa", "trainer/core.py:Draft", {"base": "5.0"})
SERVE = Side("server", "server==2.0", "2.0", "bb", "server/draft.py:Draft")
TRAIN_LINE = Location("trainer==1.0", "trainer/core.py", 12, 9)
SERVE_LINE = Location("server==2.0", "server/draft.py", 40, 13)
BASE_LINE = Location("base==5.0", "base/llama.py", 3, 1)


def clause(name: str, *, implemented: bool = True, severity: str = "error") -> Clause:
    return Clause(
        id=name, title=f"title of {name}", statement=f"{name} is the same", why="because",
        effect=f"{name} shows in serving", remedy=f"mend {name}", severity=Severity(severity),
        implemented=implemented, owns=(), facts=(), references=("https://example.org/1",),
    )  # fmt: skip


CONTRACT = Contract(
    algorithm="sample",
    clauses={
        item.id: item
        for item in (
            clause("first"), clause("fourth"), clause("later", implemented=False),
            clause("second"), clause("third"),
        )
    },
    switches={
        "flag": Switch("flag", "boolean", False, "turns it", ("first",), {"trainer": ("flag",)})
    },
    wires={},
)  # fmt: skip

VIOLATED = ClauseResult(
    "first", Status.VIOLATED, Severity.ERROR, "one is normed, the other is not", "mend first",
    ("flag == true", "layers == 1"), train=SideValue("rms_norm(w, x)", (TRAIN_LINE, BASE_LINE)),
    serve=SideValue("x", (SERVE_LINE,)),
)  # fmt: skip
RAISING = ClauseResult(
    "fourth", Status.VIOLATED, Severity.ERROR, "the server raises", "mend fourth",
    error=Raised("KeyError", "'x'", SERVE_LINE),
)  # fmt: skip
UNPROVEN = ClauseResult(
    "second", Status.UNPROVEN, Severity.ERROR, reason="a call could not be followed",
    serve=SideValue(None, (SERVE_LINE,)),
)  # fmt: skip
HOLDS = ClauseResult("third", Status.HOLDS, Severity.ERROR)
LATER = ClauseResult("later", Status.UNPROVEN, Severity.ERROR, reason=NOT_IMPLEMENTED)
NOT_APPLICABLE = ClauseResult("fourth", Status.NOT_APPLICABLE, Severity.INFO, reason="raises")


def report(*clauses: ClauseResult) -> Report:
    capture = Capture((2, 16), (2, NOT_A_BOUNDARY, None), None, (2,), Raised("E", "m", None))
    return Report(
        train=TRAIN,
        serve=SERVE,
        clauses=clauses,
        assumptions=("tensor parallelism is 1",),
        configuration={"flag": True, "ids": [2, 16]},
        facts=Facts(
            serve=SideFacts(
                capture=capture,
                config_reads=(
                    ConfigRead("b", "None", SERVE_LINE),
                    ConfigRead("a", None, SERVE_LINE),
                ),
                weights={"w": "p", "v": None},
            )
        ),
        excerpts={
            TRAIN_LINE: "    residual = self.norm(hidden)\n",
            SERVE_LINE: "\tresidual = hidden  # \x1b[31m",
        },
    )
