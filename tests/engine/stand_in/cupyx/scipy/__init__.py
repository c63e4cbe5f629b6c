"""Part of what stands for CuPy."""

import sys

import cupy

for _part in ("special", "linalg", "ndimage", "signal"):
    sys.modules[f"cupyx.scipy.{_part}"] = cupy.scipy(_part)
