"""What to do about a finding, where more can be said than the contract says of every one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.judging import wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.judging.judge import Case

_PARTS = "#"
"""Between a parameter that several tensors are put into and the number of one of them."""


def of_lost_tensors(case: Case, dropped: Sequence[str], initial: Sequence[str]) -> str:
    """For tensors that reach no parameter, and parameters that none reaches."""
    renames = _renames(case)
    if renames:
        said = " ".join(f"--rename {old}={new}" for old, new in renames)
        return f"Convert the names (`{said}`), or use a release that knows the saved ones."
    if initial and not dropped:
        return (
            "Training has no tensor for what keeps its initial value: train with it, save one that"
            " changes nothing (zeros for a bias), or serve with a release or a configuration that"
            " builds none."
        )
    if dropped and not initial:
        return (
            "Every parameter that is used has a tensor, so other names do not help: let the served"
            " configuration build what was trained, use a release that builds it, or train without."
        )
    return ""


def _renames(case: Case) -> list[tuple[str, str]]:
    """Prefixes of names to convert, from which trained tensor each empty parameter stands for."""
    if case.comparison is None:
        return []
    refused = set(case.serve.refused or ())
    found = set()
    for mine, tensor in case.comparison.pairs:
        path = str(mine.attr("name")).removeprefix("unloaded:")
        name = str(tensor.attr("name"))
        if _PARTS in path or name in refused:
            continue
        old, new = name.split("."), _as_saved(case, path).split(".")
        while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
            old.pop()
            new.pop()
        if old != new:
            found.add((".".join(old), ".".join(new)))
    return sorted(found)


def _as_saved(case: Case, path: str) -> str:
    """A parameter's path without what the loader puts before every name."""
    for name, reached in case.serve.weights.items():
        if reached is not None and reached != name and reached.endswith("." + name):
            return path.removeprefix(reached[: -len(name)])
    return path


def of_boundaries(case: Case) -> str:
    """For boundaries that are not those of training: ids to write, or that none help."""
    found = case.serve.captured
    if case.serve.asking is not None:
        ids = ", ".join(str(number) for number in case.serve.asking)
        return f"Write the layer ids [{ids}] in the served configuration{_where(case)}."
    if not case.serve.unreachable or found is None:
        return ""
    if found.setter is None:
        return (
            f"No ids help: {found.target} hands over no states of its layers in this release. Use"
            " one whose class for this target does, or another target."
        )
    return (
        f"No ids make {found.target} hand over what was trained on in this release: train on other"
        " boundaries, or use a release that hands them over."
    )


def _where(case: Case) -> str:
    """The key under which the server looks for layer ids."""
    key = _key(case, "layer-ids")
    return f" as `{key}`" if key else ""


def of_more_layers(case: Case) -> str:
    """For a server that runs more layers than were trained."""
    key = _key(case, "layers")
    return (
        f"State the trained number of layers in the served configuration (`{key}`)." if key else ""
    )


def _key(case: Case, role: str) -> str | None:
    """Where the server looks first for what is stated in a role."""
    engine, switch = case.serve.engine, case.contract.switches.get(case.contract.roles[role])
    if switch is None:
        return None
    return engine.draft_config.spellings.get(switch.name) or wording.spelled(switch, engine)[0]
