"""The interpreter stage: Python over abstract values.

Takes parsed modules (`checker.syntax`) and operator summaries (`contracts/operators`), runs what an
engine description asks for, and gives graph terms (`checker.graph`) with origins, recorded
configuration reads and undecided conditions. Checked code is never imported, compiled or executed.
"""
