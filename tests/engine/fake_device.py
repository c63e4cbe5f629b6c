"""An array library on a pretended device: NumPy inside, but with CuPy's manners.

What would silently copy between host and device raises :class:`HostCopy`: reading a value (``item``, ``float``, ``bool``,
``__array__``), mixing in a NumPy array, indexing by one. What CuPy has not is not there either: reductions of other
ufuncs than add and multiply, ``ufunc.at`` by way of NumPy with a tuple of indices. A 0-d result stays an array.
"""

import numpy as np


class HostCopy(Exception):
    """Data would have gone from or to the device without anybody asking."""


class _Device:
    id = 0


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that lies on the device."""

    __array_priority__ = 100
    __hash__ = None
    device = _Device()

    def __init__(self, host):
        self._host = host

    # ----- what it is -----

    shape = property(lambda self: self._host.shape)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    dtype = property(lambda self: self._host.dtype)
    itemsize = property(lambda self: self._host.itemsize)
    strides = property(lambda self: self._host.strides)
    flags = property(lambda self: self._host.flags)
    base = property(lambda self: self._host.base)
    T = property(lambda self: ndarray(self._host.T))

    def __len__(self):
        return len(self._host)

    def __repr__(self):
        return f"device array of shape {self.shape} and dtype {self.dtype}"

    # ----- what copies to the host -----

    def _refuse(self, *args, **kwargs):
        raise HostCopy("a value was read from the device")

    __array__ = __float__ = __int__ = __bool__ = __index__ = __complex__ = item = tolist = _refuse

    def get(self):
        """The content as a NumPy array: the one way that asks for it."""
        return self._host

    # ----- NumPy's protocols, as far as CuPy supports them -----

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **kwargs):
        if any(isinstance(x, tuple | list) for x in inputs):
            return NotImplemented
        if method not in ("__call__", "outer", "at", "reduce"):
            return NotImplemented
        if method == "reduce" and ufunc not in (np.add, np.multiply):
            raise NotImplementedError(f"{ufunc.__name__}.reduce is not supported")
        if method == "at" and ufunc not in (np.add, np.maximum, np.minimum):
            raise NotImplementedError(f"{ufunc.__name__}.at is not supported")
        if out:
            kwargs["out"] = tuple(_host(x) for x in out)
        result = getattr(ufunc, method)(*(_host(x) for x in inputs), **kwargs)
        return None if result is None else _device(result)

    def __array_function__(self, function, types, args, kwargs):
        if function.__name__ not in FUNCTIONS:
            return NotImplemented
        args = _host_all(args)
        result = function(*args, **_host_all(kwargs))
        return result if function is np.may_share_memory else _device(result)

    # ----- methods -----

    def __getitem__(self, key):
        return _device(self._host[_key(key)])

    def __setitem__(self, key, value):
        self._host[_key(key)] = _host(value)

    def nonzero(self):
        return tuple(ndarray(a) for a in self._host.nonzero())

    def take(self, indices, axis=None):
        return _device(self._host.take(_host(indices), axis))

    def dot(self, other):
        if not isinstance(other, ndarray):
            raise TypeError("dot takes a device array")
        return _device(self._host.dot(other._host))


def _method(name, *allowed):
    def method(self, *args, **kwargs):
        if set(kwargs) - set(allowed):
            raise TypeError(f"{name}() got an unexpected keyword argument among {sorted(kwargs)}")
        return _device(getattr(self._host, name)(*args, **kwargs))

    method.__name__ = name
    return method


for _name, _allowed in {
    "copy": "order", "astype": "dtype copy", "view": "dtype", "reshape": "order", "transpose": "", "swapaxes": "",
    "squeeze": "axis", "round": "decimals", "sum": "axis dtype out keepdims", "max": "axis out keepdims",
    "min": "axis out keepdims", "all": "axis out keepdims", "any": "axis out keepdims", "argmax": "axis out dtype keepdims",
    "argmin": "axis out dtype keepdims", "clip": "out",
}.items():  # fmt: skip
    setattr(ndarray, _name, _method(_name, *_allowed.split()))

FUNCTIONS = {
    "where", "zeros_like", "ones_like", "full_like", "broadcast_to", "broadcast_arrays", "concatenate", "stack",
    "take_along_axis", "expand_dims", "argmax", "argmin", "nonzero", "copyto", "allclose", "sum", "amax", "squeeze", "angle", "sinc",
    "nan_to_num", "einsum", "may_share_memory", "swapaxes", "cumsum", "cumprod", "sort", "argsort", "partition", "argpartition",
    "flip", "moveaxis", "bincount", "searchsorted", "unique", "flatnonzero", "diff", "isin", "take", "empty_like",
}  # fmt: skip
"""Functions of NumPy that CuPy has too (those that anybody here calls)."""


def _host(x):
    """An operand as NumPy takes it; NumPy arrays may not be among the operands."""
    if isinstance(x, ndarray):
        return x._host
    if isinstance(x, np.ndarray):
        raise HostCopy(f"a NumPy array of shape {x.shape} was mixed in")
    return x


def _host_all(value):
    if isinstance(value, tuple | list):
        return type(value)(_host_all(v) for v in value)
    return {k: _host_all(v) for k, v in value.items()} if isinstance(value, dict) else _host(value)


def _device(result):
    if isinstance(result, tuple | list):
        return type(result)(_device(r) for r in result)
    return ndarray(result if isinstance(result, np.ndarray) else np.asarray(result))


def _key(key):
    return tuple(_host(k) for k in key) if isinstance(key, tuple) else _host(key)


# ----- the module's own functions -----


def put(array):
    """A NumPy array as a device array: the one way that asks for it."""
    return ndarray(array.copy("K") if isinstance(array, np.ndarray) else np.array(array))


def zeros(shape, dtype=float):
    return ndarray(np.zeros(shape, dtype))


def empty(shape, dtype=float):
    return ndarray(np.empty(shape, dtype))


def ones(shape, dtype=float):
    return ndarray(np.ones(shape, dtype))


def ascontiguousarray(array):
    return ndarray(np.ascontiguousarray(array._host))


class lib:
    """The part of ``lib`` that is used here."""

    class stride_tricks:
        """Views by hand."""

        @staticmethod
        def as_strided(array, shape, strides):
            return ndarray(np.lib.stride_tricks.as_strided(array._host, shape, strides))


def arange(*args, dtype=None):
    return ndarray(np.arange(*args, dtype=dtype))


def asarray(value, dtype=None):
    """A list or NumPy array given by the user, on the device."""
    return value if isinstance(value, ndarray) and dtype is None else ndarray(np.array(_host_of(value), dtype))


def _host_of(value):
    return value._host if isinstance(value, ndarray) else value


def full(shape, value, dtype=None):
    return ndarray(np.full(shape, _host(value), dtype))


def linspace(start, stop, num, dtype=None):
    return ndarray(np.linspace(start, stop, num, dtype=dtype))


class _Grid:
    def __getitem__(self, key):
        made = np.ogrid[key]
        return [ndarray(a) for a in made] if isinstance(made, tuple | list) else ndarray(made)


ogrid = _Grid()


class add:
    """The part of the ufunc that NumPy cannot reach."""

    @staticmethod
    def at(array, indices, values):
        np.add.at(array._host, _key(indices), _host(values))
