"""The version, in the one place that both the program and its packaging read."""

__version__ = "0.1.0"
