"""Random moves with steps back through a program of many passes: it prints what it prints when nobody moves it."""

import random
import subprocess
import sys

import pytest

from agdbg.console import CommandError
from agdbg.record import Facts, Trace

PROGRAM = """\
import agdbg_engine as torch

class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * x * 3

torch.manual_seed(0)
a = torch.randn(3, 4, requires_grad=True)
b = torch.randn(4, 2, requires_grad=True)
c = torch.randn(2, requires_grad=True)
for i in range(8):
    h = (a @ b + c).tanh()
    k = h[0] * c
    if i % 2:
        k.register_hook(lambda g: g * 0.5)
        k = Cubed.apply(k)
    m = h * 1
    m[1] = k
    loss = (m.exp() + h).sum() + k.sum() * (a.mean() if i % 3 else 1)
    loss.backward(retain_graph=i % 4 == 0)
    print(i, *(t.grad.numpy().tobytes().hex() for t in (a, b, c)))
    if i % 2:
        a.grad = None
print("end", *torch.autograd.grad((a @ b).exp().sum(), [b])[0].flatten().tolist())
"""
BUILDING = ("tanh()", "k = h[0]", "m = h * 1", "loss = (m")
LINES = [f"script.py:{at}" for at, line in enumerate(PROGRAM.splitlines(), 1) if any(text in line for text in BUILDING)]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What the program prints when it runs by itself."""
    path = tmp_path_factory.mktemp("plain") / "script.py"
    path.write_text(PROGRAM)
    return subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True).stdout


class Walker:
    """Does random moves that change nothing for good; ends it when the program has ended or so many were done."""

    def __init__(self, console, seed):
        self.console, self.draw = console, random.Random(seed)
        self.done = []

    def walk(self, moves):
        text = self.do("start")
        for _ in range(moves):
            if "has ended" in text:
                return
            text = self.draw.choices(*zip(*self.ways().items(), strict=True))[0]() or text

    def ways(self):
        return {
            lambda: self.do(f"next {self.draw.randint(1, 4)}"): 8,
            lambda: self.do(f"step {self.draw.randint(1, 3)}"): 4,
            lambda: self.do(f"back {self.draw.randint(1, 5)} force"): 9,
            lambda: self.do("reverse force"): 3,
            lambda: self.do("finish"): 2,
            lambda: self.do(f"until {self.draw.choice(LINES)}"): 2,
            lambda: self.do(f"tbreak {self.draw.choice(['mul', 'c', 'CubedBackward', 'Exp*'])}"): 1,
            lambda: self.do("goto 0", "back", "continue"): 1,
            lambda: self.do("p [g.sum() for g in grads if g is not None], list(saved)"): 2,
            lambda: self.do("skip", "back force"): 4,
            lambda: self.do("set saved[0] = 0", "next", "back force"): 4,
            lambda: self.do("set grad = grad * 2", "next", "back force", "set grad = grad / 2"): 3,
        }

    def do(self, *lines):
        """Do commands until one is refused; the text of the last that was done."""
        text = ""
        for line in lines:
            try:
                text = self.console.do(line)
            except CommandError as error:
                self.done.append(f"{line}: {error}")
                return ""
            self.done.append(line)
            if "has ended" in text:
                break
        return text


@pytest.mark.parametrize("seed", range(6))
def test_what_is_moved_about_ends_as_what_is_not(console_stage, expected, seed):
    console = console_stage.console(PROGRAM, trace="trace")
    walker = Walker(console, seed)
    walker.walk(120)
    printed = console.end()
    assert printed == expected, "\n".join(walker.done)
    assert sum(line.startswith("back") and ":" not in line for line in walker.done) >= 5
    facts = Facts(Trace.open(console_stage.directory / "trace"))
    assert facts.trace.problems == []
    for each in facts.passes:
        runs = [run.order for run in facts.runs(each.id)]
        assert runs == list(range(each.planned)), each
