"""Reports on a trace that are no findings: the hooks in the order in which they fire, the views of a memory, what memory is held.

Each report is a plain value, which ``dataclasses.asdict`` turns into JSON, and a function that makes text of it.
"""
