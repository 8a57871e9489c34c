"""What this process has fetched so far. Nothing is imported here: a warm run asks too."""

from __future__ import annotations


class Traffic:
    """Requests made and bytes received, over all clients."""

    def __init__(self) -> None:
        self.requests = 0
        self.received = 0

    def told(self) -> str:
        """The two in a few words."""
        if not self.requests:
            return "nothing was fetched"
        size = f"{self.received / 1e6:.1f} MB" if self.received >= 100_000 else f"{self.received} B"
        return f"{size} fetched in {self.requests} requests"


traffic = Traffic()
