"""What a reading says, as a report: sides, facts, assumptions, and the lines that are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.contract.formats import format_of
from checker.deploying import ranks_of
from checker.judging.stored import accounted
from checker.report.model import (
    Capture,
    ConfigRead,
    Configured,
    Facts,
    Raised,
    Report,
    Side,
    SideFacts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from checker.configs import ConfigFile
    from checker.engines import Extraction, Launched
    from checker.judging.judge import Case
    from checker.location import Location
    from checker.pairing import Opened, Pairing
    from checker.report.drawing import Drawing
    from checker.report.model import ClauseResult
    from checker.request import VerifyRequest
    from checker.sources import Tree

_DEPLOYMENT = (
    "deployment: CUDA, top-k 1, CUDA graphs on, environment variables at their defaults,"
    " weights not quantised"
)
_SUMMARIES = (
    "what contracts/operators and contracts/outlines describe (layers, norms, attention, kernels)"
    " computes what they say: an edit inside it is not seen"
)
_LAUNCHED = (
    "deployment: CUDA, CUDA graphs on, environment variables at their defaults, and what the launch"
    " line says"
)


def report_of(
    pair: Pairing,
    request: VerifyRequest,
    case: Case,
    results: tuple[ClauseResult, ...],
    drawings: tuple[tuple[Drawing, Drawing], ...] = (),
) -> Report:
    """The report on a case.

    Args:
        pair: both sides as they were opened, with their configurations as they were given.
        request: what was asked.
        case: what was judged.
        results: the judgement, a result for every clause.
        drawings: the graphs, where they are to be shown.
    """
    trainer, server, train, serve = pair.trainer, pair.server, case.train, case.serve
    return Report(
        train=_side(trainer, train, _configured(pair, request.train_config, pair.train_config)),
        serve=_side(server, serve, _configured(pair, request.serve_config, pair.serve_config)),
        clauses=results,
        assumptions=(
            *_assumptions(request, train, serve, case.launched),
            *_unread(trainer, "train"),
            *_unread(server, "serve"),
            *([] if case.stored is None else case.stored.assumptions()),
        ),
        configuration=_configuration(train),
        facts=Facts(_facts(train, {}), _facts(serve, serve.weights)),
        excerpts=_excerpts(results, drawings, (*trainer.trees, *server.trees)),
        stored=None if case.stored is None else accounted(case.stored, train, serve),
        max_unproven=request.max_unproven,
        drawings=drawings,
    )


def _configured(pair: Pairing, file: ConfigFile | None, config: dict[str, Any]) -> Configured:
    """What is said of a configuration: where it stood, and its format."""
    found = format_of(config, pair.contract.formats, pair.contract.target["class"])
    return Configured(
        file.path if file is not None else None,
        found.id if found is not None else None,
        found.title if found is not None else None,
    )


def _side(opened: Opened, extraction: Extraction, configured: Configured) -> Side:
    return Side(
        opened.engine.name,
        opened.tree.label,
        opened.tree.version,
        opened.tree.fingerprint,
        extraction.entry,
        {tree.name: tree.version or "" for tree in opened.trees[1:]},
        configured,
        opened.tree.folder,
    )


def _assumptions(
    request: VerifyRequest, train: Extraction, serve: Extraction, flags: Launched | None
) -> Iterator[str]:
    yield from request.notes
    deployment = _LAUNCHED if request.launch else _DEPLOYMENT
    yield deployment
    tensor, pipeline = ranks_of(request, flags)
    ranks = f"tensor parallelism {tensor}, pipeline parallelism {pipeline}"
    if tensor == pipeline == 1:
        yield ranks
    else:
        yield f"{ranks}: ranks together compute what one would (aux-reduced is not checked yet)"
    yield _SUMMARIES
    if serve.captures and (serve.captured is None or serve.captured.count is None):
        why = serve.captured.reason if serve.captured else "its configuration is not given in full"
        yield f"the target hands over one state per configured id (it was not followed: {why})"
    said = flags.assumptions if flags is not None else ()
    every = {*train.assumptions, *serve.assumptions, *said}
    yield from sorted(text for text in every if text not in deployment)


def _unread(side: Opened, option: str) -> Iterator[str]:
    """Libraries that a side stands on and of which nothing says which release it is."""
    read = {tree.name for tree in side.trees[1:]}
    for name, _ in side.libraries:
        if name not in read:
            yield (
                f"nothing says which {name} {side.tree.label} stands on, so none is read"
                f" (say --{option}-with {name}==VERSION)"
            )


def _configuration(train: Extraction) -> Mapping[str, Any]:
    return {key: _plain(value) for key, value in train.switches.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return str(value)


def _facts(extraction: Extraction, weights: Mapping[str, str | None]) -> SideFacts:
    ids = extraction.aux_layer_ids
    reads = tuple(
        ConfigRead(
            f"{read.place}.{read.key}" if read.place else read.key,
            None if read.found or read.default is None else repr(read.default),
            read.location,
        )
        for read in extraction.reads
        if read.location is not None
    )
    layer_ids = tuple(ids) if ids is not None and all(isinstance(i, int) for i in ids) else None
    return SideFacts(_captured(extraction, layer_ids), reads, weights)


def _captured(extraction: Extraction, layer_ids: tuple[int, ...] | None) -> Capture:
    """What one side captures."""
    if extraction.aux_boundaries is not None:
        return Capture(layer_ids, tuple(extraction.aux_boundaries))
    found = extraction.captured
    if found is None:
        return Capture(layer_ids)
    error = None
    if found.error is not None:
        error = Raised(found.error.type, found.error.message, found.error.location)
    replayed = extraction.graph_captured
    graphs = None if replayed is None or replayed.answer == found.answer else replayed.boundaries
    return Capture(layer_ids, found.boundaries, graphs, found.aliased, error)


def _excerpts(
    results: Iterable[ClauseResult],
    drawings: Iterable[tuple[Drawing, Drawing]],
    trees: Iterable[Tree],
) -> dict[Location, str]:
    """The source line of every place that a result or a drawing names."""
    by_label = {tree.label: tree for tree in trees}
    lines: dict[tuple[str, str], list[str]] = {}
    found: dict[Location, str] = {}
    for place in _places(results, drawings):
        tree = by_label.get(place.source)
        if tree is None:
            continue
        key = (place.source, place.path)
        if key not in lines:
            lines[key] = tree.read(place.path).decode("utf-8", "replace").splitlines()
        if 0 < place.line <= len(lines[key]):
            found[place] = lines[key][place.line - 1].strip()
    return found


def _places(
    results: Iterable[ClauseResult], drawings: Iterable[tuple[Drawing, Drawing]]
) -> Iterator[Location]:
    for result in results:
        yield from (*result.train.locations, *result.serve.locations)
        if result.error is not None and result.error.location is not None:
            yield result.error.location
    for pair in drawings:
        yield from (n.location for side in pair for n in side.nodes if n.location is not None)
