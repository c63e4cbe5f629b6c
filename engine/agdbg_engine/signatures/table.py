"""The table of forms: one line for each, read when the first function is asked for."""

from __future__ import annotations

import functools
import re

from .kinds import Parameter
from .signature import Signature

_LINE = re.compile(r"(?P<kind>[\w.?]+?)(?P<list>\[\d*\])?(?P<none>\?)? (?P<name>\w+)(?:=(?P<default>.*))?")


@functools.cache
def _lines() -> dict[str, tuple[str, list[str]]]:
    from ._generated import ROWS

    found: dict[str, tuple[str, list[str]]] = {}
    for row in ROWS.strip().splitlines():
        names, _, form = row.partition(" ")
        key, _, shown = names.partition("=")
        found.setdefault(key, (shown or key.rpartition(".")[2], []))[1].append(form)
    return found


def forms(key: str) -> tuple[str, list[Signature]] | None:
    """The name that errors show and the forms of a function; those that are not shown are the last."""
    found = _lines().get(key)
    if found is None:
        return None
    return found[0], [_signature(form) for form in found[1]]


def _signature(form: str) -> Signature:
    if form == "-":
        return Signature([], no_arguments=True)
    parameters, keyword_only = [], False
    for text in split(form.removeprefix("~")):
        if text == "*":
            keyword_only = True
        else:
            parameters.append(_parameter(text, keyword_only))
    return Signature(parameters, hidden=form.startswith("~"))


def _parameter(text: str, keyword_only: bool) -> Parameter:
    found = _LINE.fullmatch(text)
    assert found is not None, text
    kind = "int" if found["kind"] == "SymInt" else found["kind"]
    size = None if found["list"] is None else int(found["list"][1:-1] or 0)
    default = found["default"]
    return Parameter(
        found["name"], kind.removesuffix("?"), size, found["none"] is not None or default in ("None", "[]"), default, keyword_only,
        found["kind"] == "SymInt",
    )  # fmt: skip


def split(form: str) -> list[str]:
    """The parameters in a form, at the commas that are in no brackets."""
    found, depth, start = [], 0, 0
    for at, sign in enumerate(form + ","):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and not depth:
            found.append(form[start:at].strip())
            start = at + 1
    return [p for p in found if p]
