"""What newer Pythons have and 3.10 has not."""

from __future__ import annotations

from enum import Enum


class StrEnum(str, Enum):
    """Members are their values: they compare, sort and print as plain strings."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, format_spec: str) -> str:
        return format(str(self.value), format_spec)
