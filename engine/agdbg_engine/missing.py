"""What is said about a name that a module has not: one line, with the reason, or with the nearest name that it has."""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

_PACKAGE = __package__

REASONS: dict[str, str] = {
    "bfloat16 BFloat16Tensor": "NumPy has no such dtype, so that the engine has none: use float32, which has its range, "
    "or float16, which has its size",
    "float8_* float4_*": "NumPy has no such dtype, so that the engine has none: use float16",
    "complex32 chalf": "NumPy has no complex numbers of float16, so that the engine has none: use complex64",
    "uint16 uint32 uint64": "PyTorch has few ops of unsigned integers but uint8: use int32 or int64",
    "int[1-7] uint[1-7] qint* quint* quantize_* quantized* quantizable quantization fake_quant* "
    "fused_moving_avg_obs_fake_quant dequantize q_* int_repr qscheme per_channel_* per_tensor_* fbgemm_* "
    "choose_qparams_optimized ao intrinsic qat": "no tensors are quantized here",
    "sparse sparse_* to_sparse* SparseAdam hspmm hsmm spmm sspaddmm smm dsmm coalesce is_coalesced dense_dim resize_as_sparse_ "
    "jagged *col_indices* *row_indices* crow_indices*": "all tensors are dense here",
    "compile compiler jit fx export onnx Script* *ScriptModule *ScriptFunction CompilationUnit import_ir_module* parse_ir "
    "parse_schema parse_type_comment": "nothing is compiled here, so that every op can be seen: leave it out",
    "vmap": "no function is mapped over a batch here: write the dimension of the batch out",
    "functionalize": "functions are not traced here, so that they may write in place: leave it out",
    "debug_unwrap": "tensors are not wrapped in a transform here: look at the tensor itself, or at its detach()",
    "set_override_stale_capture_stream": "no graphs of CUDA calls are captured here: leave it out",
    "_autograd_function_id _compiled_autograd_* _get_compiled_autograd_symints": "nothing is compiled here: leave it out",
    "_set_sequence_nr": "passes run nodes in the order of these numbers, which is that in which they were made",
    "_is_pure_view": "it can be set and not read",
    "_register_hook": "use register_hook() of the tensor or of the node",
    "distributed parallel DataParallel DistributedSampler": "programs run in one process here",
    "distributions": "the engine has the functions that draw, such as randn_like, bernoulli and multinomial",
    "channels_last channels_last_3d": "tensors have one order of memory here, with the same results: leave it out",
    "profiler": "run the script under agdbg, which tells what each node takes",
    "Stream Event": "use those of cuda, or cuda.current_stream()",
    "CUDAGraph graphs make_graphed_callables graph_pool_handle": "kernels are launched one by one here, so that every op "
    "can be seen: call the function itself",
    "*_per_process_memory_fraction MemPool use_mem_pool CUDAPluggableAllocator caching_allocator_*": (
        "CuPy's pool allocates: use its functions, such as cupy.get_default_memory_pool().set_limit(fraction=0.5)"
    ),
    "utilization temperature power_draw clock_rate device_memory_used list_gpu_processes": "use nvidia-smi, which tells it",
    "nccl": "programs run in one process here",
    "cudart cudaStatus CudaError check_error": "use cupy.cuda.runtime",
    "set_sync_debug_mode get_sync_debug_mode": "docs/gpu.md says what waits for the device",
    "tunable jiterator": "CuPy chooses the kernels: use cupy.ElementwiseKernel for one of your own",
    "memory_snapshot": "use agdbg_engine.held.report(), which tells what graphs hold",
    "hub model_zoo": "nothing is downloaded here: load the file with load()",
    "multiprocessing share_memory_": "programs run in one process here",
    "nested to_padded_tensor": "all tensors are rectangular here: pad them, with nn.utils.rnn.pad_sequence for one",
    "lobpcg": "use linalg.eigh",
    "binomial": "add up bernoulli() over a dimension of trials",
    "CrossMapLRN2d": "use LocalResponseNorm: that of PyTorch keeps the first channel in all its windows, and its "
    "gradient is wrong",
    "range": "use arange, which ends before its end",
    "frombuffer from_dlpack to_dlpack": "use from_numpy(numpy.frombuffer(...)) or from_numpy(numpy.from_dlpack(...))",
    "sym_* Sym*": "sizes are plain integers here: use Python's int, max, min and sum",
    "get_autocast_*_dtype set_autocast_*_dtype is_autocast_*_enabled set_autocast_*_enabled autocast_*_nesting "
    "*_autocast_cache*": "use autocast(device_type, dtype=...)",
    "cudnn_* miopen_* mkldnn_* to_mkldnn mps mtia xpu ipu": "NumPy and CuPy compute here: use the function itself, such "
    "as nn.functional.conv2d",
    "AggregationType AliasDb AnyType Argument ArgumentSpec AwaitType Benchmark* Block "
    "BoolType BufferDict CallStack Capsule ClassType "
    "CompleteArgumentSpec ComplexType ConcreteModuleType* DeepCopyMemoTable *StorageContext DeviceObjType DictType DispatchKey* "
    "DisableTorchFunction* EnumType ErrorReport ExcludeDispatchKeyGuard ExecutionPlan FatalError FileCheck FunctionSchema "
    "FutureType "
    "Graph GraphExecutorState IODescriptor InferredType IntType InterfaceType JITException ListType LockingLogger LoggerBase "
    "NoneType NoopLogger NumberType OperatorInfo OptionalType PyObjectType PyTorchFile* RRefType StaticModule "
    "StreamObjType StringType Tag ThroughputBenchmark TracingState TupleType Type UnionType Use Value merge_type_from_type_comment "
    "unify_type_list PRIVATE_OPS USE_* monitor return_types get_file_path profiler_allow_* prepare_multiprocessing_environment "
    "AVG SUM cpp classproperty BroadcastingList? "
    "swap_in_optimizer_params_and_state assert_int_or_pair boolean_dispatch": "an inner part of PyTorch",
    "Container": "use Sequential, ModuleList or ModuleDict",
    "thread_safe_generator": "use Generator(), one for each thread",
    "is_distributed is_vulkan_available": "programs run in one process here, on the CPU or by CuPy",
    "eig symeig": "use linalg.eig, or linalg.eigh of a symmetric matrix",
    "lstsq solve matrix_rank": "use the function of that name in linalg",
    "conv_tbc": "use conv1d, with the dimensions permuted",
    "lstm gru": "use nn.LSTM and nn.GRU, which hold the weights",
    "frobenius_norm": "use linalg.matrix_norm or linalg.vector_norm",
    "norm_except_dim": "use nn.utils.parametrizations.weight_norm",
    "batch_norm_*": "use nn.functional.batch_norm",
    "while_loop": "write the loop in Python: every round of it is recorded",
    "rearrange": "use reshape() and permute()",
    "set_flush_denormal": "NumPy keeps numbers that are so small: leave it out",
    "set_warn_always": 'use warnings.simplefilter("always")',
    "set_deterministic_debug_mode get_deterministic_debug_mode": "use use_deterministic_algorithms(mode, warn_only=...)",
    "fork wait futures Future": "nothing runs beside the program here: call the function",
    "has_lapack has_mkl has_openmp has_spectral has_magma compiled_with_cxx11_abi": "numpy.show_config() tells what "
    "NumPy was built with",
    "from_file": "use from_numpy(numpy.memmap(...))",
    "quasirandom": "use scipy.stats.qmc, and from_numpy()",
    "library classes": "a new op is a subclass of autograd.Function here",
    "bit bits*": "NumPy has no dtype of less than a byte: use uint8",
    "package serialization": "use save() and load()",
    "scaled_mm scaled_grouped_mm ScalingType SwizzleType": "NumPy has no dtype of a byte with a scale beside it: use matmul",
    "fuse_* fusion": "modules are not fused here, so that every op can be seen",
    "skip_init": "make the module itself",
    "MaskedTensor as_masked_tensor is_masked_tensor masked_tensor": "use the functions of masked with mask=...",
    "utils.data.IterDataPipe utils.data.DFIterDataPipe utils.data.DataChunk": "use IterableDataset",
    "utils.data.MapDataPipe": "use Dataset",
    "utils.data.argument_validation utils.data.functional_datapipe utils.data.guaranteed_datapipes_determinism "
    "utils.data.non_deterministic utils.data.runtime_validation* utils.data.datapipes utils.data.graph*": "there are no "
    "datapipes here: use Dataset and IterableDataset",
    "cuda.graph": "kernels are launched one by one here, so that every op can be seen: call the function itself",
    "cuda.*Tensor": 'use tensor(data, dtype=..., device="cuda")',
    "cuda.DeferredCudaCallError cuda.AcceleratorError": "use cupy.cuda.runtime.CUDARuntimeError",
    "cuda.current_blas_handle cuda.current_solver_handle": "use cupy.cuda.device.get_cublas_handle, or get_cusolver_handle",
    "cuda.default_generators": "use cuda.manual_seed and cuda.get_rng_state",
    "cuda.get_allocator_backend cuda.change_current_allocator cuda.memory_usage cuda.*host_memory_stats*": "CuPy's pools "
    "allocate: cupy.get_default_memory_pool() and cupy.get_default_pinned_memory_pool() tell of them",
    "cuda.get_arch_list cuda.get_gencode_flags cuda.has_half": "CuPy compiles kernels for the device that there is",
    "cuda.get_stream_from_external": "use cuda.ExternalStream",
    "cuda.GreenContext": "use cuda.Stream",
    "cuda.random": "use cuda.manual_seed, cuda.get_rng_state and cuda.set_rng_state",
    "reinforce": "multiply the log of the probability by the reward, and take the gradient of that",
    "hash_tensor": "use hash(x.numpy().tobytes())",
    "apply_ map_ map2_": "a function of Python for every element leaves no history: use ops",
    "untyped_storage storage_type is_storage UntypedStorage TypedStorage Storage StorageBase BoolStorage ByteStorage CharStorage "
    "ShortStorage IntStorage LongStorage HalfStorage FloatStorage DoubleStorage BFloat16Storage Complex*Storage Q*Storage set_ "
    "const_data_ptr": (
        "memory is NumPy's here, CuPy's on a GPU: numpy() shows that of the CPU and data_ptr() says where it is"
    ),
}
"""Patterns of names that PyTorch has and the engine has not, with the reason or the way out."""

_BY_PATTERN = {
    pattern: why for patterns, why in REASONS.items() for pattern in patterns.split() if set(pattern) & set("*?[")
}
_BY_NAME = {name: why for names, why in REASONS.items() for name in names.split() if name not in _BY_PATTERN}
PRIVATE = tuple(name for name in _BY_NAME if name.startswith("_"))
"""Those with an underscore, which objects have."""


def reason(name: str) -> str | None:
    """Why the engine has no ``name``, or no ``module.name``; ``None`` where there is nothing to say."""
    return _BY_NAME.get(name) or next((why for pattern, why in _BY_PATTERN.items() if fnmatchcase(name, pattern)), None)


def with_reason(first_line: str, name: str) -> str:
    """An error's text, with a second line if ``name`` is one that the engine has not: why, and what to use."""
    why = reason(name)
    return first_line if why is None else f"{first_line}\n{name}: {why}"


def missing(module: str, name: str, known: Iterable[str]) -> Exception:
    """The error for ``name``, which ``module`` has not; it has the names ``known``. To be called in its ``__getattr__``."""
    asks = sys._getframe(2)
    if asks.f_code.co_filename == "<frozen importlib._bootstrap>":  # it asks for every module that it has yet to import
        return AttributeError(f"module '{module}' has no attribute '{name}'")
    text = _reason_in(module, name) or hint(name, known, module=module)
    if text and asks.f_code.co_code[asks.f_lasti] == _IMPORT_FROM:  # Python's own error would leave the hint out
        return ImportError(f"cannot import name '{name}' from '{module}'{text}", name=name)
    return AttributeError(f"module '{module}' has no attribute '{name}'{text}")


_IMPORT_FROM = dis.opmap["IMPORT_FROM"]
CUTOFF = 0.7
"""How much two names must have in common, 1 being all, for one to be taken for a slip of the other."""


LEAST = 4
"""How many letters that a longer name begins with are taken for it."""

_OF_MODULES = frozenset(("compile", "share_memory"))
"""Of all names with a reason those that modules of PyTorch have as attributes: others are the program's own words."""


def _reason_in(module: str, name: str) -> str:
    """What to add where a name is missing from one ``module`` of PyTorch's and means something else in others."""
    why = reason(f"{module.removeprefix(f'{_PACKAGE}.')}.{name}")
    return f": {why}" if why else ""


def hint(name: str, known: Iterable[str], reasons: bool = True, module: str = "") -> str:
    """What to add to an error about ``name``: why it is not there, or the nearest of the names ``known``; empty for neither.

    With the ``module`` that was asked also where else it is: in another module, or a name there that is nearer than any here.
    """
    if name.startswith("__"):
        return ""
    why = reason(name) if reasons else None
    if why is not None:
        return f": {why}"
    if name.startswith("_"):
        return ""
    own = tuple(known)
    near = _nearest(name, own)
    place = _other_place(name, near) if module else None
    if place is not None:
        exact = place.rpartition(".")[2] == name
        return f"; {'there is' if exact else 'the nearest is'} {place}"
    return f"; the nearest that it has is '{near}'" if near else ""


@functools.lru_cache(128)  # hasattr() may ask the same thousands of times
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    import difflib  # here, since nobody pays for it who makes no mistake

    near = difflib.get_close_matches(name, known, 1, CUTOFF) or _one_letter_off(name, known)
    if near:
        return near[0]
    longer = [n for n in known if n.startswith(name)] if len(name) >= LEAST else []
    return min(longer, key=len, default=None)  # of those that were cut short the one with the least left out


def _one_letter_off(name: str, known: tuple[str, ...]) -> list[str]:
    """What a ``name`` of three letters, too short to have much in common with another, is but for one letter or their order.

    Of several that with the most first letters of it.
    """
    if len(name) != 3:
        return []
    near = [n for n in known if len(n) == 3 and (set(n) == set(name) or sum(map(str.__ne__, n, name)) == 1)]
    return sorted(near, key=lambda n: [a != b for a, b in zip(n, name, strict=True)])


@functools.lru_cache(128)
def _other_place(name: str, near: str | None) -> str | None:
    """Where else ``name`` is; where it is nowhere, a name that is still nearer to it than ``near``."""
    import difflib

    places = _places()
    if name in places:
        return places[name]
    others = difflib.get_close_matches(name, places, 1, _CUTOFF_ELSEWHERE)
    if not others or (near is not None and _alike(name, near) >= _alike(name, others[0])):
        return None
    return places[others[0]]


def _alike(a: str, b: str) -> float:
    import difflib

    return difflib.SequenceMatcher(None, b, a).ratio()


_CUTOFF_ELSEWHERE = 0.85
_PLACES = (
    "", "nn.functional", "linalg", "fft", "special", "nn", "optim", "optim.lr_scheduler", "autograd",
    "func", "nn.init", "nn.utils", "nn.utils.rnn", "nn.utils.parametrize", "nn.utils.parametrizations", "utils.data",
    "utils.checkpoint", "amp", "signal.windows", "masked", "testing", "random", "cuda",
)  # fmt: skip
"""The modules whose names scripts may look for elsewhere: of those that are in several the first tells."""


@functools.cache
def _places() -> dict[str, str]:
    """Full names by the last part of them; those of tensors' methods too."""
    import importlib

    package = sys.modules[_PACKAGE]
    if getattr(package.__spec__, "_initializing", False):  # not all of it is there yet
        return {}
    found: dict[str, str] = {}
    for place in _PLACES:
        path = f"{_PACKAGE}.{place}".removesuffix(".")
        owner = package if not place else importlib.import_module(path)
        listed = vars(owner).get("__dir__")
        names = [*owner.__all__] if listed is None else listed()
        if not place:
            names += owner.ops.FUNCTIONS
        for name in names:
            if not name.startswith("_"):
                found.setdefault(name, f"{path}.{name}")
    for name in dir(package.Tensor):
        if not name.startswith("_"):
            found.setdefault(name, f"{_PACKAGE}.Tensor.{name}")
    return found


def unknown_attribute(self: Any, name: str) -> AttributeError:
    """The error for an attribute that an object has not, in Python's words with the nearest name."""
    try:
        known = [] if name.startswith("_") else [n for n in dir(self) if not n.startswith("_")]
    except AttributeError:  # it is asked before its __init__ was
        known = []
    text = hint(name, known, reasons=name in _OF_MODULES) if known else ""
    return AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{text}", name=name, obj=self)


def missing_attribute(owner: str, name: str) -> AttributeError:
    """``owner``, an object or a type as Python names it, has no ``name``."""
    why = reason(name) if name.startswith("_") else None
    return AttributeError(f"{owner} has no attribute '{name}'" + (f": {why}" if why else ""))


def public_names(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a ``module`` that has what its ``__all__`` names."""

    def __getattr__(name: str) -> Any:
        raise missing(module, name, sys.modules[module].__all__)

    return __getattr__


def lookup(module: str, functions: Mapping[str, Any]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a ``module`` that has ``functions``."""

    def __getattr__(name: str) -> Any:
        if name not in functions:
            raise missing(module, name, functions)
        return functions[name]

    return __getattr__


OF_TENSORS = (
    "bfloat16", "chalf", "to_sparse", "to_sparse_coo", "to_sparse_csr", "to_sparse_csc", "to_sparse_bsr",
    "to_sparse_bsc", "apply_", "map_", "map2_", "untyped_storage", "storage_type", "set_", "const_data_ptr",
    "share_memory_", "dequantize", "int_repr", "qscheme", "q_scale", "q_zero_point", "q_per_channel_scales",
    "q_per_channel_zero_points", "q_per_channel_axis", "coalesce", "is_coalesced", "sparse_dim", "dense_dim",
    "sparse_mask", "sparse_resize_", "sparse_resize_and_clear_", "resize_as_sparse_", "crow_indices", "col_indices",
    "ccol_indices", "row_indices", "smm", "sspaddmm", "to_padded_tensor", "to_mkldnn", "mtia", "xpu", "ipu", "eig",
    "symeig", "lstsq", "solve", "reinforce", "hash_tensor",
)  # fmt: skip
"""Methods of PyTorch's tensors that are there to tell why they are not."""


def refusing(name: str, as_: str = "") -> Callable[..., Any]:
    """A method ``name`` that tells why it is not there."""

    why = reason(as_ or name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name}() is not supported: {why}")

    method.__name__ = name
    method.__doc__ = f"Not supported: {why}."
    return method
