"""The classes of the UI, for tests that ask something of each of them."""

import importlib
import pkgutil

from textual.widget import Widget

import agdbg_ui


def all_of_the_ui():
    """Every widget and screen class there is."""
    modules = [importlib.import_module(each.name) for each in pkgutil.walk_packages(agdbg_ui.__path__, "agdbg_ui.")]
    values = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    return {each for each in values if issubclass(each, Widget) and each.__module__.startswith("agdbg_ui.")}
