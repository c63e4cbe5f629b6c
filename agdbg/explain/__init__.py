"""The explanation of a trace: what was found, as data, as text, as JSON."""
