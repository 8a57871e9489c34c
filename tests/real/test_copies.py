"""The copies are as good as the releases, before anything is edited in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.real.releases import TRAINER, check, flaws, renames, said, server, unproven, violated

if TYPE_CHECKING:
    from tests.real.releases import Copies

pytestmark = pytest.mark.network


@pytest.mark.parametrize("version", ["0.5.9", "0.5.14", "0.5.23"])
def test_the_unedited_releases_agree_but_for_what_is_known(copies: Copies, version: str) -> None:
    report = check(copies.plain(TRAINER), copies.plain(server(version)), renames=renames(version))
    assert (violated(report), unproven(report)) == (flaws(version), {}), said(report)
