"""A hub that is made up: it answers as the real one does, remembers what it was asked, and sends events when told."""

import asyncio
from itertools import pairwise

import numpy as np

from agdbg.agent.kept import KeptValues, Moment
from agdbg.agent.tensors import page
from agdbg.protocol.errors import Disconnected, RequestFailed

SCRIPT = "/srv/train.py"
TRACE = "/srv/agdbg-traces/train-1"
SOURCE = "\n".join(
    [
        "import agdbg_engine as ag",
        "from agdbg_engine import nn",
        "",
        "model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))",
        "x, y = ag.randn(32, 64), ag.randn(32, 10)",
        "",
        "hidden = model[1](model[0](x))",
        "scores = model[2](hidden)",
        "error = scores - y",
        "loss = (error * error).mean() + 0.01 * (hidden * hidden).mean()",
        "loss.backward()",
        'print("loss", loss.item())',
    ]
)
#: op, cells, line, badges (name, id), producers that are not drawn
_SMALL = [
    ("TBackward0", "●", 7, [("0.weight", 101)]),
    ("AddmmBackward0", "●", 7, [("0.bias", 102)]),
    ("ReluBackward0", "●", 7, []),
    ("TBackward0", "│ ●", 8, [("2.weight", 103)]),
    ("AddmmBackward0", "├─●", 8, [("2.bias", 104)]),
    ("SubBackward0", "│ ●", 9, []),
    ("MulBackward0", "│ ●", 10, []),
    ("MeanBackward0", "│ ●", 10, []),
    ("MulBackward0", "● │", 10, []),
    ("MeanBackward0", "● │", 10, []),
    ("MulBackward0", "● │", 10, []),
    ("AddBackward0", "●─╯", 10, []),
]
#: module and shape of the same rows
_KNOWN = [("0", "[64, 48]"), ("0", "[32, 48]"), ("1", "[32, 48]"), ("2", "[48, 10]"), ("2", "[32, 10]")]
_KNOWN += [("", "[32, 10]"), ("", "[32, 10]"), ("", "[]"), ("", "[32, 48]"), ("", "[]"), ("", "[]"), ("", "[]")]
_FOLDS = [(0, 2, 0, "0 (Linear)"), (3, 5, 0, "2 (Linear)"), (6, 12, 3, "3 \N{MULTIPLICATION SIGN} 2 nodes")]
RULES = {
    "next": "step",
    "stepIn": "step",
    "stepOut": "step",
    "stepBack": "step",
    "reverseContinue": "breakpoint",
}


class FakeHub:
    """A program with one backward pass over a small graph, or over `nodes` rows of one chain."""

    def __init__(self, nodes=None, state="running"):
        loop = asyncio.get_running_loop()
        self.closed = loop.create_future()
        self.on_event = None
        self.requests = []
        self.size = len(_SMALL) if nodes is None else nodes
        self.is_small = nodes is None
        self.state, self.exit, self.signal = state, None, None
        self.runs = ""
        self.troubles = []
        self.counter = None
        self.recorded = ""
        self.lines, self.names = {}, []
        self.ids = {}
        self.filters: list[str] = []
        self.late = ""
        self.at_joining = []
        self.has_begun = False
        self.rank, self.processes = "", []
        self.findings, self.rendered, self.unseen = [], "No problem was found.", ""
        self.lints = []
        self.profile = {}
        self.kept, self.pass_id = KeptValues(), 2
        self.tensor = np.sin(np.arange(320.0) / 7).reshape(32, 10) * 3
        self.refuse = {}
        self.held = {}
        self.exception = {
            "exceptionId": "backward-twice",
            "breakMode": "always",
            "description": "headline",
            "details": {"message": "headline\nand the whole story"},
        }
        self.text, self.output_kept, self.awaits_input = "", True, False
        self.hits = {}
        self.notes = []
        self.trace, self.source = TRACE, SOURCE
        self.hook_code, self.phase = [], ""
        self.holder, self.norms = "", {}

    # ----- a connection -----

    async def request(self, command, /, **arguments):
        self.requests.append((command, arguments))
        await asyncio.sleep(0)
        if command in self.held:
            await self.held[command].wait()
        if self.closed.done():
            raise Disconnected("the hub is gone")
        if command in self.refuse:
            raise self.refuse[command]
        name = command.removeprefix("agdbg/")
        if name != command and not self.has_begun:
            raise RequestFailed("there is no program and no trace here: launch a program, or attach to a trace")
        answer = getattr(self, f"do_{name}", None)
        return answer(**arguments) if answer is not None else {}

    def close(self):
        if not self.closed.done():
            self.closed.set_result(None)

    def asked(self, command):
        """The arguments of all requests of a kind."""
        return [arguments for name, arguments in self.requests if name == command]

    def send(self, event, **body):
        if self.on_event is not None:
            self.on_event({"seq": 0, "type": "event", "event": event, "body": body})

    def die(self, why="the connection to the hub ended"):
        self.closed.set_result(Disconnected(why))

    # ----- what happens to the program -----

    def stop(self, row, reason="step", text="", recorded=False):
        self.state = self.state if recorded else "stopped"
        self.counter = row
        where = f"before {self.op(row)}, node {self.size - row} of {self.size} of backward()" if row is not None else ""
        self.send(
            "stopped",
            reason=reason,
            threadId=1,
            description=f"in the recording: {where.removeprefix('before ')}, pass 1" if recorded else where,
            text=text,
        )

    def end(self, exit=0, signal=None):
        self.state, self.exit, self.signal, self.counter = "ended", exit, signal, None
        self.send("agdbg/ended", exit=exit, signal=signal, trace=self.trace)

    def restart(self):
        """Somebody starts the program anew."""
        self.state, self.exit, self.signal, self.counter = "running", None, None, None
        self.trace = f"{TRACE}-2"
        self.send("agdbg/restarted", trace=self.trace)

    # ----- requests -----

    def do_initialize(self, **_):
        asyncio.get_running_loop().call_soon(self.send, "initialized")
        filters = [
            {"filter": "backward-twice", "label": "Backward through a freed graph", "default": True},
            {"filter": "inplace-modified", "label": "Saved tensor modified in place", "default": True},
            {"filter": "leaf-inplace", "label": "In-place write to a leaf that requires grad", "default": False},
            {
                "filter": "any",
                "label": "Any error of autograd",
                "description": "Stop where any autograd error is raised.",
            },
        ]
        return {"exceptionBreakpointFilters": filters}

    def do_launch(self, **_):
        self.has_begun = True
        return {}

    do_attach = do_launch

    def do_control(self, take=False, release=False):
        """`holder` is this client ("me"), another one, or nobody."""
        self.holder = "me" if take else "" if release and self.holder == "me" else self.holder
        return {"has": self.holder == "me", "holder": self.holder}

    def take_away(self, lost=True):
        """Another client takes control, or is the first to move the program."""
        self.holder = "agdbg on pts/3"
        self.send("agdbg/controlChanged", holder=self.holder, lost=lost)

    def do_status(self):
        threads = [{"id": 1, "name": "MainThread", "stopped": self.counter is not None}]
        pid = 4242 if self.state != "trace" else None
        facts = {"state": self.state, "pid": pid, "trace": self.trace, "idle": 0.0, "argv": [SCRIPT]}
        facts |= {"exit": self.exit, "signal": self.signal, "threads": threads}
        return facts | {
            "awaitsInput": self.awaits_input,
            "rank": self.rank,
            "runs": self.runs,
            "troubles": self.troubles,
        }

    def op(self, row):
        return _SMALL[row][0] if self.is_small else f"Op{row}Backward0"

    def row(self, index):
        op, cells, line, leaves = _SMALL[index] if self.is_small else (self.op(index), "●", index % 12 + 1, [])
        done = self.counter is not None and index > self.counter
        state = "next" if index == self.counter else "ran" if done else "pending"
        module, shape = _KNOWN[index] if self.is_small else ("", "")
        return {
            "row": index,
            "node": index + 1,
            "op": op,
            "cells": cells,
            "undrawn": [],
            "file": SCRIPT,
            "line": line,
            "text": SOURCE.split("\n")[line - 1],
            "badges": [{"text": name, "node": node, "state": "ran" if done else "pending"} for name, node in leaves],
            "shape": f"float64{shape}" if shape else "",
            "module": module,
            "saved": 3072 * (index % 3) if self.is_small else None,
            "gradient": 10.0 ** (index - 12) if done and self.is_small else None,
            "bad": False,
            "state": state,
            "order": self.size - index if done else None,
            "pass": 1 if done or state == "next" else 0,
            "breakpoint": line in self.lines.get(SCRIPT, ()),
            "count": 1,
            "times": 0,
        }

    def do_rows(self, start, count, threadId=None, folds=None):
        items = self.items(folds or {"depth": 0, "opened": [], "closed": []}, start, count)
        node = None if self.counter is None else self.counter + 1
        at = None if self.counter is None else self.place(folds, self.counter)
        return {"total": self.items_of(folds), "start": start, "rows": items, "pc": at, "pcNode": node}

    # ----- folds: two modules, and three times two nodes, of the small graph -----

    def stretches(self, folds):
        """First row, the row behind, how often, and what it is called."""
        if not self.is_small or not folds or not (folds["depth"] or folds["closed"]):
            return None
        there = _FOLDS if folds["depth"] == 1 else [(3, 5, 0, "2 (Linear)")]
        there = [each for each in there if each[0] not in folds["opened"]]
        inside = {row for first, end, *_ in there for row in range(first, end)}
        lone = [(row, row + 1, 0, "") for row in range(self.size) if row not in inside]
        return sorted([*there, *lone])

    def items_of(self, folds):
        found = self.stretches(folds)
        return self.size if found is None else len(found)

    def place(self, folds, row):
        found = self.stretches(folds)
        return row if found is None else next(at for at, each in enumerate(found) if each[0] <= row < each[1])

    def items(self, folds, start, count):
        found = self.stretches(folds)
        if found is None:
            return [self.row(index) for index in range(start, min(start + count, self.size))]
        return [self.item(folds, *each) for each in found[start : start + count]]

    def item(self, folds, first, end, times, title):
        inside = any(each[0] <= first < each[1] for each in _FOLDS if each[0] in folds["opened"])
        row = self.row(end - 1) | {"row": first, "cells": "│ ●" if inside else "●"}
        return row | ({"op": title, "count": end - first, "times": times, "badges": []} if title else {})

    def do_fold(self, row, how, folds):
        folds = {**folds, "depth": min(folds["depth"], 2)}
        found = self.stretches(folds)
        around = [each for each in _FOLDS if each[0] <= row < each[1]]
        is_folded = found is not None and bool(found[self.place(folds, row)][3])
        if how in ("unfold", "show") and is_folded:
            folds["opened"] = sorted([*folds["opened"], found[self.place(folds, row)][0]])
        elif how == "fold" and around and around[0][0] in folds["opened"]:
            folds["opened"] = [each for each in folds["opened"] if each != around[0][0]]
        elif how == "fold" and not folds["depth"] and around:
            folds["closed"] = [{"row": around[0][0], "depth": 2}]
        return {"folds": folds, "at": self.place(folds, row), "total": self.items_of(folds), "deepest": 2}

    def do_find(self, text, start, backwards):
        step = -1 if backwards else 1
        for away in range(self.size):
            index = (start + step * away) % self.size
            row = self.row(index)
            if text.lower() in self.op(index).lower() or text == f"{row['file'].rpartition('/')[2]}:{row['line']}":
                return {"row": index, "node": index + 1}
        return {"row": None, "node": None}

    def do_locate(self, node):
        return {"row": node - 1 if 0 < node <= self.size else None}

    def do_node(self, node, threadId=None):
        row = self.row(min(node - 1, self.size - 1))
        grad = _entry("input 0", "float64 [32, 10]  min -1.2  max 3.4  mean 0.1  norm 5.6")
        grad["reference"] = 54 if row["state"] == "next" else 0
        saved = [
            _entry("self", "float64 [32, 10]  min -1.2  max 3.4  mean 0.1  norm 5.6  version 0 saved, 0 now", "ok", 55),
            _entry(
                "other",
                "modified: written by mul_ at train.py:10, version 0 saved, 1 now  float64 [32, 10]  min -1.2  max 3.4",
                "modified",
            ),
        ]
        sections = [
            {"name": "Gradients in", "entries": [grad]},
            {"name": "Gradients out", "entries": []},
            {"name": "Saved tensors", "entries": saved},
            {"name": "Next edges", "entries": [_entry("0", f"{self.op(max(node - 2, 0))} #{max(node - 1, 1)}")]},
            {"name": "Hooks", "entries": []},
            {"name": "Node", "entries": [_entry("sequence number", str(node))]},
        ]
        keys = ("node", "op", "row", "file", "line", "text", "state", "pass")
        columns = dict.fromkeys(("column", "endLine", "endColumn"), 0)
        return (
            {key: row[key] for key in keys}
            | columns
            | {
                "gradient": self.norms.get(node, row["gradient"]),
                "bad": row["bad"],
                "hooks": self.hook_code,
                "sections": sections,
            }
        )

    def do_events(self, start, count):
        events = [_event(index) for index in range(max(start, 0), min(start + count, 5))]
        return {"total": 5, "start": start, "events": events}

    def do_timeline(self, start, count, threadId=None, **more):
        """Two passes over all nodes; of the second only what ran so far."""
        number = more.get("pass", 2 if self.counter is not None else 1)
        if "node" in more:
            number = self.row(min(more["node"], self.size) - 1)["pass"]
        ran = self.size if number == 1 else self.size - 1 - (self.counter or 0)
        runs = [self.run(index, number) for index in range(start, min(start + count, ran))]
        facts = {"pass": number, "before": number - 1 or None, "after": number + 1 if number == 1 else None}
        facts |= {
            "call": "backward",
            "file": SCRIPT,
            "line": 11,
            "outcome": "ok" if number == 1 else "unfinished",
        }
        facts |= {"total": ran, "start": start, "runs": runs, "longestNs": 130_000, "wholeNs": 1_234_000}
        return facts | {"at": ran if number == 2 else None}

    def run(self, index, number):
        row = self.row(self.size - 1 - index)
        facts = {"node": row["node"], "op": row["op"], "name": "", "file": SCRIPT, "line": row["line"], "order": index}
        facts |= {"startNs": index * 10_000, "durationNs": 10_000 * (1 + index * 5 % 13), "outcome": "ok"}
        hooks = int(index % 4 == 3)
        return facts | {
            "hooks": hooks,
            "hooksNs": 4_000 * hooks,
            "gradient": 0.5**index,
            "record": 1000 * number + index,
        }

    def do_cancel(self, progressId):
        self.send("progressEnd", progressId=progressId)
        return {}

    def do_profile(self, start, count, points, **more):
        """What is held goes down by 3 KiB a run; two layers, of which the first has NaN."""
        number = more["pass"]
        ran = self.size if number == 1 else self.size - 1 - (self.counter or 0)
        held = [3072 * (self.size - index) for index in range(ran)]
        layers = [
            {"name": name, "node": node, "parameters": 2, "norm": norm, "largest": norm / 2, "nans": nans, "infs": 0}
            for name, node, norm, nans in (("0", 2, 0.0023, 3), ("2", 5, 1.7, 0))
        ]
        told = {"pass": number, "total": ran, "start": start, "held": held[start : start + count]}
        told |= {"heldMost": max(held, default=0), "mostAt": 0 if ran else None, "heldAfter": 3072 * (self.size - ran)}
        told |= {"storages": self.size, "unknown": 0, "wholeNs": 1_234_000, "hookCalls": ran // 4}
        parts = [
            {"order": at, "held": each, "ns": 10_000, "hooksNs": 0, "gradient": 0.5**at}
            for at, each in enumerate(held[:points])
        ]
        return told | {"hooksNs": 4_000 * (ran // 4), "points": parts, "layers": layers} | self.profile

    def do_neighbourhood(self, node, hops, depth=0):
        """A chain: each node hangs from the one built before it, and from the one two before where `hops` is odd."""
        users = [
            row + 1 for row, each in enumerate(_SMALL) if self.is_small and any(node == leaf for _, leaf in each[3])
        ]
        node = users[-1] if users else node
        nodes = [each for each in range(node - hops, node + hops + 1) if 0 < each <= self.size]
        boxes = [self.box(each, at) for at, each in enumerate(nodes)]
        lines = [
            {"consumer": low, "producer": high, "output": 0, "input": 0, "xs": [10 + low % 2 * 12, 10 + high % 2 * 12]}
            for high, low in pairwise(nodes)
        ]
        body = {
            "node": node,
            "hops": hops,
            "depth": min(depth, 3),
            "total": len(nodes),
            "cut": False,
            "width": 40,
            "layers": len(nodes),
        }
        return body | {"boxes": boxes, "lines": lines, "ports": []}

    def box(self, node, layer):
        row = self.row(node - 1)
        words = [f"{row['op']} #{node}", " ".join(f"[{each['text']}]" for each in row["badges"]) or "train.py:9"]
        facts = {"node": node, "op": row["op"], "words": words, "x": node % 2 * 12, "width": 22, "layer": layer}
        return facts | {"state": row["state"], "file": SCRIPT, "line": row["line"]}

    def do_tree(self, start, count):
        """A model of two linear layers."""
        kinds = [
            ("module", "", "Sequential", 0, 5),
            ("module", "0", "Linear", 1, 2),
            ("parameter", "0.weight", "float64[48, 64]", 2, 0),
        ]
        kinds += [
            ("parameter", "0.bias", "float64[48]", 2, 0),
            ("module", "1", "ReLU", 1, 1),
            ("module", "2", "Linear", 1, 2),
        ]
        kinds += [("parameter", "2.weight", "float64[10, 48]", 2, 0), ("parameter", "2.bias", "float64[10]", 2, 0)]
        branches = [
            {"kind": kind, "path": path, "className": name, "depth": depth, "nodes": nodes, "ns": nodes * 40_000,
             "nbytes": 24_576 if kind == "parameter" else 0, "node": at + 1, "row": at}
            for at, (kind, path, name, depth, nodes) in enumerate(kinds)
        ]  # fmt: skip
        return {"total": len(branches), "start": start, "branches": branches[start : start + count]}

    def do_paths(self, **ends):
        first, last = max(ends.values()), min(ends.values())
        nodes = list(range(last, first + 1)) if last > 1 else []
        facts = {"first": first, "last": last, "total": len(nodes), "nodes": nodes, "shortest": nodes[::-1]}
        return facts | {"cut": False}

    def do_firstBad(self):
        return {"node": 3, "row": 2, "why": "2 NaN, 0 Inf in its output"}

    def do_graph(self, node, hops, start, count):
        edges = [{"consumer": node, "producer": node - 1, "output": 0, "input": 0}] if node > 1 else []
        edges += [{"consumer": each, "producer": node, "output": 0, "input": 0} for each in (node + 1, node + 2)]
        return {
            "title": "",
            "total": 3,
            "start": 0,
            "nodes": [],
            "edges": [e for e in edges if e["consumer"] <= self.size],
        }

    def do_tensor(self, variablesReference, compare=False, **wanted):
        assert variablesReference == 55
        shown, compared = (
            self.kept.compare(Moment("self", self.pass_id), self.tensor) if compare else (self.tensor, None)
        )
        return page(shown, **wanted) | {"compared": compared}

    def do_findings(self, lints=False):
        return {
            "findings": [*self.findings, *(self.lints if lints else [])],
            "rendered": self.rendered,
            "unseen": self.unseen,
        }

    def do_exceptionInfo(self, threadId):
        return self.exception

    def do_source(self, source, sourceReference):
        return {"content": self.source, "changed": self.source != SOURCE}

    def do_output(self, start, length):
        text = self.text[start : start + length]
        return {
            "start": start,
            "end": start + len(text),
            "total": len(self.text),
            "text": text,
            "kept": self.output_kept,
        }

    def do_export(self, path, overwrite):
        with open(path, "w" if overwrite else "x") as file:
            file.write('<svg width="9">agdbg</svg>')
        return {"path": path, "nodes": self.size}

    def do_evaluate(self, expression, context, frameId=None):
        if expression == "boom":
            raise RequestFailed("NameError: name 'boom' is not defined")
        for note in self.notes:
            self.send("output", category="console", output=f"{note}\n")
        is_statement = "=" in expression
        value = {"result": "", "type": ""} if is_statement else {"result": f"<{expression}>", "type": "str"}
        return {**value, "variablesReference": 0}

    def do_scopes(self, frameId):
        return {"scopes": [{"name": "Gradients in", "variablesReference": 77, "expensive": False}]}

    def do_setVariable(self, variablesReference, name, value):
        return {"value": f"float64 [] {value}"}

    def do_setBreakpoints(self, source, breakpoints):
        self.lines[source["path"]] = [each["line"] for each in breakpoints]
        return {"breakpoints": [self.on_line(source["path"], each["line"]) for each in breakpoints]}

    def on_line(self, path, line, **facts):
        """A breakpoint as the hub has it."""
        number = self.ids.setdefault((path, line), len(self.ids) + 1)
        return {"id": number, "verified": True, "source": {"path": path}, "line": line, **facts}

    def on_name(self, name):
        number = self.ids.setdefault(name, len(self.ids) + 1)
        return {"id": number, "verified": True, "name": name}

    def do_setFunctionBreakpoints(self, breakpoints):
        self.names = [each["name"] for each in breakpoints]
        return {"breakpoints": [self.on_name(each["name"]) for each in breakpoints]}

    def do_setExceptionBreakpoints(self, filters, filterOptions=()):
        filters = [*filters, *(each["filterId"] for each in filterOptions)]
        told = {"message": self.late} if self.late else {}
        self.filters, new = filters, set(filters) - set(self.filters)
        return {"breakpoints": [{"verified": True, **(told if each in new else {})} for each in filters]}

    def do_configurationDone(self):
        for breakpoint in self.at_joining:
            self.send("breakpoint", reason="new", breakpoint=breakpoint)
        return {}

    def do_processes(self):
        mine = {
            "rank": None,
            "world": 0,
            "pid": 4242 if self.state in ("running", "stopped") else None,
            "stopped": self.state == "stopped",
            "argv": [SCRIPT],
        }
        here = {**mine, "trace": self.trace, "address": "", "isHere": True}
        return {"processes": self.processes or [here]}

    def do_threads(self):
        return {"threads": [{"id": 1, "name": "MainThread"}]}

    def do_stackTrace(self, threadId, levels=0):
        if self.counter is None:
            return {"stackFrames": []}
        name = f"{self.op(self.counter)}, {self.size - self.counter} of {self.size}" + f", {self.phase}" * bool(
            self.phase
        )
        source = {"path": SCRIPT}
        frames = [
            {"id": 10000, "name": name, "line": 9, "column": 1, "source": source},
            {"id": 10001, "name": "created in <module>", "line": 9, "column": 1, "presentationHint": "label"},
            {"id": 10002, "name": "<module>", "line": 11, "column": 1, "source": source},
        ]
        return {"stackFrames": frames, "totalFrames": 3}

    def _step(self, to, reason="step"):
        if self.counter is None and self.state not in ("ended", "trace"):
            raise RequestFailed("the thread is not stopped")
        recorded = self.state in ("ended", "trace")
        asyncio.get_running_loop().call_soon(lambda: self.stop(to, reason, recorded=recorded))
        return {}

    def do_next(self, threadId):
        return self._step(self.size - 1 if self.counter is None else max(self.counter - 1, 0))

    def do_stepIn(self, threadId):
        return self._step(self.counter)

    def do_stepOut(self, threadId):
        return self._step(0)

    def do_stepBack(self, threadId, force=False):
        return self._step(min((self.counter or 0) + 1, self.size - 1))

    def do_reverseContinue(self, threadId):
        return self._step(self.size - 1, "breakpoint")

    def do_continue(self, threadId):
        self.state, self.counter = "running", None
        self.send("continued", threadId=1)
        return {"allThreadsContinued": False}

    def do_pause(self, threadId):
        asyncio.get_running_loop().call_soon(self.stop, self.size // 2, "pause")
        return {}

    def do_terminate(self):
        asyncio.get_running_loop().call_soon(lambda: self.end(None, "SIGTERM"))
        return {}


def _entry(name, value, state="", reference=0):
    return {"name": name, "value": value, "type": "", "reference": reference, "state": state}


def _event(index):
    kind = ("backward", "hook", "bump", "error", "freed")[index]
    text = f"event {index} [red]of[/red] the trace"
    facts = {"index": index, "time_ns": index * 1_000_000, "timed": True, "kind": kind, "text": text}
    return facts | {"node": index * 2, "file": SCRIPT, "line": 10}
