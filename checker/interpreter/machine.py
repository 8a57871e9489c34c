"""The state of one interpretation.

Frames, budgets, decisions, modules, the record of configuration reads.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from checker.graph.builder import Builder
from checker.interpreter.conditions import Beliefs
from checker.interpreter.hosting import PASSING
from checker.interpreter.values import (
    ClassValue,
    Function,
    Instance,
    ModuleValue,
    Raised,
    Scope,
    Stuck,
    Unknown,
    Value,
)
from checker.location import Location

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from checker.graph.terms import Pool, Term
    from checker.interpreter.accounts import Account
    from checker.interpreter.journal import Journal
    from checker.interpreter.looping import Loop
    from checker.interpreter.outline import Outline
    from checker.interpreter.results import Results
    from checker.interpreter.settled import Definitions
    from checker.interpreter.slicing import Slice
    from checker.interpreter.stubs import Stubs
    from checker.interpreter.watching import Watch
    from checker.syntax import Workspace


_OFTEN = 1023
OUT_OF_TIME: list[str] = []
"""Sides that a limit of time has ended: what came of them is not the same every time."""
ENDLESS = "the checked code takes too many steps (an endless loop?)"
_EVERYDAY = frozenset(("AttributeError", "KeyError", "StopIteration", "IndexError"))
"""Exceptions that checked code raises to itself all the time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an interpretation may cost. Exceeding one ends in an honest `Stuck`, never in a hang."""

    steps: int = 3_000_000
    depth: int = 90
    forks: int = 24
    elements: int = 200_000
    digits: int = 10_000
    seconds: float = 20.0


@dataclass(slots=True, eq=False)
class Frame:
    """One activation. `node` is what is being evaluated, for locations.

    `top_level` is the statement of the module being run, in frames of the module's own level: names
    it uses have the values that statements above it gave them. `lenient` frames go on after a
    statement that cannot be followed (see `checker.interpreter.outline`).
    """

    scope: Scope
    module: ModuleValue
    name: str
    node: ast.AST | None = None
    owner: ClassValue | None = None
    first_argument: Value = None
    top_level: ast.stmt | None = None
    handling: list[Raised] = field(default_factory=list)
    guard_keys: tuple[str, ...] = ()
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class ConfigRead:
    """One read of a configuration key.

    `place` is the dotted place of the object it was read from ("" = top).
    """

    place: str
    key: str
    found: bool
    default: Any
    location: Location | None


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition that neither configuration nor shapes decide."""

    location: Location | None
    text: str


class Machine:
    """Runs checked code over abstract values.

    Args:
        workspace: the trees in which modules are found.
        pool: the pool the graph's terms are made in (shared by the two sides of a comparison).
        stubs: operator summaries.
        settings: deployment facts that summaries may ask for (``setting("tp")``).
        script: answers to undecided conditions, in order; further ones are answered True and
            recorded.
        engine: label of the tree whose lines are preferred as origins.
        settled: definitions that runs over the same workspace share; another run begins.
    """

    account: Account | None = None
    """The evaluation of a definition that is going on, where it is noted what that looks at."""
    journal: Journal | None = None
    """What the run changes, where conditions are merged."""
    widened: dict[Term, None] | None = None
    """Weights that were taken as wide as what they were given; None where a misfit raises."""
    asked = 0
    """How often something was done that may come out otherwise in another run."""

    def __init__(
        self,
        workspace: Workspace,
        pool: Pool,
        stubs: Stubs,
        *,
        settings: dict[str, Any] | None = None,
        script: tuple[bool, ...] = (),
        engine: str = "",
        limits: Limits = Limits(),
        settled: Definitions | None = None,
    ) -> None:
        from checker.interpreter import builtin_functions

        self.workspace = workspace
        self.pool = pool
        self.builder = Builder(pool)
        self.stubs = stubs
        self.settings = settings or {}
        self.script = script
        self.decisions: list[Decision] = []
        self.engine = engine
        self.limits = limits
        self.most_steps = limits.steps
        self.frames: list[Frame] = []
        self.modules: dict[str, ModuleValue] = {}
        self.running: list[tuple[ModuleValue, ast.stmt]] = []
        self.stub_values: dict[int, Value] = {}
        self.reads: list[ConfigRead] = []
        self.config_quiet = 0
        self.grad_disabled = 0
        self.grad_used: set[str] = set()
        self.shared: dict[Any, Any] = {}
        self.assumptions: dict[str, None] = {}
        self.pins: dict[str, None] = {}
        self.doubts: dict[str, Location | None] = {}
        self.eager_packages: set[str] = set()
        self.debug = bool(os.environ.get("EAGLE3_CHECK_DEBUG"))
        self.answers: dict[tuple[str, Location | None], bool] = {}
        self.beliefs = Beliefs()
        self.aliases: dict[Term, Term] = {}
        self.ranges: dict[Term, Any] = {}
        self.counts: dict[Term, Any] = {}
        self.yielding: dict[ast.AST, bool] = {}
        self.keys: dict[ClassValue, list[Instance]] = {}
        self.hooks: dict[tuple[ClassValue, str], Function | None] = {}
        self.kept: dict[int, Value] = {}
        self.lost: dict[int, tuple[Value, Unknown]] = {}
        self.trying = 0
        self.attempting = 0
        self.outline: Outline | None = None
        self.loop: Loop | None = None
        self.watch: Watch | None = None
        self.slice: Slice | None = None
        self.steps = 0
        self.looked = 0
        self.late = False
        self.began = time.monotonic()
        self.deadline = time.process_time() + limits.seconds
        self.results: Results | None = None
        self.item_done: Callable[[Machine, Frame, Value], None] | None = None
        self.settled = settled
        self.builtins = (
            builtin_functions.build(self)
            if settled is None
            else settled.begin(lambda: builtin_functions.build(self))
        )

    # -- what runs share --------------------------------------------------------------------------

    def changes(self, value: Value) -> None:
        """An object or a container is about to be changed."""
        if self.settled is not None:
            self.settled.changes(self, value)
        if self.journal is not None:
            if self.journal.saved is not None and type(value) is Instance and self.outline:
                self.outline.ensure(self, value)  # what is put back is what was built
            self.journal.changes(value)

    def touches(self, value: Any) -> None:
        """Something that no two runs share is about to be changed."""
        if self.journal is not None:
            self.journal.changes(value)

    # -- places ---------------------------------------------------------------------------------

    def location(self) -> Location | None:
        """Where we are.

        The innermost frame in the engine's own tree, else the innermost with a file.
        """
        fallback: Location | None = None
        for frame in reversed(self.frames):
            file = frame.module.file
            node = frame.node
            if file is None or frame.module.is_stub or node is None or not hasattr(node, "lineno"):
                continue
            here = Location(file.tree.label, file.path, node.lineno, max(node.col_offset, 0) + 1)  # type: ignore[attr-defined]
            if file.tree.label == self.engine:
                return here
            fallback = fallback or here
        return fallback

    def mark(self) -> None:
        """Makes the current place the origin of the terms that are built next."""
        self.builder.here = self.location()

    def trail(self) -> tuple[str, ...]:
        """The open frames, innermost last: for debugging."""
        return tuple(
            f"{f.module.name}:{getattr(f.node, 'lineno', '?')} in {f.name}" for f in self.frames
        )

    def unknown(self, reason: str, *, harmless: bool = False) -> Unknown:
        """A value that is not known.

        Unless it is harmless, the checked program might have raised where it was made: that is a
        doubt, even when the value goes nowhere.
        """
        place = self.location()
        if not harmless:
            self.doubts.setdefault(reason, place)
        return Unknown(reason, place)

    def stuck(self, reason: str) -> Stuck:
        return Stuck(reason, self.location())

    # -- exceptions of the checked program -------------------------------------------------------

    def exception(self, name: str, *args: Value) -> Raised:
        """A builtin exception raised by the checked program at the current place."""
        self.asked += 1
        if self.watch is not None and args:
            self.watch.says(args[0])
        cls = self.builtins.get(name) or self.builtins["Exception"]
        instance = Instance(cls, {"args": args})
        keys = self.frames[-1].guard_keys if self.frames else ()
        raised = Raised(instance, self.location(), keys)
        raised.trail = self.trail() if self.debug else ()
        raised.parameters = self.parameters_at_hand() if name not in _EVERYDAY else ()
        return raised

    def parameters_at_hand(self) -> tuple[str, ...]:
        """Parameters and checkpoint tensors that the innermost frames hold.

        What a failing load was about.
        """
        from checker.interpreter.tensors import Tensor

        found: dict[str, None] = {}
        for frame in self.frames[-3:]:
            for value in frame.scope.names.values():
                if not isinstance(value, Tensor):
                    continue
                path = value.extra.get("path")
                term = value.term(self)
                if isinstance(path, str):
                    found[path] = None
                elif term.op == "param":
                    found[str(term.attr("name"))] = None
        return tuple(found)

    # -- budget ---------------------------------------------------------------------------------

    def tick(self) -> None:
        """Counts a step; every so often the budget is looked at."""
        self.steps += 1
        if not self.steps & _OFTEN:
            self.check_budget()

    def check_budget(self) -> None:
        """Ends what takes too long.

        Processor time is slow to ask for: that is done once in a while, and not before as much time
        went by on the wall.
        """
        if not self.late and self.steps - self.looked >= _OFTEN // 2:
            self.looked = self.steps
            elapsed = time.monotonic() - self.began
            self.late = elapsed > self.limits.seconds and time.process_time() > self.deadline
        if self.late:
            OUT_OF_TIME.append(self.engine)
        if self.is_over():
            raise self.stuck(ENDLESS)

    def is_over(self) -> bool:
        """Whether more was done than may be."""
        return self.late or self.steps > self.most_steps

    def check_size(self, count: Any) -> None:
        """Refuses sequences that are too long."""
        if isinstance(count, int) and count > self.limits.elements:
            length = f"{count} elements" if count < 10**12 else "very many elements"
            raise self.stuck(f"a sequence of {length} is too large to be interpreted")

    def look(self, container: Value) -> None:
        """Refuses to look into a container that an undescribed function may have changed."""
        if self.lost and id(container) in self.lost:
            reason = self.lost[id(container)][1].reason
            raise self.stuck(f"a {type(container).__name__} may have been changed: {reason}")

    def identity(self, value: Value) -> int:
        """`id(value)`.

        What was asked for is kept alive, so that no other object gets its number.
        """
        if self.outline is not None and isinstance(value, Instance):
            self.outline.recognise(self, value)
        self.kept[id(value)] = value
        return id(value)

    # -- decisions ------------------------------------------------------------------------------

    def decide(self, text: str, place: Location | None = None) -> bool:
        """Answers a condition nothing decides.

        From the script, else True; both answers get explored. `place` is where what is asked about
        was met first, if that tells it from others.
        """
        self.asked += 1
        if self.outline is not None:
            if self.outline.building:
                raise self.stuck(f"a condition that nothing decides: {text}")
            text = f"fact: {text.partition(': ')[2] or text}"
        if self.watch is not None:
            self.watch.says(text)
        key = text, place
        if key in self.answers:
            return self.answers[key]
        if self.attempting:  # what comes of it is looked at, or left; nothing is concluded from it
            raise self.stuck(text)
        index = len(self.decisions)
        if index >= self.limits.forks:
            raise self.stuck(
                f"too many conditions that neither configuration nor shapes decide ({text})"
            )
        self.decisions.append(Decision(self.location(), text))
        if self.debug:
            sys.stderr.write(f"undecided: {text} {self.trail()}\n")
        answer = self.script[index] if index < len(self.script) else True
        if "fact: " in text:  # one unknown fact has one value: it is not asked twice
            self.answers[key] = answer
        return answer

    def truth(self, value: Value, text: str = "a condition") -> bool:
        """The truth of a value of the checked program."""
        if value is True or value is False or value is None:
            return bool(value)
        from checker.interpreter.truth import truth

        return truth(self, value, text)

    # -- configuration reads ---------------------------------------------------------------------

    def read(self, place: str, key: str, found: bool, default: Any = None) -> None:
        self.asked += 1
        if self.config_quiet or key.startswith("__"):
            return
        self.reads.append(ConfigRead(place, key, found, default, self.location()))

    def keys_read_since(self, mark: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(read.key for read in self.reads[mark:]))

    # -- modules --------------------------------------------------------------------------------

    def module(self, name: str) -> ModuleValue | None:
        """The module `name` of the trees; a folder without `__init__.py` is an empty package."""
        if name in self.modules:
            return self.modules[name]
        file = self.workspace.find(name)
        if file is None and not self.workspace.is_package(name):
            return None
        shared = self.settled.modules if self.settled is not None else self.modules
        if name in shared and shared[name].file is file:
            self.modules[name] = shared[name]
            return shared[name]
        value = ModuleValue(name, file)
        package = name if file is None or file.is_package else name.rpartition(".")[0]
        value.scope.names.update(__name__=name, __package__=package, __doc__=None)
        self.modules[name] = shared[name] = value
        return value

    def run_in(self, frame: Frame, work: Callable[[], Value]) -> Value:
        """Runs `work` inside a new frame."""
        if len(self.frames) >= self.limits.depth:
            raise self.stuck("calls nest too deeply")
        self.frames.append(frame)
        try:
            return work()
        except PASSING:
            raise
        except (RecursionError, MemoryError):
            raise self.stuck("the checked code nests too deeply") from None
        except Exception as error:
            if self.debug:
                raise
            raise self.stuck(f"an internal error ({type(error).__name__}: {error})") from error
        finally:
            self.frames.pop()
