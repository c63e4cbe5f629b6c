"""``nn.utils.weight_norm`` and ``spectral_norm``: three training steps, states and refusals are those of PyTorch."""

import numpy as np
import pytest
from agdbg_tests_differential import essence, same

pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*weight_norm. is deprecated:FutureWarning"
)  # the old form is what is compared

KINDS = {
    "weight": lambda u, m: u.weight_norm(m),
    "weight_all": lambda u, m: u.weight_norm(m, dim=None),
    "weight_1": lambda u, m: u.weight_norm(m, dim=1),
    "spectral": lambda u, m: u.spectral_norm(m),
    "spectral_2": lambda u, m: u.spectral_norm(m, n_power_iterations=2, dim=1),
}
MODULES = {
    "linear": (lambda nn: nn.Linear(3, 4), (2, 3)),
    "conv": (lambda nn: nn.Conv2d(3, 4, 2), (2, 3, 4, 4)),
    "transposed": (lambda nn: nn.ConvTranspose1d(3, 4, 2), (2, 3, 4)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODULES)
def test_training(kind, name):
    make, shape = MODULES[name]

    def program(t):
        rng = np.random.default_rng(0)
        module = KINDS[kind](t.nn.utils, make(t.nn).to(t.float64))
        keys = list(module.state_dict())
        module.load_state_dict(
            {k: t.tensor(rng.standard_normal(tuple(v.shape))) for k, v in module.state_dict().items()}
        )
        x, optimizer = t.tensor(rng.standard_normal(shape)), t.optim.SGD(module.parameters(), lr=0.1)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = (module(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss)
        losses.append(module.eval()(x).sum())
        remove = t.nn.utils.remove_weight_norm if kind.startswith("weight") else t.nn.utils.remove_spectral_norm
        remove(module)
        return [
            keys,
            list(module.state_dict()),
            [n for n, _ in module.named_parameters()],
            *essence([*losses, module.weight, module(x)]),
        ]

    same(program)


REFUSED = """
u.remove_weight_norm(nn.Linear(1,1))
u.remove_spectral_norm(nn.Linear(1,1),'bias')
u.spectral_norm(nn.Linear(1,1),n_power_iterations=0)
u.spectral_norm(nn.Linear(1,1,bias=False),'bias')
u.spectral_norm(u.spectral_norm(nn.Linear(1,1)))
u.weight_norm(u.weight_norm(nn.Linear(1,1)))
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_refused(line):
    same(lambda t: type(eval(line, {"nn": t.nn, "u": t.nn.utils})).__name__)
