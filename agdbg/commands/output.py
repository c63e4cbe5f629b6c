"""Results on standard output."""

import io
import json
import sys


def print_json(value: object) -> None:
    """Print one JSON document; all of it is ASCII, whatever the terminal's encoding."""
    print(json.dumps(value, indent=1))


def print_text(text: str) -> None:
    """Print text; a character that the terminal's encoding lacks is printed as its number."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    print(text)
