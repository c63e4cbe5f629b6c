"""The Debug Adapter Protocol as agdbg speaks it; ``docs/protocol.md`` describes it.

``messages`` has every message type, ``check`` tests what came in, ``wire`` frames, ``client`` and ``async_client``
talk to a hub. Nothing here knows an engine, a trace or a terminal.
"""
