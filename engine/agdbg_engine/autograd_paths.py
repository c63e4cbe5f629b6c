"""``from agdbg_engine.autograd.function import Function``: PyTorch's paths of the modules of ``autograd``, no package here."""

from __future__ import annotations

import sys

from . import autograd, functional, gradcheck, variable

_MODULES = {
    "anomaly_mode": autograd.anomaly_mode, "forward_ad": autograd.forward_ad, "function": autograd.function,
    "functional": functional, "grad_mode": autograd.grad_mode, "gradcheck": gradcheck, "graph": autograd.graph,
    "variable": variable,
}  # fmt: skip

for _name, _module in _MODULES.items():
    sys.modules[f"{autograd.__name__}.{_name}"] = _module
