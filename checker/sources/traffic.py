"""What this process has fetched so far. Nothing is imported here: a warm run asks too."""

from __future__ import annotations

_ARCHIVES = (".whl", ".gz", ".zip")
_PAGES = "index pages"
_WORTH_SAYING = 50_000


class Traffic:
    """Requests made and bytes received, over all clients."""

    def __init__(self) -> None:
        self.requests = 0
        self.received = 0
        self._of: dict[str, int] = {}

    def note(self, url: str, received: int) -> None:
        """Counts bytes that came from an address."""
        name = url.partition("#")[0].partition("?")[0].rpartition("/")[2]
        kind = name if name.endswith(_ARCHIVES) else _PAGES
        self.received += received
        self._of[kind] = self._of.get(kind, 0) + received

    def told(self) -> str:
        """What was fetched, in a few words: all of it, and what most of it was."""
        if not self.requests:
            return "nothing was fetched"
        largest = sorted(self._of.items(), key=lambda item: -item[1])
        parts = [f"{_size(count)} of {name}" for name, count in largest if count > _WORTH_SAYING]
        details = f" ({', '.join(parts)})" if len(self._of) > 1 and parts else ""
        return f"{_size(self.received)} fetched in {self.requests} requests{details}"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count} B"


traffic = Traffic()
