"""Which stored tensor is which trained one: by name, after renames, or by the very same bytes.

Nothing is guessed. Where it cannot be told which tensor one is, that is said, and whatever rests on
it is unproven.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.stored.values import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from checker.stored.folder import Checkpoint
    from checker.stored.header import StoredTensor


@dataclass(frozen=True, slots=True)
class Given:
    """A tensor that the server's loader is given, under the name it has there.

    `trained` is its name in training, None where training has no such tensor; `doubt` says why it
    is not known which one it is. `stored` is None where no served folder was looked into.
    """

    name: str
    trained: str | None
    shape: tuple[Any, ...]
    kind: str
    doubt: str | None = None
    stored: StoredTensor | None = None


@dataclass(frozen=True, slots=True)
class Misfit:
    """A stored tensor of another shape than training gives it."""

    name: str
    folder: str
    stored: tuple[int, ...]
    trained: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """What lies in the given folders, against what training saves.

    `given` is what the server loads. `lacking` are the tensors that training saves and a folder has
    not, by the folder; `misfits` have another shape than trained; `coded` are floating-point
    tensors whose stored values stand for others (quantised ones), with their dtype.
    """

    draft: Checkpoint | None
    serve: Checkpoint | None
    given: tuple[Given, ...]
    lacking: Mapping[str, str]
    misfits: tuple[Misfit, ...]
    coded: Mapping[str, str]

    @property
    def folder(self) -> Checkpoint:
        """The folder that is served."""
        found = self.serve or self.draft
        assert found is not None  # noqa: S101 - there is no value without a folder
        return found

    def assumptions(self) -> list[str]:
        """What was taken for granted about the folders."""
        said = [
            f"{folder.path} holds pickled files as well, which no one reads: {folder.pickled[0]}"
            + (", …" if len(folder.pickled) > 1 else "")
            for folder in (self.draft, self.serve)
            if folder is not None and folder.pickled
        ]
        if self.draft is not None and self.serve is not None:
            said.append("tensors of the served copy that have their trained name have their values")
        return said


def matched(
    trained: Mapping[str, tuple[Any, str]],
    rename: Callable[[str], str],
    draft: Checkpoint | None,
    serve: Checkpoint | None,
) -> Stored | None:
    """What the server is given, out of the folders there are; None without any.

    Args:
        trained: shape and kind of every tensor that training saves.
        rename: a trained name as it is called after the conversions that were named.
        draft: the folder as training saved it.
        serve: the copy that is served, where it is another one.
    """
    if draft is None and serve is None:
        return None
    lacking: dict[str, str] = {}
    misfits: list[Misfit] = []
    coded: dict[str, str] = {}

    def compare(name: str, tensor: StoredTensor, folder: Checkpoint) -> None:
        shape, kind = trained[name]
        whole = all(isinstance(n, int) for n in shape)
        if whole and tuple(shape) != tensor.shape:
            misfits.append(Misfit(name, folder.path, tensor.shape, tuple(shape)))
        if kind != tensor.kind or (kind == "float" and not tensor.is_plain):
            coded[name] = tensor.dtype

    if draft is not None:
        for name in trained:
            if name in draft.tensors:
                compare(name, draft.tensors[name], draft)
            else:
                lacking[name] = draft.path
    if serve is None:
        assert draft is not None  # noqa: S101 - one of the two there is
        given = [
            _as_saved(name, rename(name), trained, t, lacking) for name, t in draft.tensors.items()
        ]
        doubtful = {item.shape for item in given if item.doubt}
        sure = {n: path for n, path in lacking.items() if tuple(trained[n][0]) not in doubtful}
        return Stored(draft, None, tuple(given), sure, tuple(misfits), coded)
    given = _served(rename, draft, serve, trained, lacking)
    found = {item.trained for item in given}
    doubtful = {item.stored.shape for item in given if item.doubt and item.stored is not None}
    lacking = {n: path for n, path in lacking.items() if tuple(trained[n][0]) not in doubtful}
    for item in given:
        if item.trained in trained and item.stored is not None and draft is None:
            compare(str(item.trained), item.stored, serve)
        elif item.trained in trained and item.stored is not None:
            _recoded(item, trained, serve, misfits, coded)
    for name, (shape, _) in trained.items():
        if name not in found and name not in lacking and tuple(shape) not in doubtful:
            lacking[name] = serve.path
    return Stored(draft, serve, tuple(given), lacking, tuple(misfits), coded)


def _recoded(
    item: Given,
    trained: Mapping[str, tuple[Any, str]],
    serve: Checkpoint,
    misfits: list[Misfit],
    coded: dict[str, str],
) -> None:
    """What the served copy of a tensor has become."""
    assert item.stored is not None  # noqa: S101 - the caller has looked
    shape, kind = trained[str(item.trained)]
    if tuple(shape) != item.stored.shape and all(m.name != item.trained for m in misfits):
        misfits.append(Misfit(str(item.trained), serve.path, item.stored.shape, tuple(shape)))
    if kind != item.stored.kind or (kind == "float" and not item.stored.is_plain):
        coded.setdefault(str(item.trained), item.stored.dtype)


def _as_saved(
    name: str,
    served: str,
    trained: Mapping[str, tuple[Any, str]],
    tensor: StoredTensor,
    lacking: Mapping[str, str],
) -> Given:
    """A tensor of the folder that is served as it is.

    One that training does not know and that looks like one that is lacking may be that one.
    """
    given = _under(name, served, trained, tensor)
    if name in trained or all(tuple(trained[other][0]) != tensor.shape for other in lacking):
        return given
    doubt = (
        f"which trained tensor {name} is cannot be told: training saves none of that name; if the"
        " folder is a converted copy, give it as --serve-draft, and the trained one as --draft"
    )
    return replace(given, doubt=doubt)


def _under(
    name: str, served: str, trained: Mapping[str, tuple[Any, str]], tensor: StoredTensor
) -> Given:
    """A tensor of the folder; one that training knows has the shape it has there."""
    shape, kind = trained.get(name, (tensor.shape, tensor.kind))
    return Given(served, name if name in trained else None, shape, kind, None, tensor)


def _served(
    rename: Callable[[str], str],
    draft: Checkpoint | None,
    serve: Checkpoint,
    trained: Mapping[str, tuple[Any, str]],
    lacking: Mapping[str, str],
) -> list[Given]:
    """The tensors of the served copy, each with the trained one it is."""
    saved: Iterable[str] = trained if draft is None else draft.tensors
    names = {rename(name): name for name in saved if rename(name) in serve.tensors}
    rest = [name for name in serve.tensors if name not in names]
    missing = [name for name in saved if rename(name) not in serve.tensors]
    pairs = {} if draft is None else _by_bytes(draft, serve, missing, rest)
    open_ = set(missing) - set(pairs.values())
    given = []
    for name, tensor in serve.tensors.items():
        own = names.get(name) or pairs.get(name)
        if own is not None:
            item = _under(own, name, trained, tensor)
            if own not in trained and any(tuple(trained[n][0]) == tensor.shape for n in lacking):
                why = f"which trained tensor {name} is cannot be told: training saves no {own}"
                item = replace(item, doubt=why)
            given.append(item)
            continue
        alike = sorted(other for other in open_ if _shape(other, draft, trained) == tensor.shape)
        doubt = None
        if alike:
            how = "no trained tensor has its name or its bytes" if draft else (
                "its name is no trained one"
            )  # fmt: skip
            doubt = f"which trained tensor {name} is cannot be told: {how}"
            doubt += "" if draft else "; say --rename, or give the trained folder as --draft too"
        given.append(Given(name, None, tensor.shape, tensor.kind, doubt, tensor))
    return given


def _shape(
    name: str, draft: Checkpoint | None, trained: Mapping[str, tuple[Any, str]]
) -> tuple[Any, ...]:
    return draft.tensors[name].shape if draft is not None else tuple(trained[name][0])


def _by_bytes(
    draft: Checkpoint, serve: Checkpoint, missing: list[str], rest: list[str]
) -> dict[str, str]:
    """Served names by trained ones, where exactly one on each side holds these bytes.

    Only tensors whose shape and dtype occur on both sides are read.
    """
    found: dict[str, str] = {}
    kinds = {(t.dtype, t.shape) for t in map(serve.tensors.__getitem__, rest)}
    kinds &= {(t.dtype, t.shape) for t in map(draft.tensors.__getitem__, missing)}
    mine: dict[str, list[str]] = {}
    theirs: dict[str, list[str]] = {}
    for names, folder, held in ((missing, draft, mine), (rest, serve, theirs)):
        for name in names:
            tensor = folder.tensors[name]
            if (tensor.dtype, tensor.shape) in kinds:
                held.setdefault(digest(tensor), []).append(name)
    for key, served in theirs.items():
        own = mine.get(key, [])
        if len(own) == len(served) == 1:
            found[served[0]] = own[0]
    return found
