"""Trains an encoder on the handwritten digits; in the third epoch a second loss on the same features gets a backward of its own."""

from digits_data import load_digits

import agdbg_engine as ag
from agdbg_engine import nn, optim

EPOCHS = 4
BATCH = 64
AUTOENCODE_FROM = 2


class Model(nn.Module):
    """One encoder, two heads: the digit's class, and the image again."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())
        self.classifier = nn.Linear(24, 10)
        self.decoder = nn.Linear(24, 64)


def main():
    ag.manual_seed(0)
    train, _ = load_digits()
    images, labels = ag.tensor(train.images), ag.tensor(train.labels)
    model = Model()
    optimizer = optim.Adam(model.parameters(), lr=3e-3)

    for epoch in range(EPOCHS):
        total = 0.0
        order = ag.randperm(len(images))
        for start in range(0, len(images), BATCH):
            batch = order[start : start + BATCH]
            features = model.encoder(images[batch])
            class_loss = nn.functional.cross_entropy(model.classifier(features), labels[batch])
            optimizer.zero_grad()
            class_loss.backward()
            if epoch >= AUTOENCODE_FROM:
                image_loss = nn.functional.mse_loss(model.decoder(features), images[batch])
                image_loss.backward()
            optimizer.step()
            total += class_loss.item() * len(batch)
        print(f"epoch {epoch + 1}  class loss {total / len(images):.4f}")


if __name__ == "__main__":
    try:
        main()
    finally:
        print("Shows: two losses share an encoder, and the first backward() frees what the second one needs.")
