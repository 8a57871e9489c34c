"""The run-time witness: the real code on small numbers, beside the extracted graph.

Takes the sources that a static run has read, the stages and summaries it used, and small
configurations; gives numbers. The checked code runs in a process of its own (`worker`), definition
by definition as the static run met it, over real torch; nothing here is imported by the rest of
the program unless a witness is asked for, and only the worker imports torch.
"""

OUT_OF_MEMORY = "out of memory"
"""How the worker's problem begins when memory ran out."""
