"""A recurrent net keeps its hidden state from one batch to the next, and the whole graph of the past with it."""

import agdbg_engine as ag
from agdbg_engine import nn, optim

STEPS = 5


class Recurrent(nn.Module):
    """h = tanh(x W + h U + b)."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.from_input = nn.Linear(inputs, hidden)
        self.from_state = nn.Linear(hidden, hidden, bias=False)

    def forward(self, x, state):
        return ag.tanh(self.from_input(x) + self.from_state(state))


def main():
    ag.manual_seed(0)
    cell = Recurrent(4, 8)
    head = nn.Linear(8, 1)
    optimizer = optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
    state = ag.zeros(16, 8)
    for step in range(STEPS):
        x = ag.randn(16, 4)
        state = cell(x, state)
        loss = nn.functional.mse_loss(head(state), x.sum(dim=1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step + 1}  loss {loss.item():.4f}")


if __name__ == "__main__":
    try:
        main()
    finally:
        print("Shows: state carried over without detach() drags the previous iteration's freed graph along.")
