"""For all tests: with CI set, hypothesis draws the same examples every time; elsewhere it explores."""

import gc
import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "explore")


def pytest_collection_finish():
    """The tests themselves are nothing to look through each time that garbage is collected: they stay to the end."""
    gc.collect()
    gc.freeze()
