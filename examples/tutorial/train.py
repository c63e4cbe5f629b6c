"""Sorts the points of three clouds, with two losses. It has four mistakes, which docs/tutorial.md finds one after another."""

import agdbg_engine as ag
from agdbg_engine import nn, optim

STEPS = 40


class Model(nn.Module):
    """Gives each point a place, close to those of its class, and a score for each class."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 4))
        self.scale = nn.Parameter(ag.ones(4))
        self.classifier = nn.Linear(4, 3)

    def forward(self, points):
        places = self.encoder(points) * self.scale.detach()
        return places, self.classifier(places)


def distance(places, others):
    squared = ((places - others) ** 2).sum(dim=1)
    return ag.where(squared > 0, ag.sqrt(squared), squared)


def clouds(count):
    labels = ag.randint(0, 3, (count,))
    centres = ag.tensor([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]])
    return centres[labels] + ag.randn(count, 2), labels


def losses(model):
    points, labels = clouds(48)
    places, scores = model(points)
    partner = ag.randperm(len(points))
    same = labels == labels[partner]
    class_loss = nn.functional.cross_entropy(scores, labels)
    pair_loss = (distance(places, places[partner]) * same).mean()
    return class_loss, pair_loss


def main():
    ag.manual_seed(0)
    model = Model()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for step in range(STEPS):
        class_loss, pair_loss = losses(model)
        optimizer.zero_grad()
        class_loss.backward()
        optimizer.step()
        pair_loss.backward()
        optimizer.step()
        if step % 10 == 9:
            print(f"step {step + 1}  class loss {class_loss.item():.4f}  pair loss {pair_loss.item():.4f}")


if __name__ == "__main__":
    main()
