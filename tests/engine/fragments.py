"""Pieces of training scripts that run on both libraries: numbers for them, and what two results differ in."""

import copy
import math
import warnings

import numpy as np
import torch

import agdbg_engine as ag


class Numbers:
    """The same random numbers in either library."""

    def __init__(self, library):
        self.library = library
        self.rng = np.random.default_rng(0)

    def r(self, *shape, grad=False):
        """Normal numbers in single precision."""
        x = self.library.from_numpy(self.rng.standard_normal(shape).astype("float32"))
        return x.requires_grad_() if grad else x

    def i(self, high, *shape):
        """Integers below ``high``."""
        return self.library.from_numpy(self.rng.integers(0, high, shape))

    def fill(self, module):
        """``module`` with such parameters and buffers."""
        with self.library.no_grad():
            for p in module.state_dict().values():
                if p.is_floating_point():
                    p.copy_(0.3 * self.r(*p.shape))
        return module


class Fragments(dict):
    """Decorates programs ``f(t, F, nn, c)``: the library, two of its modules, and :class:`Numbers`."""

    def __call__(self, function):
        self[function.__name__] = function
        return function

    def differences(self, name):
        """The lines in which the results of a program differ."""
        found = []
        for t in (torch, ag):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what both warn of is tested elsewhere
                found.append(copy.copy(self[name](t, t.nn.functional, t.nn, Numbers(t))))
        return list(differences(*found))


def differences(a, b, path="result"):
    """What ``a`` of PyTorch has that ``b`` of the engine has not, line by line."""
    if isinstance(a, torch.Tensor):
        yield from _of_tensors(a, b, path)
    elif isinstance(a, dict):
        if list(a) != list(b):
            yield f"{path}: keys {list(a)}, {list(b)}"
        for key in a:
            yield from differences(a[key], b.get(key), f"{path}.{key}")
    elif isinstance(a, list | tuple):
        if not isinstance(b, list | tuple) or len(a) != len(b):
            yield f"{path}: {a!r}, {b!r}"
            return
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, f"{path}[{k}]")
    elif isinstance(a, np.ndarray):
        if not np.allclose(a, b, rtol=1e-4):
            yield f"{path}: {a}, {b}"
    elif isinstance(a, float):
        if not (math.isclose(a, b, rel_tol=2e-4, abs_tol=1e-6) or (a != a and b != b)):
            yield f"{path}: {a}, {b}"
    elif a != b:
        yield f"{path}: {a!r}, {b!r}"


def _of_tensors(a, b, path):
    if not isinstance(b, ag.Tensor):
        yield f"{path}: a tensor, {b!r}"
        return
    kinds = [(str(x.dtype).removeprefix("torch."), tuple(x.shape), x.requires_grad) for x in (a, b)]
    if kinds[0] != kinds[1]:
        yield f"{path}: {kinds[0]}, {kinds[1]}"
        return
    x, y = a.detach().resolve_conj().numpy(), b.detach().numpy()
    if x.dtype.kind not in "fc":
        same = np.array_equal(x, y)
    else:
        most = np.abs(x[np.isfinite(x)]).max(initial=1.0)
        same = np.allclose(x, y, rtol=2e-4, atol=2e-5 * most, equal_nan=True)
    if not same:
        yield f"{path}: {x.ravel()[:6]}, {y.ravel()[:6]}"
