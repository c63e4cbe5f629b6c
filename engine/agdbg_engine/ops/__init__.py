"""All ops: as functions of this module and as methods of :class:`~agdbg_engine.tensor.Tensor`."""

from __future__ import annotations

from typing import Any

from ..arguments import checked
from ..attributes import make_read_only
from ..node import Node
from ..overrides import canonical, operators, overridable
from ..tensor import Tensor
from . import (
    _generated,
    cast,
    compare,
    complexes,
    elementwise,
    graph,
    indexing,
    lists,
    matrix,
    reduce,
    shape,
    transposes,
)
from .inplace import method as _inplace
from .inplace import of_tensor
from .names_in_errors import in_python, name_methods
from .out import NAMES as OUT
from .out import into_as
from .table import TABLE

ROWS: dict[str, Any] = {row.name: getattr(_generated, row.name) for row in TABLE}
"""The ops of the table, which formulas call, by name."""

for _name, _function in ROWS.items():
    if not hasattr(graph, _name):
        setattr(graph, _name, _function)

from .wide import INPLACE, OPS, PUBLIC, RESHAPING  # noqa: E402 - families declare themselves on top of the ops above
from .wide.pointwise import operators as operators_of_families  # noqa: E402 - as above
from .wide.pointwise.aliases import IN_PLACE_FUNCTIONS  # noqa: E402 - as above

ROWS.update(OPS)

_PARTS = {
    "alias", "conj_copy", "copy", "fill", "fw_primal", "gelu_tanh", "index", "permute_to", "reshape_alias", "slice", "to_copy", "unsafe_view", "zero",
    *(n for n in ROWS if n.endswith(("_all", "_dim", "_raw", "_backward", "_tensor"))),
}  # fmt: skip
"""Rows that are only parts of public ops."""

_OF_NN = {"leaky_relu", "softplus", "silu"}
"""Rows that PyTorch has in ``nn.functional`` only."""


def _named(module: Any, names: str) -> dict[str, Any]:
    return {name: getattr(module, name) for name in names.split()}


_WRITTEN: dict[str, Any] = {
    **_named(elementwise, "add sub mul div pow square sign round masked_fill clamp clamp_min clamp_max"),
    **_named(shape, "reshape clone flatten permute transpose t unsqueeze squeeze select narrow"),
    **_named(reduce, "sum mean var std logsumexp softmax log_softmax amax amin max min"),
    **_named(matrix, "mm mv dot bmm addmm outer matmul"),
    **_named(lists, "unbind split chunk unsafe_split unsafe_split_with_sizes unsafe_chunk"),
    **_named(indexing, "gather index_put"),
    **_named(complexes, "conj conj_physical resolve_conj angle sgn"),
    **_named(compare, "isnan isinf isfinite logical_not bitwise_not argmax argmin all any allclose equal"),
    **compare.PAIRWISE,
}
_ONLY_FUNCTIONS: dict[str, Any] = {
    **_named(elementwise, "where rsub"),
    **_named(complexes, "real imag complex polar view_as_real view_as_complex"),
    **_named(
        Tensor, "is_complex is_conj is_floating_point is_inference is_neg is_same_size is_signed numel resolve_neg"
    ),
    **_named(Tensor, "detach detach_"),
    **_named(lists, "cat stack"),
}
_ONLY_METHODS: dict[str, Any] = {
    **_named(shape, "view view_as expand expand_as contiguous sum_to_size"),
    "adjoint": transposes.adjoint,
    **_named(cast, "to type_as"),
    **_named(indexing, "index_put_"),
    "where": elementwise.where_self,
    **cast.CASTS,
}
_PLAIN = {n: f for n, f in ROWS.items() if n not in {*OPS, *_PARTS, *_OF_NN, *_ONLY_METHODS, *_ONLY_FUNCTIONS}}
BARE = frozenset(_PLAIN.keys() - _WRITTEN.keys())
"""Rows that are public functions or methods as they are."""

FUNCTIONS: dict[str, Any] = {
    **_PLAIN,
    **{n: overridable(f, form=n) for n, f in {**_WRITTEN, **_ONLY_FUNCTIONS}.items()},
    **{
        n: overridable(f, into=into_as(n), form=n)
        for n, f in {**_PLAIN, **_WRITTEN, **_ONLY_FUNCTIONS}.items()
        if n in OUT
    },
}
"""The public functions by name: rows as they are, and the forms that check and overload."""

_HOT = frozenset(
    ("add", "sub", "mul", "div", "pow", "sum", "mean", "mm", "matmul", "t", "transpose", "reshape", "view")
)
"""Methods that may not cost a frame more: they know PyTorch's other names for their arguments by themselves."""

METHODS: dict[str, Any] = {
    **_PLAIN,
    **{
        n: f if n in _HOT or n in cast.CASTS else checked(in_python(n, f), method=True, name=n)
        for n, f in {**_WRITTEN, **_ONLY_METHODS}.items()
    },
}
"""The public methods of tensors by name, in-place forms included."""

FUNCTIONS.update(
    {n: overridable(p.function, into=into_as(n) if p.out else None, form=n) for n, p in PUBLIC["torch"].items()}
)
METHODS.update({n: checked(in_python(n, p.function), method=True, name=n) for n, p in PUBLIC["Tensor"].items()})
METHODS.update({n: checked(in_python(n, f), method=True, name=n) for n, f in RESHAPING.items()})
METHODS.update({n: _inplace(n, f, composed=f not in OPS.values()) for n, f in INPLACE.items()})

_FORMS = {**ROWS, **_WRITTEN, "fill": elementwise.fill, "copy": elementwise.copy}
METHODS.update(
    {
        f"{row.name}_": _inplace(f"{row.name}_", _FORMS[row.name])
        for row in TABLE
        if row.inplace and row.name not in {*_OF_NN, "gelu_tanh", "index_put"}
    }
)

FUNCTIONS.update({f"{n}_": of_tensor(METHODS[f"{n}_"]) for n in IN_PLACE_FUNCTIONS})

_OPERATORS: dict[str, Any] = {
    "__neg__": _generated.neg, "__abs__": _generated.abs, "__invert__": compare.invert, "__matmul__": _generated.mm,
    "__radd__": _generated.add, "__rsub__": _generated.rsub, "__rmul__": _generated.mul, "__rtruediv__": elementwise.rdiv,
    "__rpow__": elementwise.rpow, "__getitem__": indexing.getitem, "__setitem__": indexing.setitem, "__iter__": lists.iterate,
    "T": property(transposes.reversed_dims), "mT": property(transposes.last_swapped),
    "H": property(transposes.conjugate_transpose), "mH": property(transposes.last_swapped_conjugate),
    "real": property(complexes.real, complexes.set_real), "imag": property(complexes.imag, complexes.set_imag),
}  # fmt: skip
for _name, _row in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"), ("pow", "pow")):
    _OPERATORS[f"__{_name}__"] = ROWS[_row]
    _writes = _inplace(f"{_row}_", ROWS[_row])
    _OPERATORS[f"__i{_name}__"] = operators_of_families.in_place(_writes)
    if _name != "pow":
        canonical[ROWS[_row]] = METHODS[_row]
        canonical[_OPERATORS[f"__i{_name}__"]] = METHODS[f"{_row}_"]
    operators.add(ROWS[_row])
canonical[ROWS["mm"]] = matrix.matmul
operators.update((ROWS["mm"], ROWS["rsub"]))
for _name, _function in compare.OPERATORS.items():
    canonical[_function] = METHODS[_name]
for _name, (_method, _function) in operators_of_families.FUNCTIONS.items():
    _OPERATORS[f"__{_name}__"] = operators_of_families.OPERATORS[f"__{_name}__"]
    _OPERATORS[f"__r{_name}__"] = operators_of_families.REFLECTED[f"__r{_name}__"]
    _OPERATORS[f"__i{_name}__"] = operators_of_families.in_place(METHODS[f"{_method}_"])
    if not _name.endswith("shift"):
        canonical[_OPERATORS[f"__i{_name}__"]] = METHODS[f"{_method}_"]
    if _name == "mod":
        canonical[_OPERATORS[f"__{_name}__"]] = METHODS[_method]
_OPERATORS.update({
    "__div__": _OPERATORS["__truediv__"], "__rdiv__": elementwise.rdiv_by_hand, "__idiv__": _OPERATORS["__itruediv__"],
    "__pos__": METHODS["positive"], "__rmatmul__": matrix.rmatmul,
})  # fmt: skip
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _OPERATORS[f"__{_name}__"] = compare.OPERATORS[_name]
for _name in ("and", "or", "xor"):
    _OPERATORS[f"__{_name}__"] = compare.OPERATORS[f"bitwise_{_name}"]
    _OPERATORS[f"__r{_name}__"] = compare.reflected(compare.OPERATORS[f"bitwise_{_name}"])
    _OPERATORS[f"__i{_name}__"] = operators_of_families.in_place(METHODS[f"bitwise_{_name}_"])
    canonical[_OPERATORS[f"__r{_name}__"]] = METHODS[f"bitwise_{_name}"]

for _name, _function in {**METHODS, **_OPERATORS}.items():
    setattr(Tensor, _name, _function)
# What ``__torch_function__`` sees of those that stand for no method with a name of its own.
for _name in ("eq", "and", "or", "xor"):
    canonical.pop(_OPERATORS[f"__{_name}__"], None)
for _name in (
    "__getitem__", "__setitem__", "__rsub__", "__rpow__", "__rdiv__", "__rmatmul__", "__eq__", "__and__", "__or__", "__xor__",
    "__iand__", "__ior__", "__ixor__", "__invert__", "__floordiv__", "__lshift__", "__rshift__", "__ilshift__", "__irshift__",
    *operators_of_families.REFLECTED,
):  # fmt: skip
    _OPERATORS[_name].__name__ = _name
elementwise.rdiv.__name__ = "__rdiv__"
name_methods()
make_read_only(Tensor, "torch._C.TensorBase")
make_read_only(Node, "", ("_input_metadata", "metadata", "next_functions", "requires_grad"))


def functions(namespace: str) -> dict[str, Any]:
    """The public functions in ``torch.<namespace>`` that families of ops have declared."""
    python = namespace == "nn.functional"
    before = {"fft": "fft_", "linalg": "linalg_", "special": "special_"}.get(namespace, "")
    return {
        n: overridable(
            p.function,
            f"torch.{namespace}",
            in_python=python,
            into=into_as(before + n) if p.out else None,
            form=f"{namespace}.{n}",
        )
        for n, p in PUBLIC[namespace].items()
    }


def __getattr__(name: str) -> Any:
    found = FUNCTIONS.get(name) or ROWS.get(name)
    if found is None:
        raise AttributeError(f"agdbg_engine has no op '{name}'")
    return found
