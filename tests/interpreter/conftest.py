"""The in-memory checker and the programs are plain modules beside the tests."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "graph")]  # the array evaluator lies there
