"""Print how big the project is, `python scripts/sizes.py [--top N]`: lines of each part, the longest files.

Size is reviewed: a file holds one idea, and most are 75 to 200 lines long. A file above LIMIT lines fails the
tests unless a program wrote it (GENERATED).
"""

from __future__ import annotations

import argparse
import os
import subprocess
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 600
WRITTEN_BY_HAND = {".py", ".md", ".toml", ".tcss", ".css", ".js", ".html", ".sh", ""}

# Files that a program wrote, as patterns of their path below the root ("*" also matches "/").
GENERATED = ("*/_generated.py", "docs/ops.*", "screenshots/*.svg", "*/__snapshots__/*", "*/golden/*")

# For a copy without git: what is never part of the project.
NOT_OURS = {"__pycache__", "build", "dist", "node_modules"}


def project_files(root: Path = ROOT) -> list[Path]:
    """Return the project's files, relative to the root and sorted: what git tracks or would track.

    In a copy that is not a git checkout, all files except those in hidden and in build folders.
    """
    listing = _git_listing(root) if (root / ".git").exists() else None
    found = _walk(root) if listing is None else listing
    return sorted(path for path in found if (root / path).is_file())


def _git_listing(root: Path) -> list[Path] | None:
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [Path(name) for name in done.stdout.split("\0") if name]


def _walk(root: Path) -> list[Path]:
    found: list[Path] = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if _is_ours(name)]
        found += [(Path(folder) / name).relative_to(root) for name in names]
    return found


def _is_ours(folder: str) -> bool:
    if folder in NOT_OURS or folder.endswith(".egg-info"):
        return False
    return folder == ".ci" or not folder.startswith(".")


def is_generated(path: Path) -> bool:
    """Return whether a program wrote the file (a path relative to the root)."""
    return any(fnmatch(path.as_posix(), pattern) for pattern in GENERATED)


def hand_written(root: Path = ROOT) -> dict[Path, int]:
    """Return the number of lines of every file that people wrote and read."""
    kept = [p for p in project_files(root) if p.suffix in WRITTEN_BY_HAND and not is_generated(p)]
    return {path: len((root / path).read_bytes().splitlines()) for path in kept}


def too_long(root: Path = ROOT) -> dict[Path, int]:
    """Return the files above LIMIT lines."""
    return {path: lines for path, lines in hand_written(root).items() if lines > LIMIT}


def part_of(path: Path) -> str:
    """Return the part of the project that a file belongs to: its top folder, or "." for the root."""
    return path.parts[0] if len(path.parts) > 1 else "."


def print_table(lines_of: dict[Path, int], top: int) -> None:
    """Print one line for each part, then the largest files."""
    parts: dict[str, list[int]] = defaultdict(list)
    for path, lines in lines_of.items():
        parts[part_of(path)].append(lines)
    print(f"{'part':<12} {'files':>6} {'lines':>8} {'median':>7} {'longest':>8}")
    for part, sizes in sorted(parts.items(), key=lambda item: -sum(item[1])):
        print(f"{part:<12} {len(sizes):>6} {sum(sizes):>8,} {median(sizes):>7.0f} {max(sizes):>8,}")
    print(f"{'all':<12} {len(lines_of):>6} {sum(lines_of.values()):>8,}")
    print(f"\nthe {min(top, len(lines_of))} longest files (limit {LIMIT})")
    for path, lines in sorted(lines_of.items(), key=lambda item: -item[1])[:top]:
        print(f"{lines:>8,}  {path.as_posix()}")


def main() -> None:
    """Print the table for this checkout."""
    parser = argparse.ArgumentParser(description="Print the lines of each part and the longest files.")
    parser.add_argument("--top", type=int, default=15, help="how many of the longest files to list (default: 15)")
    print_table(hand_written(), parser.parse_args().top)


if __name__ == "__main__":
    main()
