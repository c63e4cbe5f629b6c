"""The console: a debugger's command language, as a client of the protocol. ``docs/console.md`` has the commands."""

from agdbg.console.console import Console
from agdbg.console.table import COMMANDS, CommandError, Reply

__all__ = ["COMMANDS", "CommandError", "Console", "Reply"]
