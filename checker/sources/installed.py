"""`installed:name`: the files of a distribution installed beside this program.

Only its metadata is asked for, never the package itself.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from checker.errors import InputError
from checker.sources.directory import open_directory

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from checker.sources.tree import Tree


def open_installed(name: str, package: str | None) -> Tree:
    """The folder an installed distribution lies in; the checkout, for an editable one.

    Raises:
        InputError: it is not installed here.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    label = f"installed:{name}"
    try:
        found = distribution(name)
    except (PackageNotFoundError, ValueError):
        raise InputError(
            f"{name or 'nothing'} is not installed beside this program",
            f"install it here, or write {name or 'NAME'} to fetch the release",
            label,
        ) from None
    folder = _editable(found) or str(found.locate_file(""))
    return open_directory(folder, package or name.replace("-", "_"), label)


def _editable(found: Distribution) -> str | None:
    try:
        value = json.loads(found.read_text("direct_url.json") or "null")
        if value and value.get("dir_info", {}).get("editable"):
            return url2pathname(urlsplit(value["url"]).path)
    except (ValueError, KeyError, AttributeError):
        pass
    return None
