"""The graph stage: terms with dimensions, one spelling per function, and what differs.

Takes operators one at a time (from the interpreter, or from the contract's wires) and gives
hash-consed terms in normal form: two terms of one pool are the same object exactly when the
rewrites know that they compute the same function. A rewrite never changes the function; where one
is not known, two equal functions stay two terms, and the difference reports it.
"""
