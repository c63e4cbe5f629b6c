"""Who answers the requests; importing this fills the table :data:`agdbg.hub.call.HANDLERS`."""

import agdbg.hub.handlers.beginning
import agdbg.hub.handlers.breaking
import agdbg.hub.handlers.control
import agdbg.hub.handlers.graph
import agdbg.hub.handlers.hand
import agdbg.hub.handlers.inspecting
import agdbg.hub.handlers.looking
import agdbg.hub.handlers.program
import agdbg.hub.handlers.stepping
import agdbg.hub.handlers.variables
import agdbg.hub.handlers.watching  # noqa: F401  # for what they do when they are imported
