"""Takes the YAML under ``contracts/`` and gives typed values, or an error with file, line and key.

`loading` reads clauses and switches; the terms of the wires become graph terms in `terms`.
"""
