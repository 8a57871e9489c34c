"""Where every tensor of a draft's folder went, and what every parameter of the server holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.report.model import place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.location import Location
    from checker.report.model import Json


@dataclass(frozen=True, slots=True)
class TensorRow:
    """A stored tensor: `trained` is its name in training, `parameter` where it was loaded.

    `left_at` is where the loader dropped it; `doubt` why it is not known which tensor it is.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    trained: str | None
    parameter: str | None
    left_at: Location | None = None
    doubt: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The row as the report's schema has it."""
        return {
            "name": self.name,
            "dtype": self.dtype,
            "shape": list(self.shape),
            "trained": self.trained,
            "parameter": self.parameter,
            "dropped": None if self.left_at is None else place(self.left_at),
            "doubt": self.doubt,
        }


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """A parameter of the server, and the tensors in it: none where it kept its initial value."""

    path: str
    tensors: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        """The row as the report's schema has it."""
        return {"parameter": self.path, "tensors": list(self.tensors)}


@dataclass(frozen=True, slots=True)
class Accounts:
    """All tensors of one folder and all parameters. `lacking` are tensors that training saves."""

    folder: str
    tensors: tuple[TensorRow, ...]
    parameters: tuple[ParameterRow, ...]
    lacking: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The accounts as the report's schema has them."""
        return {
            "folder": self.folder,
            "tensors": [row.to_json() for row in self.tensors],
            "parameters": [row.to_json() for row in self.parameters],
            "lacking": list(self.lacking),
        }

    def lines(self) -> Iterator[str]:
        """One line for each tensor, and one for each parameter that no tensor reached."""
        for row in self.tensors:
            shape = ", ".join(map(str, row.shape))
            known = f", trained as {row.trained}" if row.trained not in (None, row.name) else ""
            known = ", unknown to training" if row.trained is None and not row.doubt else known
            if row.parameter is not None:
                went = f"is {row.parameter}"
            elif row.doubt is not None:
                went = row.doubt
            else:
                went = "is dropped" + (f" at {row.left_at}" if row.left_at is not None else "")
            yield f"{row.name} ({row.dtype} [{shape}]{known}) {went}"
        for name in self.lacking:
            yield f"{name} is not there, though training saves it"
        for parameter in self.parameters:
            if not parameter.tensors:
                yield f"parameter {parameter.path} keeps its initial value"
