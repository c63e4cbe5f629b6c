"""Writes engine/agdbg_engine/signatures/_generated.py: how PyTorch's functions in C++ take their arguments.

Asks the installed PyTorch: the declarations of its ops, and what its functions say when they are called wrongly, which tells
which declarations a function of Python chooses from. ``--check`` only tells whether the file is stale.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

import agdbg_engine as engine
from agdbg_engine import ops
from agdbg_engine.ops.cast import CASTS
from agdbg_engine.signatures.in_python import CALLS
from agdbg_engine.signatures.table import split

FILE = Path(__file__).resolve().parent.parent / "engine" / "agdbg_engine" / "signatures" / "_generated.py"
WRONG = object()
SPACES = ("torch", "linalg", "fft", "special", "nn.functional", "Tensor")
BUILTIN = ("builtin_function_or_method", "method_descriptor")
OWN = {
    "cpu", "tensor", "as_tensor", "asarray", "sparse_coo_tensor", "new_tensor", "to", "type", "numpy",
    "as_subclass", "map_", "map2_", "apply_", "item", "data_ptr", "is_contiguous", "size", "stride",
    "contiguous", "copy_", "requires_grad_", "retain_grad", "tolist", "set_", "index", "share_memory_",
    "untyped_storage", "has_names", "backward", "nonzero",
}  # fmt: skip
"""Functions that take their arguments by rules of their own, here as there."""


def declarations() -> dict[str, list[str]]:
    """The declarations of every op by its name, those first that a function of Python may choose."""
    found = defaultdict(list)
    for schema in torch._C._jit_get_all_schemas():
        text = str(schema)
        if schema.name.startswith("aten::") and "hacked_twin" not in text:
            found[schema.name.removeprefix("aten::")].append(text)
    return found


DECLARED = declarations()


def said(function: Any, before: tuple[Any, ...]) -> list[str]:
    """What a function says to calls that cannot be right."""
    texts = []
    for args, kwargs in (((WRONG,), {}), ((), {}), ((WRONG, WRONG), {}), ((WRONG,) * 14, {}), ((), {"_no": 1})):
        try:
            function(*before, *args, **kwargs)
        except TypeError as error:
            texts.append(str(error))
        except Exception:
            continue
    return texts


def listed(texts: list[str]) -> list[str]:
    """The forms of a function that PyTorch itself lists; none where there is only one."""
    for text in texts:
        if "expected one of:\n" in text:
            return re.findall(r"^ \* \((.*)\)$", text, re.MULTILINE)
    return [m[1] for text in texts if (m := re.search(r"but expected \((.*)\)$", text, re.MULTILINE))][:1]


def parameters(schema: str) -> list[str]:
    """The parameters of a declaration as ``type name=default``, and ``*``."""
    inside = schema.partition("(")[2].rpartition(" -> ")[0].rpartition(")")[0]
    return split(re.sub(r"\([a-z](!|\|[a-z]|->\*| -> \*)*\)", "", inside))


def name_of(parameter: str) -> str:
    """The name of a parameter."""
    return parameter.partition("=")[0].split()[-1]


def of_python(names: list[str], method: bool) -> list[str]:
    """The names that tell one form from another."""
    return [n for n in names if n not in ("out", "*", *(["self", "input"] if method else []))]


def forms(op: str, texts: list[str], method: bool) -> list[str]:
    """The forms of the function of Python of ``op``, each as one line of parameters."""
    written = re.compile(r"\*.*\([a-z]!\)")  # results that the caller gives
    schemas = [
        parameters(s)
        for s in DECLARED[op]
        if ("Tensor" in s.partition(" -> ")[0] or "Layout? layout" in s) and not written.search(s.partition(" -> ")[0])
    ]
    shown = listed(texts)
    if not shown:
        out = not method and any("! out" in s or "!) out" in s for s in DECLARED[op])
        return [line(p, method, "Tensor? out=None" if out else "") for p in schemas[:1]]
    found = []
    for text in [re.sub(r"\{(.*?)\}", r"[\1]", t) for t in shown]:
        names = of_python([name_of(p.replace(" = ", "=")) for p in split(text)], method)
        own = [
            p
            for p in schemas
            if of_python(["input" if name_of(q) == "self" else name_of(q) for q in p], method) == names
        ]
        chosen = next((p for p in own if same_types(p, text, method)), None)
        found.append(line(chosen, method, out_of(text)) if chosen else from_text(text))
    return found


def out_of(text: str) -> str:
    """The parameter ``out`` of a form as PyTorch shows it."""
    place = re.search(r"(Tensor|tuple of Tensors) out = None", text)
    return "" if place is None else ("Tensor? out=None" if place[1] == "Tensor" else "Tensor[]? out=None")


SHOWN = {
    "int": "int", "SymInt": "int", "float": "float", "bool": "bool", "str": "str", "Scalar": "Number", "ScalarType": "torch.dtype",
    "Tensor": "Tensor", "Generator": "torch.Generator", "MemoryFormat": "torch.memory_format", "Device": "torch.device",
    "Layout": "torch.layout", "Dimname": "name",
}  # fmt: skip


def same_types(declared: list[str], text: str, method: bool) -> bool:
    """Whether a declaration has the types of a form as PyTorch shows it."""
    shown = [
        p.partition(" = ")[0]
        for p in split(text)
        if p != "*" and not p.startswith(("Tensor out", "tuple of Tensors out"))
    ]
    mine = [p for p in declared if p != "*" and not (method and name_of(p) == "self") and name_of(p) != "out"]
    if len(shown) != len(mine):
        return False
    for a, b in zip(shown, mine, strict=True):
        kind = b.split()[0].rstrip("?")
        word = SHOWN.get(kind) or "tuple of"
        if not a.startswith(word):
            return False
        if word == "tuple of" and a.split()[2] != {
            "int": "ints",
            "SymInt": "ints",
            "Tensor": "Tensors",
            "float": "floats",
            "Scalar": "Scalars",
            "bool": "bools",
            "Dimname": "names",
        }.get(re.split(r"[\[?]", kind)[0], ""):
            return False
    return True


def from_text(text: str) -> str:
    """A form of which there is no declaration, from what PyTorch shows of it."""
    text = re.sub(r"tuple of (int|bool|float|Tensor|Scalar|name)s", r"\1[]", text).replace(" = ", "=")
    text = text.replace("name[]", "Dimname[]").replace("name ", "Dimname ")
    back = {v: k for k, v in SHOWN.items() if k not in ("SymInt", "int", "float", "bool", "str", "Tensor", "Dimname")}
    for word, kind in back.items():
        text = re.sub(rf"{re.escape(word)} (?=\w)", f"{kind} ", text)
    return or_none(re.sub(r"(\S+) (\w+)=None", r"\1? \2=None", text))


def line(declared: list[str], method: bool, out: str) -> str:
    """One line of parameters, in the order in which a function of Python has them."""
    found = [p for p in declared if not (method and name_of(p) == "self") and not re.match(r"Tensor\S* out$", p)]
    if not method:
        found = [re.sub(r"\bself$", "input", p) for p in found]
    if out:
        at = next(
            (
                i
                for i, p in enumerate(found)
                if name_of(p) in ("layout", "dtype") and "*" in found[:i] and "layout" in map(name_of, found)
            ),
            len(found),
        )
        found[at:at] = [out] if "*" in found else ["*", out]
    if "layout" in map(name_of, found) and "requires_grad" not in map(name_of, found):
        found.append("bool requires_grad=False")  # of functions that make a tensor
    return or_none(", ".join(found))


def or_none(form: str) -> str:
    """A form with what PyTorch takes for ``None`` too and does not show."""
    form = form.replace("Generator generator", "Generator? generator")
    return re.sub(r"\bbool (requires_grad|pin_memory)=", r"bool? \1=", form)


DEPRECATED = """
add(Tensor input, Scalar alpha, Tensor other, *, Tensor? out=None)
addbmm(Scalar beta, Tensor input, Scalar alpha, Tensor batch1, Tensor batch2, *, Tensor? out=None)
addbmm(Scalar beta, Tensor input, Tensor batch1, Tensor batch2, *, Tensor? out=None)
addcdiv(Tensor input, Scalar value, Tensor tensor1, Tensor tensor2, *, Tensor? out=None)
addcmul(Tensor input, Scalar value, Tensor tensor1, Tensor tensor2, *, Tensor? out=None)
addmm(Scalar beta, Tensor input, Scalar alpha, Tensor mat1, Tensor mat2, *, Tensor? out=None)
addmm(Scalar beta, Tensor input, Tensor mat1, Tensor mat2, *, Tensor? out=None)
addmv(Scalar beta, Tensor input, Scalar alpha, Tensor mat, Tensor vec, *, Tensor? out=None)
addmv(Scalar beta, Tensor input, Tensor mat, Tensor vec, *, Tensor? out=None)
addr(Scalar beta, Tensor input, Scalar alpha, Tensor vec1, Tensor vec2, *, Tensor? out=None)
addr(Scalar beta, Tensor input, Tensor vec1, Tensor vec2, *, Tensor? out=None)
baddbmm(Scalar beta, Tensor input, Scalar alpha, Tensor batch1, Tensor batch2, *, Tensor? out=None)
baddbmm(Scalar beta, Tensor input, Tensor batch1, Tensor batch2, *, Tensor? out=None)
sub(Tensor input, Scalar alpha, Tensor other, *, Tensor? out=None)
"""
"""Forms that PyTorch takes and does not show."""


def deprecated() -> Iterator[str]:
    """The lines of the forms that are not shown, of functions and of methods."""
    for text in DEPRECATED.split("\n"):
        if not text:
            continue
        name, _, rest = text.partition("(")
        yield f"{name} ~{rest[:-1]}"
        inside = rest[:-1].replace("Tensor input, ", "").replace(", *, Tensor? out=None", "")
        for end in ("", "_"):
            yield f"Tensor.{name}{end} ~{inside}"


_NEW = "object data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False"
_FOUND = "bool return_inverse=False, bool return_counts=False"
_HOW = "bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None"
BY_HAND = {
    **{f"Tensor.{name}": "*, MemoryFormat? memory_format=None" for name in CASTS},
    "Tensor.cpu": "*, MemoryFormat? memory_format=None",
    "Tensor.contiguous": "*, MemoryFormat? memory_format=None",
    "Tensor.copy_": "Tensor other, bool non_blocking=False",
    "Tensor.nonzero": "*, bool as_tuple=False",
    "nonzero": "Tensor input, *, bool as_tuple=False",
    "_unique2": f"Tensor input, *, bool sorted=True, {_FOUND}",
    "_unique_consecutive=unique_consecutive": f"Tensor input, *, {_FOUND}",
    "tensor": f"{_NEW}, bool pin_memory=False",
    "Tensor.new_tensor": _NEW,
    "Tensor.to": f"Device? device=None, ScalarType? dtype=None, {_HOW}\nScalarType dtype, {_HOW}\nTensor tensor, {_HOW}",
}
"""Forms of functions that PyTorch has no declarations of."""


def functions() -> Iterator[tuple[str, str, Any]]:
    """The functions of both libraries that PyTorch has in C++, by namespace and name."""
    for space in SPACES:
        theirs: Any = torch
        mine: Any = engine
        for part in [] if space == "torch" else space.split("."):
            theirs, mine = getattr(theirs, part), getattr(mine, part)
        names = {*dir(mine), *(ops.FUNCTIONS if space == "torch" else ())}
        for name in sorted(names):
            function = getattr(theirs, name, None)
            if (
                not name.startswith("_")
                and name not in OWN
                and type(function).__name__ in BUILTIN
                and hasattr(mine, name)
            ):
                yield space, name, function


def rows() -> Iterator[str]:
    """The lines of the table: name, what errors call it where that differs, parameters."""
    some = torch.ones(2, 2)
    for space, name, function in functions():
        method = space == "Tensor"
        texts = said(function, (some,) if method else ())
        key = name if space == "torch" else f"{space}.{name}"
        if any("takes no arguments" in t for t in texts):
            yield f"{key} -"
            continue
        printed = {m[1] for t in texts if (m := re.match(r"(\w+)\(\)", t))}
        if len(printed) != 1:
            continue
        op = printed.pop()
        for form in forms(op, texts, method):
            yield f"{key}{'' if op == name else '=' + op} {form}"
    for name in sorted({call.partition("(")[0] for call in CALLS.values()}):
        function = getattr(torch, name, None) or getattr(torch._C._nn, name)
        for form in forms(name, said(function, ()), False):
            yield f"_{name}={name} {form}"
    yield from (f"{key} {form}" for key, forms_ in BY_HAND.items() for form in forms_.split("\n"))
    yield from deprecated()


def text() -> str:
    """The whole file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = "\n".join(dict.fromkeys(rows()))
    version = torch.__version__.partition("+")[0]
    head = f'"""Written by scripts/generate_signatures.py: how PyTorch {version} takes arguments."""'
    return f'{head}\n\nROWS = """\n{lines}\n"""\n'


def main() -> int:
    """Write the file, or compare with it."""
    new = text()
    if "--check" in sys.argv[1:]:
        if FILE.read_text() != new:
            print(f"{FILE} is stale: run scripts/generate_signatures.py", file=sys.stderr)
            return 1
        return 0
    FILE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
