"""An array library on a pretended device: NumPy's memory with CuPy's manners, and stricter than CuPy where that finds faults.

What would copy between host and device without anybody asking is refused: reading a value (``item``, ``float``, ``bool``,
``tolist``, ``get``, a mask as an index, results whose size depends on values) unless the test says
:func:`allowed_host_reads`; conversion by ``__array__``; NumPy arrays, 0-d ones too, among operands. As indices, and as what is put at them, CuPy takes them and
copies them to the device, and so does this: there the engine is to look by itself. Functions,
ufuncs, methods and parameters that CuPy lacks (:mod:`cupy_api`) are not here either, nor are dtypes that it lacks. Ufuncs have no
methods by way of NumPy's dispatch, as in CuPy. A 0-d result stays an array.

There are two devices (:mod:`strict_streams`): nothing is computed on arrays of one that is not the current one, whereas CuPy reads
them from there, if it can, and puts the result on the current one.

Every refusal is noted in :data:`refusals`, so that a test sees it even where somebody caught the exception. The module itself is
what ``array_module`` gives: it has CuPy's functions by CuPy's names.
"""

import importlib
import types
import weakref

import agdbg_tests_cupy_api as cupy_api
import agdbg_tests_strict_refusals as refusing
import numpy as np
from agdbg_tests_strict_manners import MANNERS, attempted, in_order, linalg_errors, uploaded
from agdbg_tests_strict_refusals import Flags, HostRead, Missing, Mixed, Pointer
from agdbg_tests_strict_streams import (
    COUNT,
    Device,
    Elsewhere,
    Event,
    Stream,
    get_current_stream,
    get_elapsed_time,
    here,
)
from agdbg_tests_strict_words import spread_words, words

from agdbg_engine.backends import Backend, MemoryUse, register
from agdbg_engine.cuda.memory import Peaks, out_of_memory

allowed_host_reads, refusals, copies = refusing.allowed_host_reads, refusing.refusals, refusing.copies
_read, _refuse = refusing.read, refusing.refuse
SUPPORTED = "?bhilqBHILQefdFD"
"""The type codes of the dtypes of CuPy."""


# ----- the array -----

_owners = weakref.WeakValueDictionary()
"""By the identity of NumPy's array that owns the memory: the device array on it, so that ``base`` is always the same object."""


def _alive():
    arrays = [known() for known in _owners.valuerefs()]  # a list at once: other threads make arrays meanwhile
    return [a for a in arrays if a is not None]


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that lies on the device; ``_host`` is for this module only."""

    __array_priority__ = 100
    __hash__ = None

    def __init__(self, host, dtype=None, memptr=None, strides=None, device=None):
        self.device = (memptr.device if memptr else device) or Device()
        if not isinstance(
            host, np.ndarray
        ):  # as CuPy's: a shape, a dtype, a place in memory that lies in order, strides
            empty = 0 in host
            host = np.ndarray(host, dtype, memptr.array, 0 if empty else memptr.offset, strides)
        if host.dtype.char not in SUPPORTED:
            _refuse(Missing, f"dtype {host.dtype} on the device")
        self._host = host
        if host.base is None:
            _owners[id(host)] = self
            BACKEND.made(self)

    # ----- what it is -----

    shape = property(lambda self: self._host.shape)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    dtype = property(lambda self: self._host.dtype)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    strides = property(lambda self: self._host.strides)
    data = property(lambda self: Pointer(self._host, device=self.device))
    T = property(lambda self: self._of(self._host.T))
    mT = property(lambda self: self._of(self._host.mT))
    imag = property(lambda self: self._of(self._host.imag))

    def _of(self, host):
        return ndarray(host, device=self.device)

    @property
    def real(self):
        """The real part: a view of complex numbers, the array itself of others."""
        return self._of(self._host.real) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value):
        _at_home(self)._host.real = _host(value)

    @imag.setter
    def imag(self, value):
        _at_home(self)._host.imag = _host(value)

    @property
    def flags(self):
        """Layout only: nothing on the device is read-only."""
        given = self._host.flags
        return Flags(given.c_contiguous, given.f_contiguous, given.owndata)

    @property
    def base(self):
        """The array that owns the memory, ``None`` where that is this one."""
        owner = self._host
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if owner is self._host:
            return None
        known = _owners.get(id(owner))
        return self._of(owner) if known is None else known

    def __len__(self):
        return len(self._host)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"<device array of shape {self.shape} and dtype {self.dtype}>"

    # ----- what copies to the host -----

    def __array__(self, dtype=None, copy=None):
        if refusing.asks(refusing.asker()):
            return self._host.astype(dtype or self.dtype)
        _refuse(Mixed, "Implicit conversion to a NumPy array is not allowed. Please use `.get()`: __array__")

    def get(self, order="C"):
        """The content as a NumPy array of its own; ``"A"`` is Fortran's order where the elements lie in it."""
        _read("get")
        return self._host.copy(order)

    # ----- NumPy's protocols, as far as CuPy supports them -----

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if any(isinstance(x, tuple | list) for x in inputs):
            return NotImplemented
        if method != "__call__":
            _refuse(Missing, f"{ufunc.__name__}.{method} by way of NumPy")
        return _run("cupy", ufunc.__name__, ufunc, inputs, kwargs)

    def __array_function__(self, function, types, args, kwargs):
        return _run(function.__module__.replace("numpy", "cupy", 1), function.__name__, function, args, kwargs)

    # ----- indexing -----

    def __getitem__(self, key):
        if _masks(key):
            _read("a mask as an index")
        arrays = [k for k in (key if isinstance(key, tuple) else (key,)) if hasattr(k, "dtype") or isinstance(k, list)]
        found = (_at_home(self) if arrays else self)._host[_key(key)]
        return self._of(in_order("take" if arrays else "", np.asarray(found)))

    def __setitem__(self, key, value):
        if len(_masks(key)) > 1:
            _refuse(Missing, "an index of several masks")
        if _masks(key):
            _read("a mask at which values are put")
        keys = key if isinstance(key, tuple) else (key,)
        if (
            isinstance(value, np.ndarray)
            and value.ndim
            and not any(hasattr(k, "dtype") or isinstance(k, list) for k in keys)
        ):
            _refuse(Mixed, f"a NumPy array of shape {value.shape} put at slices: CuPy copies it at index arrays only")
        _at_home(self)._host[_key(key)] = _sent(value)

    def take(self, indices, axis=None, out=None):
        """Elements by flat position, or slices along ``axis``."""
        return _device(_host(self).take(_sent(indices), axis))

    def dot(self, other):
        """The product with another device array."""
        return _device(_host(self).dot(_host(other)))


def _reading(name):
    def read(self, *args):
        _read(name)
        return getattr(self._host, name)(*args)

    return read


for _name in ("item", "tolist", "__float__", "__int__", "__bool__", "__index__", "__complex__", "tobytes", "dump"):
    setattr(ndarray, _name, _reading(_name))


def _method(name, allowed):
    def method(self, *args, **kwargs):
        if allowed is not None and set(kwargs) - allowed:
            _refuse(Missing, f"ndarray.{name} has no argument {', '.join(sorted(set(kwargs) - allowed))}")
        if name in SIZED_BY_VALUES:
            _read(name)
        found = getattr(self._host, name)(*_host_all(args), **_host_all(kwargs))
        if isinstance(found, np.ndarray) and np.may_share_memory(found, self._host):
            return self._of(found)
        _at_home(self)
        if isinstance(found, np.ndarray) and found.base is not None:
            found = found.copy("K")  # NumPy's reshape gives a part of its copy, CuPy's the copy
        return _device(in_order(name, found))

    method.__name__ = name
    return method


_REDUCES = "axis dtype out keepdims"
_KEYWORDS = {
    "copy": "order", "astype": "dtype order casting subok copy", "view": "dtype", "reshape": "order", "squeeze": "axis",
    "round": "decimals out", "max": "axis out keepdims", "min": "axis out keepdims", "all": "axis out keepdims",
    "any": "axis out keepdims", "clip": "min max out", "sort": "axis", "argsort": "axis", "partition": "axis",
    "argpartition": "axis", "std": "axis dtype out ddof keepdims", "var": "axis dtype out ddof keepdims",
    **dict.fromkeys(("sum", "prod", "mean", "argmax", "argmin"), _REDUCES), **dict.fromkeys(("cumsum", "cumprod"), "axis dtype out"),
}  # fmt: skip
SIZED_BY_VALUES = {
    "nonzero", "flatnonzero", "argwhere", "unique", "extract", "compress", "histogram", "intersect1d", "setdiff1d",
    "union1d", "setxor1d",
}  # fmt: skip
"""Functions that must read from the device to know how large their result is."""

for _name, (_kind, _) in cupy_api.API["cupy.ndarray"].items():
    if _kind == "method" and _name not in vars(ndarray) and hasattr(np.ndarray, _name):
        setattr(ndarray, _name, _method(_name, set(_KEYWORDS[_name].split()) if _name in _KEYWORDS else None))

# ----- operands and results -----


def _host(x):
    """An operand as NumPy takes it; NumPy arrays may not be among the operands."""
    if isinstance(x, ndarray):
        return _at_home(x)._host
    if isinstance(x, np.ndarray):
        _refuse(Mixed, f"a NumPy array of shape {x.shape} and dtype {x.dtype} among device arrays")
    return x


def _at_home(x):
    """``x``, with which something is to be computed: on its own device."""
    if x.device.id != here():
        _refuse(Elsewhere, f"an array of shape {x.shape} on device {x.device.id} while {here()} is the current one")
    return x


def _host_all(value):
    if type(value) is ndarray:  # at once: most are
        return _at_home(value)._host
    if isinstance(value, tuple | list):
        items = [_host_all(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return {k: _host_all(v) for k, v in value.items()} if isinstance(value, dict) else _host(value)


def _device(result):
    if isinstance(result, tuple | list):
        items = [_device(r) for r in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    if isinstance(result, np.ndarray | np.generic):
        return ndarray(result if isinstance(result, np.ndarray) else np.asarray(result))
    return result


def _sent(x):
    """An index, or what is put at one: CuPy copies NumPy's arrays to the device by itself."""
    return x if isinstance(x, np.ndarray) else _host(x)


def _key(key):
    return tuple(_sent(k) for k in key) if isinstance(key, tuple) else _sent(key)


def _masks(key):
    keys = key if isinstance(key, tuple) else (key,)
    return [k for k in keys if isinstance(k, ndarray | np.ndarray) and k.dtype.kind == "b"]


# ----- the functions -----

_VIEWS = {
    "may_share_memory", "shares_memory", "shape", "ndim", "size", "broadcast_to", "moveaxis", "swapaxes", "expand_dims", "transpose",
    "squeeze",
}  # fmt: skip
"""Functions that compute nothing: the current device does not matter."""

_ON_DEVICE = {"allclose", "array_equal", "array_equiv", "count_nonzero", "isclose", "linalg.matrix_rank"}
"""Functions whose result NumPy gives as a number of Python, CuPy as a 0-d array."""


def _run(space, name, function, args, kwargs):
    """``function`` of NumPy on the memory of device arrays, if CuPy has it."""
    why = f"{space} does not exist" if space not in cupy_api.API else cupy_api.refusal(space, name, len(args), kwargs)
    if why is not None:
        _refuse(Missing, why)
    Stream.work[name] = get_current_stream()
    if name in MANNERS:
        MANNERS[name](*args, **kwargs)
    if name in SIZED_BY_VALUES or (name == "where" and len(args) == 1):
        _read(name)
    if name == "repeat" and any(isinstance(x, ndarray) for x in (*args[1:2], kwargs.get("repeats"))):
        _read("repeat by an array of counts")
    if name in ("take", "take_along_axis") and isinstance(args[0], ndarray):
        return _device(function(_host(args[0]), _sent(args[1]), *args[2:], **kwargs))
    out = kwargs.get("out")
    if name in _VIEWS and isinstance(args[0], ndarray):
        with args[0].device:
            return _device(_writable(function(*_host_all(args), **_host_all(kwargs))))
    operands = _host_all(args)
    result = attempted(function, operands, _host_all(kwargs))
    if isinstance(function, np.ufunc) and function.signature is None:
        result = _as_cupys(space, name, operands[: function.nin], result, kwargs)
    if out is not None:
        return out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if name == "diagonal":
        result = _writable(result)
    return _device(np.asarray(result) if name in _ON_DEVICE else in_order(name, result))


def _writable(result):
    """``result`` without NumPy's mark of what is read-only (parts of expanded memory): nothing on the device is."""
    if isinstance(result, np.ndarray) and not result.flags.writeable:
        result.flags.writeable = True
    return result


def _as_cupys(space, name, operands, result, kwargs):
    """The result of a ufunc in the dtype of CuPy's, which does not take all dtypes that NumPy's takes."""
    if kwargs.get("dtype") is not None:
        return result
    kinds = [getattr(x, "dtype", None) for x in operands]
    if None in kinds:
        common = np.result_type(*operands)  # which a number of Python goes along with
        kinds = [common if kind is None else kind for kind in kinds]
    gives = cupy_api.loop(space, name, *kinds)
    if gives is None:
        _refuse(Missing, f"{space}.{name} of {', '.join(map(str, kinds))}")
    if kwargs.get("out") is not None:
        return result
    if isinstance(result, tuple):
        return tuple(x.astype(code, copy=False) for x, code in zip(result, gives, strict=True))
    return result.astype(gives, copy=False)


# ----- what makes functions -----


_CREATE = {"asarray", "array", "ascontiguousarray", "asfortranarray", "asanyarray"}
"""Functions that take lists and NumPy arrays: they are the way to ask for a copy to the device."""


class _Ufunc:
    """A ufunc of the device library, with the methods that CuPy's have."""

    def __init__(self, ufunc):
        self.__name__ = ufunc.__name__
        self._ufunc = ufunc

    def __call__(self, *args, **kwargs):
        return _run("cupy", self.__name__, self._ufunc, args, kwargs)

    def _by(self, method, *args, **kwargs):
        allowed = cupy_api.UFUNC_METHODS[method]
        if allowed is not None and self.__name__ not in allowed:
            _refuse(Missing, f"cupy.{self.__name__}.{method}")
        if method == "at" and args[0].dtype.char not in cupy_api.AT[self.__name__]:
            _refuse(Missing, f"cupy.{self.__name__}.at of {args[0].dtype}")
        if any(isinstance(x, ndarray) and x.dtype.kind == "b" for x in args[1:2]):
            _read("a mask as an index")
        return _device(in_order(method, getattr(self._ufunc, method)(*_host_all(args), **_host_all(kwargs))))

    def __getattr__(self, name):
        if name not in cupy_api.UFUNC_METHODS:
            raise AttributeError(name)
        return lambda *args, **kwargs: self._by(name, *args, **kwargs)


def _function(space, name, function):
    def call(*args, **kwargs):
        if name == "array":
            kwargs.pop("blocking", None)
        if (
            name in _CREATE
            and isinstance(args[0], ndarray)
            and name != "array"
            and kwargs.get("dtype") is None
            and len(args) == 1
        ):
            _at_home(args[0])
            return ndarray(function(args[0]._host)) if name.startswith("asc") or name.startswith("asf") else args[0]
        if name in _CREATE:
            first = args[0]._host if isinstance(args[0], ndarray) else uploaded(first_of(args[0]))
            return ndarray(np.array(function(first, *args[1:], **kwargs)))
        return _run(space, name, function, args, kwargs)

    call.__name__ = name
    return call


def first_of(data):
    """What is to be uploaded; device arrays in lists may not be."""
    if isinstance(data, list | tuple):
        return [first_of(x) for x in data]
    if isinstance(data, ndarray):
        _refuse(HostRead, "a list of device arrays made an array")
    return data


class _Space(types.SimpleNamespace):
    """A namespace such as ``linalg``."""

    def __init__(self, space, source):
        super().__init__(_space=space, _source=source)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _find(self._space, self._source, name)


def _find(space, source, name):
    found = getattr(source, name)  # AttributeError where there is none
    if isinstance(found, np.ufunc) and space == "cupy":
        if name not in cupy_api.API[space]:
            _refuse(Missing, f"{space}.{name} does not exist")
        return _Ufunc(found)
    if isinstance(found, type) or not callable(found):
        return found  # dtypes and constants
    if name not in cupy_api.API[space]:
        _refuse(Missing, f"{space}.{name} does not exist")
    return _function(space, name, found)


linalg = _Space("cupy.linalg", np.linalg)
fft = _Space("cupy.fft", np.fft)
lib = types.SimpleNamespace(stride_tricks=_Space("cupy.lib.stride_tricks", np.lib.stride_tricks))


class _Grid:
    def __getitem__(self, key):
        return _device(np.ogrid[key])


ogrid = _Grid()


def __getattr__(name):
    if name.startswith("__") or name in ("random", "lib"):
        raise AttributeError(name)
    return _find("cupy", np, name)


def scipy(part):
    """What stands for ``cupyx.scipy``: ``special``, ``linalg``, ``ndimage`` on device arrays."""
    return _Space(f"cupyx.scipy.{part}", importlib.import_module(f"scipy.{part}"))


cuda = types.SimpleNamespace(
    Device=Device, Stream=Stream, Event=Event, get_current_stream=get_current_stream, get_elapsed_time=get_elapsed_time
)


class Strict(Backend):
    """The two pretended devices; ``limit`` is how many bytes each has."""

    def __init__(self):
        super().__init__("strict", __name__, scipy)
        self.limit = 1 << 40
        self.peaks = Peaks(self)
        self.cached = 0
        self.locked = []

    def count(self):
        """As many as there are in :mod:`strict_streams`."""
        return COUNT

    def current(self):
        """That of this thread."""
        return here()

    def on(self, index):
        """As CuPy's."""
        return Device(index)

    def use(self, index):
        """As CuPy's."""
        Device(index).use()

    def linalg_errors(self):
        """As ``cupyx.errstate(linalg="raise")``."""
        return linalg_errors()

    summing = False
    """Whether it finds what arrays are like by itself, as CUDA's kernel does: see :mod:`agdbg_engine.summaries`."""

    def ask(self, array):
        """The words of the kernel, by NumPy."""
        if not self.summing:
            return None
        with self.on(array.device.id), np.errstate(all="ignore"):
            return ndarray(words(array._host.ravel()))

    def ask_spread(self, array, mean, edges):
        """The words of the kernel, by NumPy."""
        return ndarray(spread_words(array._host.ravel(), mean, edges))

    def answers(self, words):
        """As on CUDA: whoever asks wants to read."""
        with allowed_host_reads():
            return super().answers(words)

    def to_host(self, array, blocking=True):
        """As on CUDA: what nobody waits for comes into a part of pinned memory."""
        found = array.get(order="A")
        if blocking:
            return found
        part = np.empty(found.size, found.dtype).reshape(found.shape)
        part[...] = found
        self.locked.append(part)
        return part

    def memory(self, index):
        """Bytes of the arrays that are alive."""
        used = sum(a.nbytes for a in _alive() if a.device.id == index)
        return MemoryUse(used, used + self.cached, self.limit - used, self.limit)

    def free_cached(self):
        """Nothing is kept any more."""
        self.cached = 0

    def pinned(self, array):
        """A copy that is known as pinned."""
        self.locked.append(array.copy("K"))
        return self.locked[-1]

    def is_pinned(self, array):
        """Whether it is such a copy, or a part of one."""
        return any(np.may_share_memory(array, kept) for kept in self.locked)

    def made(self, array):
        """Memory was asked for."""
        index = array.device.id
        if self.limit < 1 << 40 and self.memory(index).allocated > self.limit:
            del _owners[id(array._host)]
            raise out_of_memory(self, index, array.nbytes)
        self.peaks.see(index, array.nbytes)


BACKEND = Strict()
register(BACKEND)

# ----- what only tests do -----


PLACE = f"strict:{COUNT - 1}"
"""The device that is not the current one of a thread."""


def put(array, index=0):
    """A copy of a NumPy array (or number, list) on the device, at its place in a copy of the memory that it is a part of."""
    device = Device(index)
    if not isinstance(array, np.ndarray):
        return ndarray(np.array(array), device=device)
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if owner is array or not owner.flags.c_contiguous or 0 in array.shape:
        return ndarray(array.copy("K"), device=device)
    place = array.ctypes.data - owner.ctypes.data
    return ndarray(np.ndarray(array.shape, array.dtype, owner.copy(), place, array.strides), device=device)


def host(array):
    """The content of a device array: for the tests' own comparisons."""
    assert type(array) is ndarray, type(array)
    return array._host
