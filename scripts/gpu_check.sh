#!/usr/bin/env bash
# What only a GPU can show, in one run of less than 8 minutes: installs the wheel beside the CuPy and NumPy that are there,
# runs the tests of the GPU, then the benchmark, and writes one report.
#
#   scripts/gpu_check.sh [REPORT]      (default: gpu-report.txt)
#
# PYTHON names the interpreter (default: python3). The exit status is that of the tests.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
report=${1:-gpu-report.txt}
python=${PYTHON:-python3}
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT

{
    echo "# agdbg on a GPU, $(date -u +%Y-%m-%d)"
    "$python" - <<'PY'
import importlib.util
import platform

print("python", platform.python_version())
for name in ("numpy", "scipy", "cupy", "torch"):
    if importlib.util.find_spec(name) is None:
        print(name, "is not installed")
        continue
    print(name, __import__(name).__version__)
try:
    import cupy

    for i in range(cupy.cuda.runtime.getDeviceCount()):
        print("card", i, cupy.cuda.runtime.getDeviceProperties(i)["name"].decode())
except Exception as error:
    print("no usable GPU:", type(error).__name__, error)
PY
    echo
    echo "## Tests"
    "$python" -m pip install --quiet --no-deps --target "$site" . || exit 1
    for package in hypothesis expecttest pytest; do
        "$python" -c "import $package" 2> /dev/null || "$python" -m pip install --quiet --target "$site" "$package" || echo "$package cannot be had"
    done
    PYTHONPATH="$site" timeout 330 "$python" -m pytest tests/gpu -q --no-header -p no:cacheprovider
    status=$?
    echo
    echo "## Benchmark"
    PYTHONPATH="$site" timeout 120 "$python" benchmarks/gpu.py
    exit $status
} > "$report" 2>&1
status=$?
tail -n 40 "$report"
exit $status
