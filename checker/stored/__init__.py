"""Takes the folder of a draft checkpoint, gives names, shapes and dtypes of its tensors.

`header` reads one safetensors file's header, `folder` a folder of them, `values` the few small
tensors whose values matter, `matching` tells which stored tensor is which trained one. Weights are
never loaded.
"""
