"""Hooks of a root that leads to nothing that was asked for: PyTorch comes to it all the same where it is the only root."""

import pytest
from agdbg_tests_differential import same

pytest.importorskip("torch")  # the oracle of these programs

ASKED = {
    "grad": lambda t, y, z: t.autograd.grad(y, [z], t.ones(2), allow_unused=True),
    "grad that refuses": lambda t, y, z: t.autograd.grad(y, [z], t.ones(2)),
    "backward": lambda t, y, z: y.backward(t.ones(2), inputs=[z]),
    "two roots": lambda t, y, z: t.autograd.grad([y, y], [z], [t.ones(2), t.ones(2)], allow_unused=True),
    "a root and it": lambda t, y, z: t.autograd.grad(y, [z, y], t.ones(2), allow_unused=True),
    "again": lambda t, y, z: (t.autograd.grad(y, [z], t.ones(2), allow_unused=True), y.backward(t.ones(2))),
}


@pytest.mark.parametrize("leaf", [False, True])
@pytest.mark.parametrize("asked", ASKED)
def test_a_root_that_leads_elsewhere(asked, leaf):
    def both(t):
        x, z = (t.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        y, log = x if leaf else x * 2, []
        y.register_hook(lambda g: (log.append(["tensor", g.tolist()]), g * 3)[1])
        if not leaf:
            y.retain_grad()
            y.grad_fn.register_prehook(lambda gs: log.append("before"))
            y.grad_fn.register_hook(lambda *_: log.append("behind"))
        try:
            log.append(ASKED[asked](t, y, z))
        except RuntimeError as error:
            log.append(str(error))
        return [log, y.grad, x.grad, z.grad]

    same(both)
