"""Recurrent networks and their cells as modules."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ..creation import zeros
from ..device import same_place
from ..foreign import described, is_pytorchs, refuse
from ..ops.lists import cat, stack
from ..ops.wide.layers import recurrent as steps
from ..sites import user_stacklevel
from ..tensor import Parameter, Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import check_size
from .utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]

State = tuple[Tensor, ...]

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}
"""Rows of weights for each element of the state, by PyTorch's names of the kinds of networks."""


class RNNBase(Module):
    """Layers of a recurrent network, each in one or two directions; weights uniform in +-1/sqrt(hidden_size) at first."""

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        _check_dropout(dropout, num_layers)
        _check_types(bias=(bias, bool), batch_first=(batch_first, bool))
        for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
            _check_types(**{name: (size, int)})
            if size <= 0:
                raise ValueError(f"{name} must be greater than zero")
        _check_numbers(hidden_size, num_layers, proj_size)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional, self.proj_size = (
            batch_first,
            float(dropout),
            bidirectional,
            proj_size,
        )
        made = {"device": device, "dtype": dtype}
        rows, out = _GATES[mode] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            given = input_size if layer == 0 else out * (1 + bidirectional)
            for suffix in self._suffixes(layer):
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, given), "weight_hh": (rows, out)}
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if bias else {}
                shapes |= {"weight_hr": (proj_size, hidden_size)} if proj_size else {}
                for name, shape in shapes.items():
                    self.register_parameter(name + suffix, Parameter(zeros(shape, **made)))
        self.reset_parameters()

    def _suffixes(self, layer: int) -> Iterator[str]:
        yield f"_l{layer}"
        if self.bidirectional:
            yield f"_l{layer}_reverse"

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0.0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing: where PyTorch moves weights together for a GPU."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights by layer and direction."""
        return [self._weights(s) for layer in range(self.num_layers) for s in self._suffixes(layer)]

    def _weights(self, suffix: str) -> list[Parameter]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        found = (self._parameters.get(name + suffix) for name in names)
        return [p for p in found if p is not None]

    def extra_repr(self) -> str:
        usual = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        parts = [f"{self.input_size}, {self.hidden_size}"]
        return ", ".join(parts + [f"{n}={getattr(self, n)}" for n, v in usual.items() if getattr(self, n) != v])

    # ----- running -----

    def _step(self) -> Callable[..., State]:
        """The function that makes the next state of what comes of the input and of the state."""
        raise NotImplementedError

    def _run(self, input: Any, states: tuple[Tensor, ...] | None, sizes: tuple[int, ...]) -> tuple[Any, State]:
        """Outputs of all steps and last states; ``sizes`` are those of the states."""
        if isinstance(input, PackedSequence):
            return self._run_packed(input, states, sizes)
        if not isinstance(input, Tensor):
            _refuse_foreign(type(self).__name__, input)
        for state in () if states is None else states:
            refuse(state, type(self).__name__, "hx", 2)
        self._check_input(input)
        single = input.ndim == 2
        x = input.unsqueeze(1) if single else input.transpose(0, 1) if self.batch_first else input
        first = self._initial(x, x.shape[1], states, sizes, single)
        if not x.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        x, ends = self._layers(x, first)
        if single:
            return x.squeeze(1), tuple(e.squeeze(1) for e in ends)
        return (x.transpose(0, 1) if self.batch_first else x), ends

    def _run_packed(
        self, input: PackedSequence, states: tuple[Tensor, ...] | None, sizes: tuple[int, ...]
    ) -> tuple[PackedSequence, State]:
        """:meth:`_run` of sequences of different lengths, whose states are in the order that the sequences had."""
        data, batch_sizes, order, back = input
        self._check_packed(data)
        counts = batch_sizes.tolist()
        if states is not None and order is not None:
            states = tuple(s.index_select(1, order) for s in states)
        x, ends = self._layers(data, self._initial(data, counts[0], states, sizes, False), counts)
        if back is not None:
            ends = tuple(e.index_select(1, back) for e in ends)
        return PackedSequence(x, batch_sizes, order, back), ends

    def _layers(self, x: Tensor, states: State, counts: list[int] | None = None) -> tuple[Tensor, State]:
        """All layers: outputs and last states. ``counts`` has how many sequences each step has, if they differ."""
        self._check_places(x, states)
        last: list[State] = []
        for layer in range(self.num_layers):
            outs = []
            for suffix in self._suffixes(layer):
                at = tuple(s[len(last)] for s in states)
                out, end = self._direction(x, at, suffix, counts)
                outs.append(out)
                last.append(end)
            x = outs[0] if len(outs) == 1 else cat(outs, -1)
            if self.dropout and layer < self.num_layers - 1:
                x = F.dropout(x, self.dropout, self.training)
        return x, tuple(stack(list(parts)) for parts in zip(*last, strict=True))

    def _check_places(self, x: Tensor, states: State) -> None:
        for name, tensors in (("hidden", states), ("parameter", self._parameters.values())):
            for t in tensors:
                if t is not None and not same_place(x._a, t._a):
                    raise RuntimeError(
                        f"Input and {name} tensors are not at the same device, found input tensor at {x.device} and {name} "
                        f"tensor at {t.device}"
                    )

    def _direction(self, x: Tensor, state: State, suffix: str, counts: list[int] | None = None) -> tuple[Tensor, State]:
        """One layer in one direction: outputs of all steps and the last state."""
        p = self._parameters
        w_hh, b_hh, w_hr = p["weight_hh" + suffix], p.get("bias_hh" + suffix), p.get("weight_hr" + suffix)
        step = self._step()
        given = F.linear(x, p["weight_ih" + suffix], p.get("bias_ih" + suffix))
        from_input = given.unbind(0) if counts is None else given.split(counts)
        backwards = suffix.endswith("reverse")
        first = state
        ended: list[State] = []
        if counts is not None and backwards:
            state = tuple(s[: counts[-1]] for s in state)
        outs = []
        for at in reversed(from_input) if backwards else from_input:
            if counts is not None:
                state = _of_running(state, at.shape[0], first, ended)
            last = state
            state = step(lambda at=at: at, lambda last=last: F.linear(last[0], w_hh, b_hh), last[-1])
            if w_hr is not None:
                state = (F.linear(state[0], w_hr), *state[1:])
            outs.append(state[0])
        joined = stack if counts is None else cat
        if ended:
            state = tuple(cat(list(parts)) for parts in zip(state, *reversed(ended), strict=True))
        return joined(outs[::-1] if backwards else outs), state

    def _check_packed(self, x: Tensor) -> None:
        if not isinstance(self, LSTM):  # PyTorch leaves that one to the product
            self._check_dtype(x)
        if x.ndim != 2:
            raise RuntimeError(f"input must have 2 dimensions, got {x.ndim}")
        self._check_size(x)

    def _check_dtype(self, x: Tensor) -> None:
        own = self._weights("_l0")[0].dtype
        if x.dtype != own:
            found, wanted = f"torch.{x.dtype}", f"torch.{own}"
            raise ValueError(
                f"RNN input dtype ({found}) does not match weight dtype ({wanted}). Convert input: input.to({wanted}), or convert "
                f"model: model.to({found})"
            )

    def _check_input(self, x: Tensor) -> None:
        name = type(self).__name__
        if x.ndim not in (2, 3):
            got = f"{x.ndim}D tensor" if name == "RNN" else f"{x.ndim}D"
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {got} instead")
        self._check_dtype(x)
        self._check_size(x)

    def _check_size(self, x: Tensor) -> None:
        if x.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {x.shape[-1]}"
            )

    def _initial(
        self, x: Tensor, batch: int, states: tuple[Tensor, ...] | None, sizes: tuple[int, ...], single: bool
    ) -> State:
        """The states to begin with, (layers and directions, N, size) each."""
        n = self.num_layers * (1 + self.bidirectional)
        if states is None:
            return tuple(zeros(n, batch, size, dtype=x.dtype, device=x.device) for size in sizes)
        for at, (state, size) in enumerate(zip(states, sizes, strict=True)):
            if state.ndim != (2 if single else 3):
                kind, dims = ("unbatched 2-D", 2) if single else ("batched 3-D", 3)
                raise RuntimeError(
                    f"For {kind} input, hx should also be {dims}-D but got {state.ndim}-D tensor"
                    if len(sizes) == 1
                    else f"For {kind} input, hx and cx should also be {dims}-D but got ({states[0].ndim}-D, {states[1].ndim}-D) "
                    "tensors"
                )
            wanted = (n, size) if single else (n, batch, size)
            if tuple(state.shape) != wanted:
                what = "hidden" if len(sizes) == 1 else f"hidden[{at}]"
                shown = wanted if not single else (n, 1, size)
                found = list(state.shape) if not single else [state.shape[0], 1, state.shape[1]]
                raise RuntimeError(f"Expected {what} size {shown}, got {found}")
        return tuple(s.unsqueeze(1) for s in states) if single else states


def _of_running(state: State, count: int, first: State, ended: list[State]) -> State:
    """The states of the ``count`` longest sequences: those of others are put to ``ended``, those of new ones are the ``first``."""
    have = state[0].shape[0]
    if count < have:
        ended.append(tuple(s[count:] for s in state))
        return tuple(s[:count] for s in state)
    if count > have:
        return tuple(cat([s, f[have:count]]) for s, f in zip(state, first, strict=True))
    return state


def _refuse_foreign(name: str, x: Any) -> None:
    """:class:`TypeError` if ``x``, the input of a module called ``name``, is a tensor of PyTorch."""
    if is_pytorchs(type(x)):
        raise TypeError(f"{name}: argument 'input' (position 1) must be Tensor, not {described(x)}")


def _check_types(**values: tuple[Any, type]) -> None:
    for name, (value, kind) in values.items():
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")


def _check_dropout(dropout: Any, num_layers: int) -> None:
    if isinstance(dropout, bool) or not isinstance(dropout, int | float) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than "
            f"1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=user_stacklevel(),
        )


def _check_numbers(hidden_size: int, num_layers: int, proj_size: int) -> None:
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def _no_projection(given: dict[str, Any]) -> None:
    if "proj_size" in given:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """A recurrent network with tanh or relu: (T, N, input_size) to (T, N, hidden_size) and the last state."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As :class:`RNNBase`, with ``nonlinearity`` (``"tanh"`` or ``"relu"``) after ``num_layers``."""
        _no_projection(kwargs)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity

    def _step(self) -> Callable[..., State]:
        return steps.tanh_step if self.nonlinearity == "tanh" else steps.relu_step

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """Outputs of all steps, and the last state (layers and directions, N, hidden_size)."""
        out, (h,) = self._run(input, None if hx is None else (hx,), (self.hidden_size,))
        return out, h


class GRU(RNNBase):
    """A gated recurrent network: (T, N, input_size) to (T, N, hidden_size) and the last state."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As :class:`RNNBase`, without ``proj_size``."""
        _no_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)

    def _step(self) -> Callable[..., State]:
        return steps.gru_step

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """Outputs of all steps, and the last state (layers and directions, N, hidden_size)."""
        out, (h,) = self._run(input, None if hx is None else (hx,), (self.hidden_size,))
        return out, h


class LSTM(RNNBase):
    """Long short-term memory: (T, N, input_size) to (T, N, hidden_size) and the last output and cell.

    With ``proj_size`` outputs are projected to that size.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As :class:`RNNBase`."""
        super().__init__("LSTM", *args, **kwargs)

    def _step(self) -> Callable[..., State]:
        return steps.lstm_step

    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, tuple[Tensor, Tensor]]:
        """Outputs of all steps, and the last outputs and cells (layers and directions, N, size)."""
        out, (h, c) = self._run(input, hx, (self.proj_size or self.hidden_size, self.hidden_size))
        return out, (h, c)


# ----- cells -----


class RNNCellBase(Module):
    """One step of a recurrent network, with ``num_chunks`` rows of weights for each element of the state."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        shapes = {
            "weight_ih": (rows, input_size),
            "weight_hh": (rows, hidden_size),
            "bias_ih": (rows,),
            "bias_hh": (rows,),
        }
        for name, shape in shapes.items():
            check_size(shape if len(shape) > 1 else shape[0])
            wanted = bias or name.startswith("weight")
            self.register_parameter(name, Parameter(zeros(shape, device=device, dtype=dtype)) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0.0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else f", bias={self.bias}")

    def _next(self, step: Callable[..., State], x: Any, states: tuple[Tensor, ...] | None, count: int) -> State:
        """The next states of (N, I) or (I,), from zeros where there are none."""
        name = type(self).__name__
        if not isinstance(x, Tensor):
            _refuse_foreign(name, x)
        if x.ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {x.ndim}D instead")
        if x.shape[-1] != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {x.shape[-1]} expected {self.input_size}")
        single = x.ndim == 1
        if single:
            x = x.unsqueeze(0)
        if states is None:
            states = (zeros(x.shape[0], self.hidden_size, dtype=x.dtype, device=x.device),) * count
        elif single:
            states = tuple(s.unsqueeze(0) for s in states)
        new = step(
            lambda: F.linear(x, self.weight_ih, self.bias_ih),
            lambda: F.linear(states[0], self.weight_hh, self.bias_hh),
            states[-1],
        )
        return tuple(s.squeeze(0) for s in new) if single else new


class RNNCell(RNNCellBase):
    """One step of :class:`RNN`."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def extra_repr(self) -> str:
        return super().extra_repr() + ("" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}")

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        step = steps.tanh_step if self.nonlinearity == "tanh" else steps.relu_step
        return self._next(step, input, None if hx is None else (hx,), 1)[0]


class GRUCell(RNNCellBase):
    """One step of :class:`GRU`."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        return self._next(steps.gru_step, input, None if hx is None else (hx,), 1)[0]


class LSTMCell(RNNCellBase):
    """One step of :class:`LSTM`."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next output and cell."""
        h, c = self._next(steps.lstm_step, input, hx, 2)
        return h, c
