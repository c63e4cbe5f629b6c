"""How PyTorch's functions in C++ take their arguments, and what they say about wrong ones.

PyTorch looks at the types of all arguments before it does anything, by the declared forms of a function. Kernels here take
what they can compute with, which is more; so calls with arguments that are no tensors are looked at beforehand (once for each
combination of types), and calls that failed afterwards.
"""

from .guard import Guard, refusal

__all__ = ["Guard", "refusal"]
