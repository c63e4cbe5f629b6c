"""What the first frame does not wait for: what serves the panes, and the screens that lie over them.

Their modules are imported where they are used, not at the top of a file that the first frame needs, and all of them by
:func:`load` while the hub starts, so that no key waits for them either.
"""

import pkgutil
from importlib import import_module

import agdbg_ui


def load() -> None:
    """Import every module of the terminal UI."""
    for module in pkgutil.walk_packages(agdbg_ui.__path__, "agdbg_ui."):
        import_module(module.name)
