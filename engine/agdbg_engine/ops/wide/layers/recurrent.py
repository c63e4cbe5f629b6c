"""Steps of recurrent networks, of ops that broadcast over the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....tensor import Tensor
from ... import _generated as g
from ...explain import shape_error
from ...lists import unsafe_chunk
from ..declare import public

Maybe = Tensor | None
State = tuple[Tensor, ...]
Part = Callable[[], Tensor]


def _linear(x: Tensor, weight: Tensor, bias: Maybe) -> Tensor:
    from ....nn.functional import linear

    out: Tensor = linear(x, weight, bias)
    return out


# ----- from what comes of the input and of the state, which is computed when PyTorch does -----


def lstm_step(from_input: Part, from_state: Part, c: Tensor) -> State:
    """The next output and cell."""
    i, f, n, o = unsafe_chunk(from_state() + from_input(), 4, -1)
    i, f, n, o = i.sigmoid(), f.sigmoid(), n.tanh(), o.sigmoid()
    c = f * c + i * n
    return o * c.tanh(), c


def gru_step(from_input: Part, from_state: Part, h: Tensor) -> State:
    """The next output."""
    ri, zi, ni = unsafe_chunk(from_input(), 3, -1)
    rh, zh, nh = unsafe_chunk(from_state(), 3, -1)
    r, z = (rh + ri).sigmoid(), (zh + zi).sigmoid()
    n = (ni + nh * r).tanh()
    return ((h - n) * z + n,)


def tanh_step(from_input: Part, from_state: Part, h: Tensor) -> State:
    """The next output."""
    return ((from_state() + from_input()).tanh(),)


def relu_step(from_input: Part, from_state: Part, h: Tensor) -> State:
    """The next output."""
    return (g.relu(from_state() + from_input()),)


# ----- single cells -----


def _checked(name: str, x: Tensor, h: Tensor, w_ih: Tensor, w_hh: Tensor) -> None:
    if x.shape[-1] != w_ih.shape[1]:
        raise shape_error(f"input has inconsistent input_size: got {x.shape[-1]} expected {w_ih.shape[1]}")
    if h.shape[-1] != w_hh.shape[1]:
        raise shape_error(f"hidden0 has inconsistent hidden_size: got {h.shape[-1]}, expected {w_hh.shape[1]}")
    if x.ndim > 1 and x.shape[0] != h.shape[0]:
        raise shape_error(f"Input batch size {x.shape[0]} doesn't match hidden0 batch size {h.shape[0]}")


@public("torch")
def lstm_cell(
    input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Maybe = None, b_hh: Maybe = None
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: the next output and cell from the input (N, I) and ``hx``, the last ones (N, H)."""
    h, c = hx
    _checked("lstm_cell", input, h, w_ih, w_hh)
    h, c = lstm_step(lambda: _linear(input, w_ih, b_ih), lambda: _linear(hx[0], w_hh, b_hh), c)
    return h, c


def _cell(name: str, step: Callable[..., State], what: str) -> None:
    def cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Maybe = None, b_hh: Maybe = None) -> Tensor:
        _checked(name, input, hx, w_ih, w_hh)
        return step(lambda: _linear(input, w_ih, b_ih), lambda: _linear(hx, w_hh, b_hh), hx)[0]

    cell.__name__ = cell.__qualname__ = name
    cell.__doc__ = f"One step of {what}: the next output from the input (N, I) and the last one (N, H)."
    public("torch")(cell)


_cell("gru_cell", gru_step, "a GRU")
_cell("rnn_tanh_cell", tanh_step, "a recurrent network with tanh")
_cell("rnn_relu_cell", relu_step, "a recurrent network with relu")
