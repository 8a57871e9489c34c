"""What a user asks for, as typed values: the command line on one side, the stages on the other.

In every request `contracts` are the contract files that the user adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.configs import ConfigFile
    from checker.contract.added import Added
    from checker.stored.folder import Checkpoint


FORMATS = ("text", "json", "sarif", "junit", "github", "markdown", "html")
"""The formats that ``verify`` writes."""
DRAWN = frozenset({"html"})
"""Those that show the graphs themselves."""


@dataclass(frozen=True, slots=True)
class Target:
    """The target model: a configuration file, or the name of its class and its number of layers.

    With a class name the configuration is open: every key it does not state is a symbol.
    """

    config: ConfigFile | None = None
    architecture: str | None = None
    layers: int | None = None

    @property
    def name(self) -> str:
        """What a table calls it: the file, or the class with its layers as they were given."""
        if self.config is not None:
            return str(self.config.path)
        return f"{self.architecture}:{self.layers}" if self.layers else str(self.architecture)


@dataclass(frozen=True, slots=True)
class Rename:
    """What a conversion script did to tensor names before serving: this prefix became that one."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Pin:
    """A release to read a dependency from, in place of the one that is resolved."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Waiver:
    """A finding that does not count, for a reason and for a time.

    `fingerprint` is that of the finding. It ends after the day `expires` (ISO 8601), and with the
    release that `until` names, as in ``NAME>=1.2``. `place` is where it stands.
    """

    clause: str
    fingerprint: str
    reason: str
    owner: str = ""
    expires: str | None = None
    until: str | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The findings that were there already: a file, what is in it, and its digest."""

    path: str
    known: tuple[Waiver, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Access:
    """How sources are come by."""

    offline: bool = False
    use_cache: bool = True
    progress: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """Everything ``verify`` needs to know.

    `train` and `serve` are source specs. `draft` are the tensors in the folder that training saved,
    `serve_draft` those of the copy that is served, where it is another one. `launch` is a launch
    line, `launch_folder` where the file lies that holds it: files that it names are looked for
    there, where there is none from here. `notes` are assumptions to be stated in the report beside
    those that `verify` itself makes. With `witness` the real code
    of both sides is run on small numbers too, by the interpreter `python` (this one when it is
    None), or with `prepare` by one whose environment is made for it. `max_unproven` clauses may be
    unproven without changing the exit status; `strict`: where drafts are explored, all of them
    count. `draw`: the report gets the graphs of both sides. `waivers` and `baseline` name findings
    that do not count.
    """

    train: str
    serve: str
    train_config: ConfigFile | None = None
    serve_config: ConfigFile | None = None
    target: Target | None = None
    launch: str | None = None
    launch_folder: str = ""
    renames: tuple[Rename, ...] = ()
    train_with: tuple[Pin, ...] = ()
    serve_with: tuple[Pin, ...] = ()
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    access: Access = Access()
    contracts: tuple[Added, ...] = ()
    notes: tuple[str, ...] = ()
    witness: bool = False
    python: str | None = None
    prepare: bool = False
    strict: bool = False
    draft: Checkpoint | None = None
    serve_draft: Checkpoint | None = None
    max_unproven: int = 0
    draw: bool = False
    waivers: tuple[Waiver, ...] = ()
    baseline: Baseline | None = None


@dataclass(frozen=True, slots=True)
class DiffRequest:
    """Everything ``diff`` needs to know: two releases of one engine.

    `check` is what both are checked for; its `train` or `serve` is the other side, empty for the
    example's.
    """

    old: str
    new: str
    check: VerifyRequest


@dataclass(frozen=True, slots=True)
class MatrixRequest:
    """Everything ``matrix`` needs to know: trainers and servers, each with each.

    `check` is what every pair is checked for, with each of the `targets` (None: an ordinary one);
    without configurations it is the contract's list. `shard` (i, n) is the i-th of n parts of the
    pairs.
    """

    trainers: tuple[str, ...]
    servers: tuple[str, ...]
    check: VerifyRequest
    shard: tuple[int, int] = (1, 1)
    targets: tuple[Target | None, ...] = (None,)


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """Everything ``trace`` needs to know: one engine, its draft, and where its real code runs.

    On `device` meta, and on cuda, the sizes are those of the configuration; on cpu small ones. With
    `real` the installed package runs, instead of its files over reference layers.
    """

    source: str
    config: ConfigFile | None = None
    target: Target | None = None
    with_: tuple[Pin, ...] = ()
    renames: tuple[Rename, ...] = ()
    access: Access = Access()
    contracts: tuple[Added, ...] = ()
    python: str | None = None
    prepare: bool = False
    real: bool = False
    device: str = "auto"
    values: bool = False


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """Everything ``capture`` needs to know.

    `target` is an architecture, or None for all; `config` what is known of its configuration;
    `tensor_parallel` how many ranks share each tensor.
    """

    source: str
    layers: int
    target: str | None = None
    ids: tuple[int, ...] | None = None
    config: ConfigFile | None = None
    with_: tuple[Pin, ...] = ()
    access: Access = Access()
    contracts: tuple[Added, ...] = ()
    tensor_parallel: int = 1


@dataclass(frozen=True, slots=True)
class ExtractRequest:
    """Everything ``extract`` needs to know: one engine, and what its draft is built from."""

    source: str
    config: ConfigFile | None = None
    target: Target | None = None
    with_: tuple[Pin, ...] = ()
    access: Access = Access()
    contracts: tuple[Added, ...] = ()
