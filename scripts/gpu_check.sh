#!/usr/bin/env bash
# What only a GPU can show, in one run of less than 8 minutes on a machine that may reach nothing: the package is installed beside the
# CuPy and NumPy that are there, then come a first look, the tests and the benchmark, and all goes into one report.
#
#   scripts/gpu_check.sh [--wheels DIR] [REPORT]      (default: gpu-report.txt)
#
# DIR holds wheels that were carried along: agdbg's own (made by `pip wheel --no-deps -w DIR .`), and of what the machine lacks (pytest
# and its parts, hypothesis). Nothing is downloaded. Without a wheel it is built here, by the setuptools that is there; where that is not
# possible either, the source is used as it lies. Without pytest or hypothesis the tests are left out, and the report says so.
#
# PYTHON names the interpreter (default: python3), SECONDS_ALLOWED the limit (default: 460). The exit status is 0 if all that was run
# was well.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
wheels=
if [ "${1:-}" = --wheels ]; then
    wheels=$(cd "${2:?--wheels needs a folder}" && pwd) || exit 2
    shift 2
fi
report=${1:-gpu-report.txt}
python=${PYTHON:-python3}
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
SECONDS=0
failed=0

benchmark=90 # seconds that are kept for it, whatever the tests take

left() { # seconds for a part that may take at most $1, of all that are left but $2
    local rest=$((${SECONDS_ALLOWED:-460} - SECONDS - $2))
    echo $((rest < 1 ? 1 : rest < $1 ? rest : $1))
}

install() { # into $site, nothing downloaded
    "$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target "$site" "$@"
}

get_package() {
    if [ -n "$wheels" ]; then
        install "$wheels"/*.whl || echo "some of $wheels could not be installed"
        [ -d "$site/agdbg_engine" ] && return
    fi
    mkdir "$site/.built" && "$python" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w "$site/.built" . &&
        install "$site"/.built/*.whl && return
    echo "no wheel can be built here: the source is used as it lies"
    site_path=$PWD/engine:$PWD:$PWD/ui
}

# -P, here and where tests run others: else the folder of the source comes first on the path, and its agdbg is what is tested
source_of_tests() { # says it, and fails where the package was installed and is not what is tested
    PYTHONPATH="$path" "$python" -P - "$site_path" << 'PY'
import sys
from importlib.util import find_spec
from pathlib import Path

places = {name: Path(find_spec(name).origin).parent for name in ("agdbg", "agdbg_engine")}
print("tested:", ", ".join(f"{name} from {place}" for name, place in places.items()))
installed = ":" not in sys.argv[1]
if installed and any(Path(sys.argv[1]).resolve() not in place.resolve().parents for place in places.values()):
    sys.exit(f"FAILED: that is not the wheel installed in {sys.argv[1]}; take a Python on whose path (PYTHONPATH, .pth) no other agdbg comes first")
PY
}

has() { PYTHONPATH="$path" "$python" -c "import $1" 2> /dev/null; }

part() { # a title, seconds at most, seconds to keep for what follows, a command
    local title=$1 limit status
    limit=$(left "$2" "$3")
    shift 3
    echo
    echo "## $title"
    PYTHONPATH="$path" PYTHONUNBUFFERED=1 timeout "$limit" "$@" 2>&1
    status=$?
    [ $status = 124 ] && echo "stopped after $limit s"
    [ $status = 0 ] || failed=1
    echo "($title: exit status $status, $SECONDS s since the beginning)"
}

{
    echo "# agdbg on a GPU, $(date -u +%Y-%m-%d)"
    "$python" - << 'PY'
import importlib.util
import platform

print("python", platform.python_version())
for name in ("numpy", "scipy", "cupy", "torch", "pytest", "hypothesis", "xdist", "setuptools"):
    if importlib.util.find_spec(name) is None:
        print(name, "is not installed")
        continue
    try:
        print(name, getattr(__import__(name), "__version__", ""))
    except Exception as error:  # a broken installation is worth a line, not the run
        print(name, "cannot be imported:", type(error).__name__, error)
try:
    import cupy

    for i in range(cupy.cuda.runtime.getDeviceCount()):
        print("card", i, cupy.cuda.runtime.getDeviceProperties(i)["name"].decode())
except Exception as error:
    print("no usable GPU:", type(error).__name__, error)
PY
    site_path=$site
    get_package
    path=$site_path${PYTHONPATH:+:$PYTHONPATH}
    source_of_tests || failed=1
    part "First look" 60 $benchmark "$python" scripts/gpu_smoke.py
    if has pytest && has hypothesis; then
        workers=()
        has xdist && workers=(-n 8) # CuPy compiles a kernel at its first use: most of the time goes into that
        for what in "not suite" suite; do
            part "Tests: $what" 400 $benchmark "$python" -P -m pytest tests/gpu -k "$what" -q --no-header --tb=short -p no:cacheprovider -W default \
                -o faulthandler_timeout=0 "${workers[@]}"
        done
    else
        echo
        echo "The tests are left out: pytest and hypothesis are needed; carry their wheels along with --wheels."
    fi
    part "Benchmark" $benchmark 0 "$python" benchmarks/gpu.py
    exit $failed
} > "$report" 2>&1
status=$?
tail -n 60 "$report"
exit $status
