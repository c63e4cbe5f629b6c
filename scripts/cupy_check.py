"""What can be checked of CuPy without a GPU: `python scripts/cupy_check.py`, where CuPy and CUDA's NVRTC are installed.

NVRTC, the compiler that CuPy calls at run time, needs no GPU: every kernel is compiled with it for one, in the frame and with the
headers that CuPy compiles it with. And what the engine calls of CuPy has to be there by the names that the tests of the strict
device go by. One line each that fails; the exit status is 1 then, and 2 where CuPy or NVRTC is missing.

    pip install cupy-cuda12x nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agdbg_engine.device_poisson  # declares a kernel
import agdbg_engine.optim  # noqa: F401  # declares kernels too
from agdbg_engine.cuda import spread, summary
from agdbg_engine.fused import FUSED, Fused
from agdbg_engine.rowwise import ROWWISE, THREADS

NAMES = Path(__file__).parents[1] / "tests/engine/data/cupy_api.txt"
TYPES = {
    "float64": "double", "float32": "float", "uint64": "unsigned long long", "int64": "long long", "int32": "int", "bool": "bool"
}  # fmt: skip
CUDA = {
    "cuda": "Device Stream Event get_elapsed_time get_current_stream alloc_pinned_memory PinnedMemoryPointer set_allocator",
    "cuda.memory": "OutOfMemoryError",
    "cuda.runtime": "getDevice getDeviceCount getDeviceProperties runtimeGetVersion deviceCanAccessPeer",
    "cuda.Stream": "null done priority record wait_event synchronize use from_external __enter__",
    "cuda.Event": "done record synchronize",
    "cuda.Device": "mem_info synchronize use __enter__",
    "cuda.MemoryPool": "malloc used_bytes total_bytes free_all_blocks",
    "cuda.PinnedMemoryPool": "free_all_blocks",
}
"""What `agdbg_engine.cuda` and `agdbg_engine.streams` use of devices, by its place in CuPy."""

Kernel = tuple[str, str, tuple[str, ...]]
"""Name, source and options of the compiler."""


def raw_kernels(number: str) -> Iterator[Kernel]:
    """Those that are written as a whole, for elements of the C type ``number``."""
    options = (f"-DNUMBER={number}", f"-DTHREADS={THREADS}")
    yield "summary", summary.SOURCE, options
    for bins in (0, 24):
        yield f"spread {bins}", spread.SOURCE, (*options, f"-DBINS={bins}")
    for formula in ROWWISE.values():
        yield formula.name, formula.source(), options


def elementwise(formula: Fused, number: str) -> Kernel:
    """A formula in a frame such as that of CuPy's ``ElementwiseKernel``."""

    def declared(texts: str) -> list[tuple[str, str]]:
        parts = (text.split() for text in texts.split(", "))
        return [("T" if kind == "T" else TYPES[kind], name) for kind, name in parts]

    inputs = [(f"const {kind}", kind, name) for kind, name in declared(formula.inputs)]
    outputs = [(kind, kind, name) for kind, name in declared(formula.outputs)]
    arrays = [f"CArray<{kind}, 1, true, true> of_{name}" for _, kind, name in inputs + outputs]
    elements = [f"{kind}& {name} = of_{name}[at.get()];" for kind, _, name in inputs + outputs]
    source = f"""
        #include <cupy/complex.cuh>
        #include <cupy/carray.cuh>
        #include <cupy/atomics.cuh>
        #include <cupy/math_constants.h>
        typedef {number} T;
        extern "C" __global__ void {formula.name}({", ".join(arrays)}, CIndexer<1, true> at) {{
            CUPY_FOR(i, at.size()) {{ at.set(i); {" ".join(elements)} {formula.body}; }}
        }}
    """
    return formula.name, source, ()


def folders(cupy: Any) -> list[Path]:
    """Where the headers are: CuPy's, those that it brings along, and CUDA's own where a package has them."""
    own = Path(cupy.__file__).parent / "_core/include"
    brought = [own / "cupy/_cccl" / part for part in ("libcudacxx", "thrust", "cub")]
    cuda = importlib.util.find_spec("nvidia.cuda_runtime") if importlib.util.find_spec("nvidia") else None
    return [
        own,
        *brought,
        *(Path(place) / "include" for place in (cuda.submodule_search_locations or () if cuda else ())),
    ]


def refusal(nvrtc: Any, kernel: Kernel, options: tuple[str, ...]) -> str:
    """What the compiler says of a kernel that it does not take; nothing if it does."""
    name, source, own = kernel
    program = nvrtc.createProgram(source, f"{name}.cu", [], [])
    try:
        nvrtc.compileProgram(program, (*options, *own))
    except nvrtc.NVRTCError:
        return f"{name} {' '.join(own)}: {nvrtc.getProgramLog(program)}"
    finally:
        nvrtc.destroyProgram(program)
    return ""


def unknown(cupy: Any) -> Iterator[str]:
    """Names of functions that are not in this CuPy; parts of it that need libraries of CUDA which are not there are left out."""
    for place, names in CUDA.items():
        found = cupy
        for part in place.split("."):
            found = getattr(found, part)
        yield from (f"cupy.{place}.{name}" for name in names.split() if not hasattr(found, name))
    try:
        with importlib.import_module("cupyx").errstate(linalg="raise"):
            pass
    except (AttributeError, TypeError):
        yield "cupyx.errstate(linalg=)"
    for space in NAMES.read_text().split("\n[")[1:]:
        place, _, rest = space.partition("]\n")
        try:
            found = importlib.import_module(place.removesuffix(".ndarray"))
        except ImportError as error:
            print(f"{place} is left out: {error}", file=sys.stderr)
            continue
        found = found.ndarray if place.endswith(".ndarray") else found
        listed = [line.split()[0] for line in rest.splitlines() if line and not line.startswith("#")]
        yield from (f"{place}.{name}" for name in listed if not hasattr(found, name))


def main() -> int:
    """Check the CuPy that is installed."""
    try:
        import cupy
        from cupy.cuda import nvrtc

        version = ".".join(map(str, nvrtc.getVersion()))
    except Exception as error:  # a library that is not there or does not load: whatever it is, it is to be told
        print(f"nothing to check: {type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    missing = list(unknown(cupy))
    for formula in FUSED.values():  # CuPy looks at what is declared
        cupy.ElementwiseKernel(formula.inputs, formula.outputs, formula.body, formula.name)
    kernels = [kernel for number in ("float", "double") for kernel in raw_kernels(number)]
    kernels += [elementwise(formula, number) for formula in FUSED.values() for number in ("float", "double")]
    options = ("-arch=sm_90", "--std=c++17", *(f"-I{folder}" for folder in folders(cupy)))
    refused = [text for kernel in kernels if (text := refusal(nvrtc, kernel, options))]
    for text in (*(f"{name} is not there" for name in missing), *refused):
        print(text)
    print(
        f"CuPy {cupy.__version__}, NVRTC {version}: {len(kernels)} kernels, {len(refused)} refused; {len(missing)} names missing"
    )
    return 1 if missing or refused else 0


if __name__ == "__main__":
    sys.exit(main())
