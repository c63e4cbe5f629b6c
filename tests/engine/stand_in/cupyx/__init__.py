"""Part of what stands for CuPy."""
