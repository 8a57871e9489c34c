"""What a draft's folder says: shapes and values that do not fit, and where every tensor went."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from checker.engines.checkpoint import identity
from checker.judging.owners import owner_of_parameter
from checker.report.model import ClauseResult, SideValue, Status
from checker.report.stored import Accounts, ParameterRow, TensorRow
from checker.stored.values import integers

if TYPE_CHECKING:
    import array
    from collections.abc import Collection, Iterable, Mapping

    from checker.contract.model import Clause
    from checker.engines import Extraction
    from checker.engines.description import VocabularyTensors
    from checker.graph.terms import Term
    from checker.judging.judge import Case
    from checker.location import Location
    from checker.stored.header import StoredTensor
    from checker.stored.matching import Misfit, Stored

_BIAS: Final = re.compile(r"\.bias$")


def shapes(case: Case, results: dict[str, ClauseResult]) -> None:
    """A stored tensor of another shape than trained violates the clause that owns its shape."""
    if case.stored is None:
        return
    told: dict[str, list[str]] = {}
    for misfit in case.stored.misfits:
        clause = _owner(case, misfit.name)
        if clause is not None:
            told.setdefault(clause.id, []).append(_sentence(misfit))
    for name, sentences in told.items():
        known = results.get(name)
        if known is None or known.status is not Status.VIOLATED:
            clause = case.contract.clauses[name]
            results[name] = _violated(clause, "; ".join(sentences))


def _sentence(misfit: Misfit) -> str:
    stored, trained = ("[" + ", ".join(map(str, s)) + "]" for s in (misfit.stored, misfit.trained))
    return (
        f"{misfit.name} is {stored} in {misfit.folder}, {trained} under the configuration"
        " it is said to be trained with"
    )


def _owner(case: Case, name: str) -> Clause | None:
    maps = case.train.engine.vocabulary
    if maps is not None and name in (maps.map, maps.mask):
        return case.contract.fact_owner("vocabulary")
    owner = owner_of_parameter(case, name, 0)
    return owner or case.contract.fact_owner("weights")


def doubts(case: Case, needed: Collection[str]) -> dict[str, str]:
    """Trained tensors of which it is not known whether they are served, with the reasons."""
    if case.stored is None:
        return {}
    found: dict[str, str] = {}
    for name in sorted(needed):
        if name in case.stored.coded:
            found[name] = (
                f"{name} is stored as {case.stored.coded[name]}, whose numbers stand for others"
            )
    served = {item.trained for item in case.stored.given}
    open_ = [item for item in case.stored.given if item.doubt is not None]
    for name in sorted(set(needed) - served - set(case.stored.lacking)):
        shape = tuple(case.train.checkpoint[name][0]) if name in case.train.checkpoint else None
        alike = [item.doubt for item in open_ if item.shape == shape and item.doubt is not None]
        if alike:
            found[name] = alike[0]
    return found


def surplus(case: Case) -> list[str]:
    """Tensors that training saved and its configuration has not, though the contract knows them.

    The draft that was trained had them, so the configuration is not the one it was trained with.
    """
    if case.stored is None:
        return []
    unclear = {item.name for item in case.stored.given if item.doubt is not None}
    return sorted(
        name
        for name in (case.stored.draft or case.stored.folder).tensors
        if name not in unclear
        and name not in case.train.checkpoint
        and owner_of_parameter(case, _BIAS.sub(".weight", name), 0) is not None
    )


def dropped_at(case: Case, names: Iterable[str]) -> tuple[Location, ...]:
    """Where the loader came to with tensors that it drops."""
    served = {item.trained: item.name for item in case.stored.given} if case.stored else {}
    places = [case.serve.left_at.get(served.get(name, name)) for name in names]
    return tuple(dict.fromkeys(place for place in places if place is not None))[:2]


# -- values of the vocabulary's maps ---------------------------------------------------------------


def values(case: Case, results: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """The stored map of ids is one: its targets exist, are different, and are those of the mask."""
    clause = case.contract.fact_owner("vocabulary")
    maps = case.train.engine.vocabulary
    if clause is None or maps is None or case.stored is None:
        return None
    known = results.get(clause.id)
    if known is None or known.status is not Status.HOLDS:
        return None
    for folder in (case.stored.draft, case.stored.serve):
        if folder is None:
            continue
        served = {i.trained: i.name for i in case.stored.given if i.trained is not None}
        renamed = served if folder is case.stored.serve else {}
        name, mask = (renamed.get(n, n) if n else "" for n in (maps.map, maps.mask))
        wrong = _wrong(case, maps, folder.tensors.get(name), folder.tensors.get(mask))
        if wrong is not None:
            return _violated(clause, f"{name} in {folder.path} {wrong}")
    return None


def keeps_ids(case: Case, found: Term) -> bool:
    """Whether the server makes of the stored map that each draft id is its own target id."""
    if case.stored is None:
        return False
    added = [arg for arg in found.args if arg.op == "iota"] if found.op == "add" else []
    parameters = [found] if found.op == "param" else [a for a in found.args if a not in added]
    if len(parameters) != 1 or parameters[0].op != "param" or len(added) != len(found.args[1:]):
        return False
    name = parameters[0].attr("name")
    held = (i for i in case.stored.given if identity(i, case.train.checkpoint) == name)
    tensor = next((item.stored for item in held), None)
    numbers = None if tensor is None else integers(tensor)
    if tensor is None or numbers is None or len(tensor.shape) != 1:
        return False
    return _targets(numbers, bool(added)) == list(range(len(numbers)))


def _wrong(
    case: Case, maps: VocabularyTensors, stored: StoredTensor | None, mask: StoredTensor | None
) -> str | None:
    """What is wrong with a stored map, None where nothing is."""
    if stored is None:
        return None
    numbers = integers(stored)
    if numbers is None:
        return f"is stored as {stored.dtype}, not as integers"
    marks = None if mask is None else integers(mask)
    size = case.train.switches.get(case.contract.roles["vocabulary"])
    top = size if isinstance(size, int) else None
    targets = _targets(numbers, maps.offsets)
    wrong = _mismatch(targets, marks, top)
    if wrong is None:
        return None
    other = _targets(numbers, not maps.offsets)
    if _mismatch(other, marks, top) is None:
        held, meant = ("target ids", "offsets") if maps.offsets else ("offsets", "target ids")
        return f"holds {held}, where training saves {meant}"
    return wrong


def _targets(numbers: array.array[int], offsets: bool) -> list[int]:
    return [n + i for i, n in enumerate(numbers)] if offsets else list(numbers)


def _mismatch(targets: list[int], marks: array.array[int] | None, top: int | None) -> str | None:
    """Why these are no target ids of draft ids."""
    for draft, target in enumerate(targets):
        if target < 0 or (top is not None and target >= top):
            return f"maps draft id {draft} to {target}, which is no id of {top or 'a'} tokens"
    if len(set(targets)) < len(targets):
        seen: dict[int, int] = {}
        for draft, target in enumerate(targets):
            if target in seen:
                return f"maps draft ids {seen[target]} and {draft} both to {target}"
            seen[target] = draft
    if marks is None:
        return None
    marked = {target for target, mark in enumerate(marks) if mark}
    strange = sorted(set(targets) - marked)
    if strange:
        return f"maps draft id {targets.index(strange[0])} to {strange[0]}, which is not marked"
    if len(marked) != len(targets):
        return f"maps {len(targets)} ids where {len(marked)} are marked"
    return None


# -- where everything went -------------------------------------------------------------------------


def accounted(stored: Stored, train: Extraction, serve: Extraction) -> Accounts:
    """Every tensor of the served folder and every parameter of the server."""
    rows = []
    names: dict[str, str] = {}
    for item in stored.given:
        name = identity(item, train.checkpoint)
        names[name] = item.name
        parameter = serve.weights.get(name) if item.doubt is None else None
        place = None if parameter is not None else serve.left_at.get(item.name)
        tensor = item.stored
        rows.append(
            TensorRow(
                item.name,
                tensor.dtype if tensor is not None else "",
                tensor.shape if tensor is not None else (),
                item.trained,
                parameter,
                place or (serve.loader_location if parameter is None else None),
                item.doubt,
            )
        )
    parameters = [
        ParameterRow(path, tuple(dict.fromkeys(names.get(n, n) if n else "?" for n in held)))
        for path, held in sorted(serve.parameters.items())
    ]
    lacking = tuple(sorted(stored.lacking))
    return Accounts(stored.folder.path, tuple(rows), tuple(parameters), lacking)


def _violated(clause: Clause, message: str) -> ClauseResult:
    empty = SideValue()
    return ClauseResult(
        clause.id, Status.VIOLATED, clause.severity, message=message, train=empty, serve=empty
    )
