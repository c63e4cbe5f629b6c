"""The handwritten digits that the examples train on; `data/README.md` says where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

DIGITS_CSV = Path(__file__).resolve().parent / "data" / "digits.csv"
PIXELS = 64
DARKEST = 16
TEST_EVERY = 4

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Digits:
    """Some of the images, and the digit that each one shows.

    `images` has the shape (n, 64), row-major 8 x 8 pixels scaled to 0 (paper) .. 1 (ink);
    `labels` has the shape (n,) and the type int64.
    """

    images: Array
    labels: Array

    def __len__(self) -> int:
        return len(self.labels)


def load_digits(dtype: npt.DTypeLike = np.float32, path: Path = DIGITS_CSV) -> tuple[Digits, Digits]:
    """Return (train, test): 1,348 and 449 images.

    Rows 4, 8, 12, ... of the file are the test images, all others the training images: the same split every
    time, without a random number. Raises ValueError when the file is not the table that it should be.
    """
    table = _read_table(path)
    held_out = np.arange(1, len(table) + 1) % TEST_EVERY == 0
    return _digits(table[~held_out], dtype), _digits(table[held_out], dtype)


def _read_table(path: Path) -> Array:
    """Return the rows of the file as unsigned bytes: 64 pixels, then the label."""
    table = np.loadtxt(path, delimiter=",", dtype=np.uint8, ndmin=2)
    if table.shape[1] != PIXELS + 1:
        raise ValueError(f"{path}: expected {PIXELS + 1} columns (64 pixels and a label), got {table.shape[1]}")
    if table[:, :PIXELS].max() > DARKEST or table[:, PIXELS].max() > 9:
        raise ValueError(f"{path}: a pixel is above {DARKEST} or a label above 9")
    return table


def _digits(rows: Array, dtype: npt.DTypeLike) -> Digits:
    images = rows[:, :PIXELS].astype(dtype) / np.asarray(DARKEST, dtype=dtype)
    return Digits(images=images, labels=rows[:, PIXELS].astype(np.int64))
