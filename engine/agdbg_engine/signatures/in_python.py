"""Functions that PyTorch has in Python, and which of their arguments they hand on to one in C++ that looks at the types.

A row names the function in C++ and what its arguments are: ``_`` those that Python itself has used before, ``one(name)``
those that it has compared before by size, as it can only numbers and tensors of one element, ``same(name)`` those that it has
asked whether they are some number, which only tensors of several elements cannot tell, ``pair(name)`` those that it makes two of.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterable

from .kinds import Parameter, Taken, in_python, is_tensor
from .signature import Args, Keywords, Signature

CALLS = {
    "dropout": "dropout(input, one(p), training)",
    "alpha_dropout": "alpha_dropout(input, one(p), training)",
    "feature_alpha_dropout": "feature_alpha_dropout(input, one(p), training)",
    "dropout1d": "feature_dropout(_, one(p), training)",
    "dropout2d": "feature_dropout(_, one(p), training)",
    "dropout3d": "feature_dropout(_, one(p), training)",
    "batch_norm": "batch_norm(_, weight, bias, running_mean, running_var, training, momentum, eps)",
    "instance_norm": "instance_norm(_, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)",
    "group_norm": "group_norm(_, num_groups, weight, bias, eps)",
    "layer_norm": "layer_norm(input, normalized_shape, weight, bias, eps)",
    "rms_norm": "rms_norm(input, normalized_shape, weight, eps)",
    "rrelu": "rrelu(input, lower, upper, training)",
    "elu": "elu(input, alpha)",
    "celu": "celu(input, alpha)",
    "leaky_relu": "leaky_relu(input, negative_slope)",
    "threshold": "threshold(input, threshold, value)",
    "poisson_nll_loss": "poisson_nll_loss(input, target, log_input, full, eps)",
    "kl_div": "kl_div(_, _, _, log_target=log_target)",
    "huber_loss": "huber_loss(_, _, _, delta)",
    "smooth_l1_loss": "smooth_l1_loss(_, _, _, same(beta))",
    "margin_ranking_loss": "margin_ranking_loss(_, _, _, margin)",
    "multi_margin_loss": "multi_margin_loss(_, _, one(p), margin)",
    "hardtanh": "hardtanh(_, one(min_val), one(max_val))",
    "cdist": "cdist(_, _, p)",
    "triplet_margin_loss": "triplet_margin_loss(anchor, positive, negative, one(margin), p, eps, swap)",
    "max_pool1d": "max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)",
    "max_pool2d": "max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)",
    "max_pool3d": "max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)",
    "adaptive_max_pool1d": "adaptive_max_pool1d(input, output_size)",
    "adaptive_max_pool1d_with_indices": "adaptive_max_pool1d(input, output_size)",
    "embedding": "embedding(weight, input, _, scale_grad_by_freq, sparse)",
    "cross_entropy": "cross_entropy_loss(input, target, weight, _, ignore_index, label_smoothing)",
    "nll_loss": "nll_loss_nd(input, target, weight, _, ignore_index)",
    "hinge_embedding_loss": "hinge_embedding_loss(input, target, margin, _)",
    "cosine_embedding_loss": "cosine_embedding_loss(input1, input2, target, margin, _)",
    "pairwise_distance": "pairwise_distance(x1, x2, p, eps, keepdim)",
    "grid_sample": "grid_sampler(input, grid, _, _, align_corners)",
    "pad": "pad(input, pad, mode, value)",
    "unfold": "im2col(input, pair(kernel_size), pair(dilation), pair(padding), pair(stride))",
    "fold": "col2im(input, pair(output_size), pair(kernel_size), pair(dilation), pair(padding), pair(stride))",
}


class InPython:
    """Looks at the arguments of such a function."""

    def __init__(self, name: str, shown: str, inner: Signature) -> None:
        from ..nn import functional
        from ..ops import FUNCTIONS

        function = getattr(functional, name, None) or FUNCTIONS[name]
        self._signature = inspect.signature(function)
        self._shown, self._inner, self.tensors, self.lists = shown, inner, 1, 0
        self._names = list(self._signature.parameters)
        self._handed = re.findall(
            r"(?:(\w+)=)?(?:(pair|one|same)\()?(\w+)\)?", CALLS[name].partition("(")[2].removesuffix(")")
        )

    def examine(self, args: Args, kwargs: Keywords) -> tuple[Args, Keywords, bool]:
        """Raise what PyTorch raises for the types of a call's arguments; else these with Python's numbers, and whether other
        values of the same types would be taken as they are.
        """
        wanted: dict[str, Parameter] = {}
        error, by_types = self._look(args, kwargs, wanted)
        if error is not None:
            raise error
        numbers = in_python(map(wanted.get, self._names), args, wanted.get, kwargs)
        return (args, kwargs, by_types) if numbers is None else (*numbers, False)

    def refusal(self, args: Args, kwargs: Keywords) -> Exception | None:
        """What PyTorch raises for the types of a call's arguments; ``None`` where it takes them."""
        return self._look(args, kwargs, {})[0]

    def _look(self, args: Args, kwargs: Keywords, wanted: dict[str, Parameter]) -> tuple[Exception | None, bool]:
        try:
            given = self._signature.bind(*args, **kwargs).arguments
        except TypeError:  # said by the call itself
            return None, False
        taken = Taken()
        by_name = {p.name: p for p in self._inner.parameters}
        for at, (keyword, how, name) in enumerate(self._handed):
            if name not in given or (given[name] is None and self._signature.parameters[name].default is None):
                continue
            value = given[name]
            parameter = by_name[keyword] if keyword else self._inner.parameters[at]
            if how in ("one", "same") and (value.numel() != 1 if is_tensor(value) else how == "one"):
                taken.by_value = taken.by_value or is_tensor(value)
                continue
            wanted[name] = parameter
            if how == "pair":
                value = tuple(value) if isinstance(value, Iterable) else (value, value)
            wrong = self._inner.wrong_one(parameter, value, at, bool(keyword), taken)
            if wrong is not None:
                return TypeError(f"{self._shown}(){wrong.text}" if wrong.named else wrong.text), False
        return None, not taken.by_value


@functools.cache
def python_function(key: str) -> InPython | None:
    """What looks at the arguments of a function that PyTorch has in Python."""
    from .table import forms

    name = key.removeprefix("nn.functional.")
    if name not in CALLS:
        return None
    shown = CALLS[name].partition("(")[0]
    found = forms(f"_{shown}") or forms(shown)
    assert found is not None, shown
    return InPython(name, found[0], found[1][0])
