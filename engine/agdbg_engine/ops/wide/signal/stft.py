"""Fourier transforms of overlapping windows of a signal, and the way back: made of the transforms of :mod:`.functions`."""

from __future__ import annotations

from typing import Any

from ....dtype import scalar_type
from ....several import at_home
from ....tensor import Tensor
from ...complexes import view_as_real
from ...explain import shape_error
from ...kernel_names import type_name
from ...mixed_devices import together
from ...shape import expand, narrow, reshape, squeeze, transpose, unsqueeze
from ..declare import OPS, public
from ..indexing.reading import seen
from ..resampling.pad_modes import pad
from ..shapes.sliding import unfold
from .functions import fft, ifft, irfft, rfft


def _told(x: Any, kind: str) -> str:
    return "None" if x is None else f"{type_name(x.dtype)}{kind}"


def _flag(x: bool | None) -> str:
    return "None" if x is None else str(int(x))


def _widened(window: Tensor, n_fft: int) -> Tensor:
    """``window`` with zeros around it."""
    left = (n_fft - window.shape[0]) // 2
    return pad(window, (left, n_fft - window.shape[0] - left)) if window.shape[0] < n_fft else window


def _one_sided(onesided: bool | None, complex_: bool) -> bool:
    if onesided and complex_:
        raise shape_error("Cannot have onesided output if window or input is complex")
    return not complex_ if onesided is None else bool(onesided)


@public("torch Tensor")
def stft(
    self: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
    return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Tensor:  # fmt: skip
    """Fourier transforms of the windows of a signal (L) or of several (B, L): (B, frequencies, windows).

    The windows are ``hop_length`` (``n_fft // 4``) apart; with ``center`` the signal is padded so that they lie around their
    place. Of real signals only the first half of the frequencies is given, unless ``onesided`` is false. Complex numbers, or
    with ``return_complex=False`` a last dimension of size 2.
    """
    together(self, window, "stft input and window must be on the same device but got self on {0} and window on {1}")
    if center and align_to_window is not None:
        raise shape_error("stft align_to_window should only be set when center = false")
    x, batched = self, self.ndim != 1
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if center:
        wide = reshape(x, (*(1,) * (3 - x.ndim), *x.shape))
        wide = pad(wide, (n_fft // 2, n_fft // 2), mode=pad_mode)
        x = reshape(wide, wide.shape[3 - self.ndim :] if self.ndim < 3 else wide.shape)
    complex_ = x.dtype.kind == "c" or (window is not None and window.dtype.kind == "c")
    if return_complex is None:
        if not complex_:
            raise shape_error(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        return_complex = True
    _check_stft(x, n_fft, hop, length, window, normalized, onesided, return_complex, align_to_window)
    onesided = _one_sided(onesided, complex_)
    x = x if batched else unsqueeze(x, 0)
    size = n_fft
    if not center and align_to_window:
        size = length
        window_of, left = window, (n_fft - length) // 2
    else:
        window_of, left = window, 0
        if length < n_fft:
            window_of = _widened(_ones(length, x) if window is None else window, n_fft)
    frames = unfold(x, -1, size, hop)
    if window_of is not None:
        frames = frames * window_of
    if size < n_fft:
        frames = pad(frames, (left, n_fft - size - left))
    norm = "ortho" if normalized else None
    out = rfft(frames, norm=norm) if onesided else fft(frames, norm=norm)
    out.transpose_(1, 2)
    if not batched:
        out.squeeze_(0)
    return out if return_complex else view_as_real(out)


def _ones(n: int, like: Tensor) -> Tensor:
    from ....creation import ones

    return ones(n, dtype=like.dtype if like.dtype.kind == "f" else like._a.real.dtype, device=like.device)


def _check_stft(
    x: Tensor, n_fft: int, hop: int, length: int, window: Any, normalized: bool, onesided: Any, return_complex: bool,
    align: Any,
) -> None:  # fmt: skip
    sizes = "" if window is None else f"{{{list(window.shape)}}}"
    call = (
        f"stft({_told(x, str(list(x.shape)))}, n_fft={n_fft}, hop_length={hop}, win_length={length}, "
        f"window={_told(window, sizes)}, normalized={_flag(normalized)}, onesided={_flag(onesided)}, "
        f"return_complex={_flag(return_complex)}, align_to_window={_flag(align)}) "
    )
    n = x.shape[-1] if x.ndim else 0
    if x.dtype.kind not in "fc":
        raise shape_error(f"{call}: expected a tensor of floating point or complex values")
    if x.ndim not in (1, 2):
        raise shape_error(f"{call}: expected a 1D or 2D tensor")
    if not 0 < n_fft <= n:
        raise shape_error(f"{call}: expected 0 < n_fft < {n}, but got n_fft={n_fft}")
    if hop <= 0:
        raise shape_error(f"{call}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise shape_error(f"{call}: expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and window.shape != (length,):
        raise shape_error(
            f"{call}: expected a 1D window tensor of size equal to win_length={length}, but got window with size "
            f"{list(window.shape)}"
        )


# ----- back -----


@public("torch Tensor")
def istft(
    self: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
    return_complex: bool = False,
) -> Tensor:  # fmt: skip
    """The signal (L) or signals (B, L) of which :func:`stft` made ``self``: windows added up and divided by their squares.

    An error where these vanish. With ``length`` the signal is cut or padded with zeros to it.
    """
    together(self, window, "istft input and window must be on the same device but got self on {0} and window on {1}")
    hop = n_fft // 4 if hop_length is None else hop_length
    size = n_fft if win_length is None else win_length
    if self.dtype.kind != "c":
        raise shape_error(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    sizes = "" if window is None else f"{{{list(window.shape)}}}"
    call = (
        f"istft(CPU{scalar_type(self.dtype)}Type{list(self.shape)}, n_fft={n_fft}, hop_length={hop}, win_length={size}, "
        f"window={_told(window, sizes)}, center={_flag(center)}, normalized={_flag(normalized)}, onesided={_flag(onesided)}, "
        f"length={length}, return_complex={_flag(return_complex)}) "
    )
    if not self.numel():
        raise shape_error(f"{call}: input tensor cannot be empty.")
    if self.ndim not in (2, 3):
        raise shape_error(f"{call}: expected a tensor with 3 or 4 dimensions, but got {self.ndim + 1}")
    onesided = self.shape[-2] != n_fft if onesided is None else onesided
    _check_istft(call, self, n_fft, hop, size, window, onesided, return_complex)
    x = transpose(self if self.ndim == 3 else unsqueeze(self, 0), 1, 2)
    norm = "ortho" if normalized else None
    if return_complex:
        frames = ifft(x, norm=norm)
    else:
        half = x if onesided else narrow(x, -1, 0, n_fft // 2 + 1)
        frames = irfft(half, n_fft, norm=norm)
    taken = _widened(_ones(size, self) if window is None else window, n_fft)
    out = _added_up(call, frames * taken, taken, n_fft, hop, center, length)
    return out if self.ndim == 3 else squeeze(out, 0)


def _check_istft(
    call: str, x: Tensor, n_fft: int, hop: int, size: int, window: Any, onesided: bool, return_complex: bool
) -> None:
    if return_complex:
        _one_sided(onesided, True)
    elif window is not None and window.dtype.kind == "c":
        raise shape_error("Complex windows are incompatible with return_complex=False")
    have = x.shape[-2]
    wanted, told, half = (n_fft // 2 + 1, "n_fft / 2 + 1", True) if onesided else (n_fft, "n_fft", False)
    if have != wanted:
        raise shape_error(
            f"{call}: expected the frequency dimension (3rd to the last) of the input tensor to match {told} when onesided={half}, "
            f"but got {have}"
        )
    if not 0 < hop <= size:
        raise shape_error(f"{call}: expected 0 < hop_length <= win_length")
    if not 0 < size <= n_fft:
        raise shape_error(f"{call}: expected 0 < win_length <= n_fft")
    if window is not None and window.shape != (size,):
        raise shape_error(f"{call}: Invalid window shape. window has to be 1D and length of `win_length`")


@at_home
def _added_up(
    call: str, frames: Tensor, window: Tensor, n_fft: int, hop: int, center: bool, length: int | None
) -> Tensor:
    """The windowed ``frames`` (B, windows, n_fft) added where they lie, over the sum of the squared windows there."""
    batch, n = frames.shape[:2]
    total = n_fft + hop * (n - 1)
    back = OPS["unfold_backward"]
    out: Tensor = back(frames, (batch, total), 1, n_fft, hop)
    squares = expand(reshape(window.pow(2), (1, 1, n_fft)), (1, n, n_fft))
    weight: Tensor = back(squares, (1, total), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - start
    stop = max(min(end, total), start)
    out, weight = (narrow(x, 1, start, stop - start) for x in (out, weight))
    if seen(~(abs(weight._a) > 1e-11)):
        raise shape_error(f"{call}window overlap add min: 1")
    out = out / weight
    return pad(out, (0, end - total)) if end > total else out
