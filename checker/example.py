"""The pair of engines and configurations that ``verify`` checks when nothing is named.

Real releases are checked where they can be fetched; without a network, the small engines that come
with the program stand in for them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.configs import read_config
from checker.contract.loading import load_plain
from checker.data import FIXTURES
from checker.request import Access, Target, VerifyRequest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from checker.configs import ConfigFile

FOLDER = FIXTURES / "example"


@dataclass(frozen=True, slots=True)
class Example:
    """The request for the real releases, and the one that needs no network, if there is one."""

    request: VerifyRequest
    packaged: VerifyRequest | None


def example(access: Access) -> Example:
    """The embedded pair, with its files read."""
    pair = load_plain(FOLDER / "pair.yaml")
    request = _request(pair, pair["train"], pair["serve"], access)
    fallback = pair["packaged"]
    train, serve = FOLDER / fallback["train"], FOLDER / fallback["serve"]
    if not (train.is_dir() and serve.is_dir()):
        return Example(request, None)
    offline = Access(offline=True, use_cache=access.use_cache, progress=access.progress)
    return Example(request, _request(fallback, _shown(train), _shown(serve), offline))


def _request(pair: Mapping[str, Any], train: str, serve: str, access: Access) -> VerifyRequest:
    return VerifyRequest(
        train=train,
        serve=serve,
        train_config=_packaged(pair["train-config"]),
        serve_config=_packaged(pair["serve-config"]),
        target=Target(config=_packaged(pair["target"])),
        access=access,
        notes=(f"nothing was named, so the example pair is checked ({pair['about'].strip()})",),
    )


def _packaged(name: str) -> ConfigFile:
    """One of the files that come with the program, under its name alone."""
    return replace(read_config(str(FOLDER / name)), path=name)


def _shown(folder: Path) -> str:
    return str(folder.resolve())
