"""What Textual computes anew for each app, and so for each test: the rules of its style sheets, and how many parameters callbacks take.

Both follow from their text alone, and together they are an eighth of the time of a test.
"""

from textual import _callback
from textual.css.stylesheet import Stylesheet

_parse_rules, _count_parameters = Stylesheet._parse_rules, _callback._count_parameters
_rules = {}
_counts = {}


def _rules_once(sheet, css, read_from, is_default_rules=False, tie_breaker=0, scope=""):
    source = css, read_from, is_default_rules, tie_breaker, scope
    key = source, frozenset(sheet._variables.items())
    if key not in _rules:
        _rules[key] = _parse_rules(sheet, *source)
    return _rules[key]


def _count_once(func):
    function = getattr(func, "__func__", func)
    code = getattr(function, "__code__", None)
    if code is None or {"__wrapped__", "__signature__"} & vars(function).keys():
        return _count_parameters(func)
    key = code, function is func
    if key not in _counts:
        _counts[key] = _count_parameters(func)
    return _counts[key]


def install():
    """For all tests of this process."""
    Stylesheet._parse_rules = _rules_once
    _callback._count_parameters = _count_once
