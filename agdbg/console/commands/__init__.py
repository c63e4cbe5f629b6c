"""The commands, a file for each group; importing this fills :data:`agdbg.console.table.COMMANDS`."""

import agdbg.console.commands.changing
import agdbg.console.commands.info
import agdbg.console.commands.looking
import agdbg.console.commands.moving
import agdbg.console.commands.session
import agdbg.console.commands.stopping
import agdbg.console.commands.telling  # noqa: F401  # for what they do when they are imported
