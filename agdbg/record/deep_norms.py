"""The norms of many values at once, from the records that summarise them: NaN or infinite where an element is."""

import numpy as np
import numpy.typing as npt

from agdbg.record.growing import Words

Norms = npt.NDArray[np.float64]
_MOST = np.finfo(np.float64).max
_NANS, _HIGH = np.uint64((1 << 32) - 1), np.uint64(32)


def norms_of(summaries: Words) -> Norms:
    """The norm of what each of these SUMMARY records tells."""
    norms = np.minimum(np.ascontiguousarray(summaries[:, 3]).view(np.float64), _MOST)
    norms[summaries[:, 5] >> _HIGH != 0] = np.inf
    norms[summaries[:, 5] & _NANS != 0] = np.nan
    return norms


def together(owners: npt.NDArray[np.integer], norms: Norms, count: int) -> Norms:
    """For each of ``count`` owners the norm of all that is its own."""
    found = np.zeros(count)
    with np.errstate(over="ignore", invalid="ignore"):
        np.hypot.at(found, owners, norms)
    found = np.minimum(found, _MOST)
    found[owners[np.isinf(norms)]] = np.inf
    found[owners[np.isnan(norms)]] = np.nan  # beside an infinity, too
    return found
