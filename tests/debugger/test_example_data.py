"""The digits of the examples: the file is the published one, and the loader always splits it the same way."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def digits_data() -> ModuleType:
    """The loader, which the examples import from their own folder."""
    spec = importlib.util.spec_from_file_location("digits_data", EXAMPLES / "digits_data.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "digits_data", module)  # dataclasses look their module up
        spec.loader.exec_module(module)
    return module


def test_the_file_is_the_one_that_its_readme_describes() -> None:
    digest = hashlib.sha256((EXAMPLES / "data" / "digits.csv").read_bytes()).hexdigest()
    assert f"`{digest}`" in (EXAMPLES / "data" / "README.md").read_text(encoding="utf-8")


def test_the_split_is_fixed_and_loses_nothing(digits_data: ModuleType) -> None:
    train, test = digits_data.load_digits()
    assert (len(train), len(test)) == (1348, 449)
    assert train.images.shape == (1348, 64)
    assert list(train.labels[:4]) == [0, 1, 2, 4]
    assert list(test.labels[:2]) == [3, 7]
    assert set(np.bincount(test.labels)) <= set(range(40, 51))


def test_pixels_are_scaled_to_one(digits_data: ModuleType) -> None:
    train, test = digits_data.load_digits(np.float64)
    assert train.images.dtype == np.float64
    assert (train.images.min(), train.images.max(), test.images.max()) == (0.0, 1.0, 1.0)
    assert float(train.images[0, 2]) == 5 / 16


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("1,2,3", "expected 65 columns"),
        (",".join(["17"] * 64 + ["3"]), "above 16"),
        (",".join(["0"] * 64 + ["10"]), "above 9"),
    ],
)
def test_a_wrong_table_is_refused(digits_data: ModuleType, tmp_path: Path, row: str, complaint: str) -> None:
    path = tmp_path / "digits.csv"
    path.write_text(row + "\n")
    with pytest.raises(ValueError, match=complaint):
        digits_data.load_digits(path=path)
