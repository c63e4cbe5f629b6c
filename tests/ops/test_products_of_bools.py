"""Products of bools, which PyTorch does not have, and what it says of them."""

from __future__ import annotations

from typing import Any

import pytest

import agdbg_engine as eng

torch = pytest.importorskip("torch", reason="the tests compare with it")

PRODUCTS: dict[str, Any] = {
    "@": lambda lib, m, v, b: m @ m,
    "batch @ matrix": lambda lib, m, v, b: b @ m,
    "batch @ batch": lambda lib, m, v, b: b @ b,
    "batch @ vector": lambda lib, m, v, b: b @ v,
    "vector @ matrix": lambda lib, m, v, b: v @ m,
    "vector @ vector": lambda lib, m, v, b: v @ v,
    "mm": lambda lib, m, v, b: lib.mm(m, m),
    "bmm": lambda lib, m, v, b: lib.bmm(b, b),
    "large bmm": lambda lib, m, v, b: lib.bmm(b.repeat(1, 4, 4), b.repeat(1, 4, 4)),
    "mv": lambda lib, m, v, b: lib.mv(m, v),
    "dot": lambda lib, m, v, b: lib.dot(v, v),
    "vdot": lambda lib, m, v, b: lib.vdot(v, v),
    "dot of nothing": lambda lib, m, v, b: lib.dot(v[:0], v[:0]),
    "addmm": lambda lib, m, v, b: lib.addmm(m, m, m),
    "addmm_": lambda lib, m, v, b: m.addmm_(m, m),
    "addmm scaled": lambda lib, m, v, b: lib.addmm(m, m, m, alpha=2),
    "addmv": lambda lib, m, v, b: lib.addmv(v, m, v),
    "addbmm": lambda lib, m, v, b: lib.addbmm(m, b, b),
    "baddbmm": lambda lib, m, v, b: lib.baddbmm(b, b, b),
    "large baddbmm": lambda lib, m, v, b: lib.baddbmm(*[b.repeat(1, 4, 4)] * 3),
    "einsum": lambda lib, m, v, b: lib.einsum("ij,jk->ik", m, m),
    "linear": lambda lib, m, v, b: lib.nn.functional.linear(m, m),
    "linear with bias": lambda lib, m, v, b: lib.nn.functional.linear(b, m, v),
    "multi_dot": lambda lib, m, v, b: lib.linalg.multi_dot([m, m, m]),
    "matrix_power": lambda lib, m, v, b: lib.matrix_power(m, 3),
}


def operands(lib: Any) -> tuple[Any, Any, Any]:
    m = lib.tensor([[True, False, True], [True, True, False], [False, True, True]])
    return m, m[0].clone(), lib.stack((m, m, ~m))


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_bools_are_refused(name: str) -> None:
    texts = []
    for lib in (torch, eng):
        with pytest.raises(NotImplementedError) as error:
            PRODUCTS[name](lib, *operands(lib))
        texts.append(str(error.value).splitlines()[0])
    assert texts[0] == texts[1]


NOTHING: dict[str, Any] = {
    "mm": lambda lib, m, v, b: lib.mm(m[:0], m),
    "mm along nothing": lambda lib, m, v, b: lib.mm(m[:, :0], m[:0]),
    "mv": lambda lib, m, v, b: lib.mv(m[:, :0], v[:0]),
    "bmm": lambda lib, m, v, b: lib.bmm(b[:, :, :0], b[:, :0]),
    "outer": lambda lib, m, v, b: lib.outer(v, v),
}


@pytest.mark.parametrize("name", NOTHING)
def test_where_nothing_is_added_bools_have_products(name: str) -> None:
    ours, theirs = (NOTHING[name](lib, *operands(lib)) for lib in (eng, torch))
    assert ours.dtype == eng.bool and ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_ndtr_of_complex_numbers_is_refused(dtype: str) -> None:
    texts = []
    for lib in (torch, eng):
        with pytest.raises(NotImplementedError) as error:
            lib.special.ndtr(lib.ones(2, dtype=getattr(lib, dtype)))
        texts.append(str(error.value).splitlines()[0])
    assert texts[0] == texts[1]
