"""Whether a run looks at which class an object is of, and not only at what the class holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.interpreter.values import ClassValue


@dataclass(slots=True, eq=False)
class Watch:
    """A class that is run in place of others, which add nothing to it but their names.

    `told`: the run has looked at something that is not the same for those. `made` counts the
    objects of it: of more than one, some would be of another class.
    """

    cls: ClassValue
    told: bool = False
    made: int = 0

    def saw(self, cls: ClassValue) -> None:
        """A class itself, its name or its module is looked at."""
        if cls is self.cls:
            self.told = True

    def asked(self, kind: ClassValue) -> None:
        """Something is asked of a class that holds of what inherits from it."""
        if kind is not self.cls and self.cls in kind.mro:
            self.told = True

    def changed(self, cls: ClassValue) -> None:
        """Something is put into a class or taken from it: those that inherit have it then."""
        self.asked(cls)

    def makes(self, cls: ClassValue) -> None:
        """An object of a class is made."""
        if self.cls in cls.mro:
            self.made += 1
            self.told = self.told or self.made > 1

    def says(self, text: object) -> None:
        """The checked code may read a text."""
        if isinstance(text, str) and self.cls.name in text:
            self.told = True
