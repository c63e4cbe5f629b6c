"""What saved tensors hold at the peak, by line, module and node; how it grows by pass; what could be computed again instead."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agdbg.diagnose.words import count
from agdbg.events import Kind
from agdbg.record import Facts
from agdbg.record.hooked import held
from agdbg.record.lookup import Site
from agdbg.report.saved_bytes import SavedBytes
from agdbg.report.table import size_if_known, table, where
from agdbg.sizes import size

Numbers = npt.NDArray[np.int64]
#: Lines, modules, nodes and passes that are listed.
LINES, NODES, PASSES = 30, 15, 60
HOW_TO_KNOW = "sizes are known in a recording that was made with --also shapes"
#: A line is a candidate for being computed again when it holds at least this share of the peak.
SHARE = 0.02
#: Ops whose result costs little to compute again, by the name of their nodes before ``Backward``.
CHEAP = frozenset((
    "Relu", "LeakyRelu", "Gelu", "Silu", "Mish", "Elu", "Selu", "Celu", "Softplus", "Softsign", "Hardtanh", "Hardswish",
    "Hardsigmoid", "Sigmoid", "Tanh", "LogSigmoid", "Mul", "Div", "Add", "Sub", "Neg", "Exp", "Log", "Sqrt", "Rsqrt", "Pow", "Abs",
    "Clamp", "Where", "NativeDropout", "Dropout", "MaskedFill", "Softmax", "LogSoftmax", "NativeLayerNorm", "NativeGroupNorm",
    "Square",
))  # fmt: skip


@dataclass(frozen=True)
class Part:
    """What one line, module or node holds at the peak; each storage is counted where it was saved first.

    Attributes:
        what: ops, or the path of the module.
        site: the line; without one for a module.
        storages, unknown: how many storages, and how many of them have no recorded size.
        nbytes: the bytes of the others.
        cheap: whether all of its ops cost little to compute again.
    """

    what: str
    site: Site
    node: int
    module: str
    storages: int
    unknown: int
    nbytes: int
    cheap: bool


@dataclass(frozen=True)
class PassMemory:
    """One call: nodes that it planned, and graphs of earlier calls that were still there when it began."""

    pass_id: int
    call: Site
    planned: int
    held_graphs: int


@dataclass(frozen=True)
class MemoryReport:
    """Saved tensors of a trace.

    Attributes:
        storages, unknown, nbytes: all that was saved in the trace, each storage once, those of parameters left out.
        permanent, parameters, parameters_unknown: of storages of parameters or buffers, which are there anyway, how many were
            saved, their bytes, and how many of them have no recorded size.
        peak_row, peak_storages, peak_bytes, peak_unknown: the most that was held at once, as far as passes tell what was freed.
        peak_pass: the pass that was running or next then; 0 for none.
        dropped: bytes that nodes saved to which no pass came: when they were dropped is not known.
        lines, modules, nodes: what holds most at the peak.
        recompute: lines of cheap ops that hold much.
        passes: the calls, the first and the last ones.
    """

    storages: int
    unknown: int
    nbytes: int
    permanent: int
    parameters: int
    parameters_unknown: int
    peak_row: int
    peak_storages: int
    peak_bytes: int
    peak_unknown: int
    peak_pass: int
    dropped: int
    lines: tuple[Part, ...]
    modules: tuple[Part, ...]
    nodes: tuple[Part, ...]
    recompute: tuple[Part, ...]
    passes: tuple[PassMemory, ...]


def memory_report(facts: Facts) -> MemoryReport:
    """What the trace tells of the memory of saved tensors."""
    saved = SavedBytes(facts)
    row, alive = saved.peak()
    own = ~saved.permanent
    groups = _Groups(facts, saved, alive)
    lines, peak = groups.lines(), _bytes(saved, alive)
    cheap = [each for each in lines if each.cheap and each.nbytes >= SHARE * max(peak, 1)]
    return MemoryReport(
        storages=int(own.sum()),
        unknown=int((own & (saved.nbytes < 0)).sum()),
        nbytes=_bytes(saved, own),
        permanent=int(saved.permanent.sum()),
        parameters=_bytes(saved, saved.permanent),
        parameters_unknown=int((saved.permanent & (saved.nbytes < 0)).sum()),
        peak_row=row,
        peak_storages=int(alive.sum()),
        peak_bytes=peak,
        peak_unknown=int((alive & (saved.nbytes < 0)).sum()),
        peak_pass=_pass_at(facts, row),
        dropped=_bytes(saved, own & ~saved.run) if saved.run.any() else 0,
        lines=tuple(lines[:LINES]),
        modules=tuple(groups.modules()[:LINES]),
        nodes=tuple(groups.nodes()[:NODES]),
        recompute=tuple(cheap[:NODES]),
        passes=_passes(facts),
    )


def _bytes(saved: SavedBytes, which: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    return int(saved.nbytes[which & (saved.nbytes > 0)].sum())


def _pass_at(facts: Facts, row: int) -> int:
    """The pass that is over last among those that were running at a row, or the next to start."""
    after = [each for each in facts.passes if each.end_row >= row]
    return after[0].id if after else 0


class _Groups:
    """The storages that are alive at the peak, gathered by what holds them."""

    def __init__(self, facts: Facts, saved: SavedBytes, alive: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        self._facts = facts
        self._saver = saved.saver[alive]
        self._rows = saved.row[alive]
        self._nbytes = saved.nbytes[alive]
        self._made_at = facts.trace.records[self._rows, 3] if len(self._rows) else np.zeros(0, np.uint64)

    def lines(self) -> list[Part]:
        """By source line, the greatest first."""
        words, group = np.unique(self._made_at, return_inverse=True)
        sites = [self._facts.site_and_op(word) for word in words.tolist()]
        keys = [(site.file, site.line) if site.line else (site.file, op.name) for site, op in sites]
        return self._parts(_numbered(keys)[group] if keys else group)

    def modules(self) -> list[Part]:
        """By module; none where no module was recorded."""
        if not len(self._facts.rows(Kind.MODULE)):
            return []
        return self._parts(_numbered([self._path(node) for node in self._saver.tolist()]), by_line=False)

    def nodes(self) -> list[Part]:
        """By node."""
        return self._parts(np.unique(self._saver, return_inverse=True)[1])

    def _path(self, node: int) -> str:
        found = self._facts.module_of(node)
        return "" if found is None else found.path or found.class_name

    def _parts(self, group: Numbers, *, by_line: bool = True) -> list[Part]:
        """The greatest groups of storages; ``group`` has a number from 0 on for each storage."""
        if not len(group):
            return []
        sizes = np.bincount(group, np.maximum(self._nbytes, 0)).astype(np.int64)
        order = np.lexsort((-np.bincount(group), -sizes))[: LINES * 4]
        members = np.argsort(group, kind="stable")
        ends = np.cumsum(np.bincount(group))
        starts = np.append(0, ends[:-1])
        return [self._part(members[starts[at] : ends[at]], int(sizes[at]), by_line) for at in order.tolist()]

    def _part(self, at: Numbers, nbytes: int, by_line: bool) -> Part:
        found = [self._facts.site_and_op(word) for word in np.unique(self._made_at[at]).tolist()]
        ops = list(dict.fromkeys(op.name for _, op in found))
        node = int(self._saver[at[0]])
        return Part(
            what=", ".join(ops[:3]) + (", ..." if len(ops) > 3 else ""),
            site=found[0][0] if by_line else Site("", 0),
            node=node if by_line else 0,
            module=self._path(node),
            storages=len(at),
            unknown=int((self._nbytes[at] < 0).sum()),
            nbytes=nbytes,
            cheap=bool(ops) and all(op.partition("Backward")[0] in CHEAP for op in ops),
        )


def _numbered(keys: Sequence[Hashable]) -> Numbers:
    """Equal keys as equal numbers, from 0 on."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys], np.int64)


def _passes(facts: Facts) -> tuple[PassMemory, ...]:
    still = {each.pass_id: each.count for each in held(facts) if each.what == "somebody"}
    chosen = (
        facts.passes if len(facts.passes) <= PASSES else [*facts.passes[: PASSES // 2], *facts.passes[-PASSES // 2 :]]
    )
    return tuple(PassMemory(each.id, each.site, each.planned, still.get(each.id, 0)) for each in chosen)


def as_text(report: MemoryReport) -> str:
    """The report as text."""
    if not report.storages and not report.permanent:
        return "no node saved a tensor whose memory is known\n"
    lines = [f"saved   {_size(report.storages, report.nbytes, report.unknown)}"]
    if report.permanent:
        anyway = _size(report.permanent, report.parameters, report.parameters_unknown)
        lines.append(f"        and parameters and buffers, which are there anyway: {anyway}")
    lines.append(
        f"peak    {_size(report.peak_storages, report.peak_bytes, report.peak_unknown)}"
        + (f", before or in pass {report.peak_pass}" if report.peak_pass else "")
    )
    if report.dropped:
        lines.append(
            f"        and {size(report.dropped)} of nodes that no pass ran: when they were dropped is not known"
        )
    if report.unknown or report.parameters_unknown:
        lines.append(HOW_TO_KNOW)
    lines += _section("at the peak, by line", report.lines)
    if any(each.module for each in report.modules):
        rows = [(_of(each), each.storages, each.module or "outside of modules", each.what) for each in report.modules]
        lines += ["", "at the peak, by module", *table(("bytes", "storages", "module", "ops"), rows, "  ")]
    nodes = [(_of(each), f"{each.node} {each.what}", where(each.site)) for each in report.nodes]
    lines += ["", "at the peak, by node", *table(("bytes", "node", "line"), nodes, "  ")]
    if report.recompute:
        lines += _section("cheap to compute again (checkpoint() around it saves its bytes)", report.recompute)
    lines += _growth(report.passes)
    return "\n".join(lines) + "\n"


def _size(storages: int, nbytes: int, unknown: int) -> str:
    """How many storages, and their bytes as far as they are known."""
    told = f"{count(storages, 'storage')}, {'of unknown size' if unknown == storages else size(nbytes)}"
    return told + (f" and {count(unknown, 'storage')} of unknown size" if 0 < unknown < storages else "")


def _of(part: Part) -> str:
    return size_if_known(part.nbytes if part.nbytes or not part.unknown else None)


def _section(title: str, parts: Iterable[Part]) -> list[str]:
    rows = [
        (
            _of(e),
            e.storages,
            where(e.site),
            e.what,
            e.site.text.strip(),
        )
        for e in parts
    ]
    return ["", title, *table(("bytes", "storages", "line", "ops", "source"), rows, "  ")]


def _growth(passes: tuple[PassMemory, ...]) -> list[str]:
    """The calls, where there is more to say than that one graph was run after the other."""
    if len(passes) < 2 or (
        not any(each.held_graphs for each in passes) and len({each.planned for each in passes}) == 1
    ):
        return []
    rows = [(each.pass_id, where(each.call), each.planned, each.held_graphs) for each in passes]
    return ["", "by pass", *table(("pass", "line", "nodes", "graphs held before it"), rows, "  ")]
