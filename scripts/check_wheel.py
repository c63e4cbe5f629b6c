"""Build the wheel from a clean copy, look into it, install it into an empty environment and import it.

`python scripts/check_wheel.py`: exit status 0 when the wheel holds every file of the three packages and
nothing else, and the three packages and the command work where nothing but the wheel was installed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from sizes import ROOT, project_files

# Folder of each package in the repository -> its folder in the wheel.
PACKAGES = {"agdbg": "agdbg", "engine/agdbg_engine": "agdbg_engine", "ui/agdbg_ui": "agdbg_ui"}
IMPORT_ALL = "import agdbg, agdbg_engine, agdbg_ui"


def main() -> int:
    """Check the wheel; return the exit status."""
    with tempfile.TemporaryDirectory(prefix="agdbg-wheel-") as scratch:
        wheel = build(Path(scratch))
        problems = check_content(wheel) or check_installed(wheel, Path(scratch) / "venv")
    for problem in problems:
        print(f"wheel: {problem}", file=sys.stderr)
    if not problems:
        print(f"{wheel.name}: complete, installs and imports")
    return int(bool(problems))


def build(scratch: Path) -> Path:
    """Build the wheel from a copy, where no stale `build/` folder can add files to it."""
    source = scratch / "source"
    for path in project_files():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, source / path)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(scratch),
        str(source),
    ]
    subprocess.run(pip, check=True)
    (wheel,) = scratch.glob("*.whl")
    return wheel


def expected_files() -> set[str]:
    """Return the files that belong into the wheel: all of the three packages'."""
    found = set()
    for path in map(Path.as_posix, project_files()):
        for folder, package in PACKAGES.items():
            if path.startswith(folder + "/"):
                found.add(package + path.removeprefix(folder))
    return found


def check_content(wheel: Path) -> list[str]:
    """Compare the wheel's files with those of the three packages."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = expected_files()
    expected |= {f"{package}/py.typed" for package in PACKAGES.values()}
    missing = [f"{name} is missing" for name in sorted(expected - names)]
    return missing + [f"{name} does not belong into it" for name in sorted(names - expected)]


def check_installed(wheel: Path, folder: Path) -> list[str]:
    """Install the wheel into an empty environment; import the packages and run the command there."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", str(wheel)]
    subprocess.run(pip, check=True)
    commands = [[python, "-c", IMPORT_ALL], [str(folder / "bin" / "agdbg"), "--help"]]
    return [problem for command in commands if (problem := fault(command, folder))]


def fault(command: list[str], folder: Path) -> str:
    """Run a command outside the repository; return what went wrong, or an empty text."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{' '.join(command)} failed:\n{done.stderr}"


if __name__ == "__main__":
    sys.exit(main())
