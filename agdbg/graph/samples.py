"""Graphs as real programs build them, of any size: for tests, benchmarks and looking at drawings."""

from dataclasses import replace

from agdbg.graph.model import Badge, Graph, GraphEdge, GraphNode, NodeState


class _Builder:
    """Adds nodes in creation order; producers are given as ids."""

    def __init__(self, title: str, state: NodeState) -> None:
        self.graph = Graph(title)
        self._state = state

    def add(self, op: str, site: str, text: str, *producers: int, badges: tuple[Badge, ...] = ()) -> int:
        """Add a node that consumes the gradients' producers, return its id."""
        number = len(self.graph.nodes) + 1
        self.graph.nodes.append(GraphNode(number, f"{op}Backward0", site, text, self._state, badges))
        self.graph.edges += [GraphEdge(number, each, 0, index) for index, each in enumerate(producers)]
        return number

    def linear(self, name: str, site: str, text: str, *inputs: int) -> int:
        """Add a linear layer: the transposed weight, then the product; parameters hang on both as badges."""
        weight = self.add("T", site, text, badges=(Badge(f"{name}.weight", "parameter"),))
        return self.add("Addmm", site, text, *inputs, weight, badges=(Badge(f"{name}.bias", "parameter"),))


def chain(length: int, state: NodeState = "ran") -> Graph:
    """One op after the other on one line, as `y = y * k` in a loop."""
    build = _Builder(f"chain of {length}", state)
    last: tuple[int, ...] = ()
    for _ in range(length):
        badges = () if last else (Badge("x", "leaf"),)
        last = (build.add("Mul", "chain.py:4", "    y = y * k", *last, badges=badges),)
    return build.graph


def mlp(state: NodeState = "ran") -> Graph:
    """Four linear layers with activations between and a mean squared error."""
    build = _Builder("mlp.py:14 backward(), pass 1: ok", state)
    last: tuple[int, ...] = ()
    for layer in range(4):
        out = build.linear(f"net.{2 * layer}", "mlp.py:11", "        x = layer(x)", *last)
        last = (build.add("Relu", "mlp.py:12", "        x = torch.relu(x)", out),) if layer < 3 else (out,)
    build.add("MseLoss", "mlp.py:13", "    loss = F.mse_loss(net(x), target)", *last)
    return build.graph


def shared_encoder() -> Graph:
    """One encoder, two losses: what a first backward pass through one of them left behind."""
    build = _Builder("two_losses.py, all nodes after pass 1", "pending")
    hidden = build.linear("encoder", "two_losses.py:15", "    z = torch.tanh(encoder(x))")
    code = build.add("Tanh", "two_losses.py:15", "    z = torch.tanh(encoder(x))", hidden)
    image = build.linear("decoder", "two_losses.py:16", "    image = decoder(z)", code)
    build.add("MseLoss", "two_losses.py:17", "    rebuilt = F.mse_loss(image, x)", image)
    scores = build.linear("head", "two_losses.py:18", "    scores = head(z)", code)
    log = build.add("LogSoftmax", "two_losses.py:19", "    guess = F.cross_entropy(scores, y)", scores)
    build.add("NllLoss", "two_losses.py:19", "    guess = F.cross_entropy(scores, y)", log)
    ran = {1, 2, 3, 4, 5, 6}
    build.graph.nodes = [replace(node, state="freed") if node.id in ran else node for node in build.graph.nodes]
    return build.graph


def rnn(steps: int, state: NodeState = "ran") -> Graph:
    """A recurrent network whose weights are shared by all steps: each use has its own badge."""
    build = _Builder(f"rnn.py:24 backward(), pass 1: {steps} steps", state)
    hidden: tuple[int, ...] = ()
    text = "        h = torch.tanh(x @ W.T + h @ U.T + b)"
    weights = {name: (Badge(name, "parameter"),) for name in ("W", "U", "b")}
    total: tuple[int, ...] = ()
    for _ in range(steps):
        left = build.add("Mm", "rnn.py:19", text, build.add("T", "rnn.py:19", text, badges=weights["W"]))
        right = build.add("Mm", "rnn.py:19", text, *hidden, build.add("T", "rnn.py:19", text, badges=weights["U"]))
        added = build.add("Add", "rnn.py:19", text, left, right)
        biased = build.add("Add", "rnn.py:19", text, added, badges=weights["b"])
        hidden = (build.add("Tanh", "rnn.py:19", text, biased),)
        loss = build.add("Mean", "rnn.py:20", "        total = total + h.mean()", *hidden)
        total = (build.add("Add", "rnn.py:20", "        total = total + h.mean()", *total, loss),)
    return build.graph


def resnet(blocks: int, state: NodeState = "ran") -> Graph:
    """Residual blocks, every fourth with a projection on its shortcut."""
    build = _Builder(f"resnet.py:40 backward(), pass 1: {blocks} blocks", state)
    last = build.add("Convolution", "resnet.py:31", "    x = self.stem(x)", badges=_conv("stem"))
    for block in range(blocks):
        name, came = f"blocks.{block}", last
        for half in (1, 2):
            badges = _conv(f"{name}.conv{half}")
            last = build.add(
                "Convolution",
                f"resnet.py:{14 + half}",
                f"        y = self.conv{half}(y)",
                last,
                badges=badges,
            )
            badges = _conv(f"{name}.bn{half}")
            last = build.add(
                "NativeBatchNorm",
                f"resnet.py:{14 + half}",
                f"        y = self.bn{half}(y)",
                last,
                badges=badges,
            )
            if half == 1:
                last = build.add("Relu", "resnet.py:15", "        y = F.relu(y)", last)
        if block % 4 == 3:
            badges = _conv(f"{name}.project")
            came = build.add("Convolution", "resnet.py:18", "        x = self.project(x)", came, badges=badges)
        last = build.add("Add", "resnet.py:19", "        return F.relu(y + x)", last, came)
        last = build.add("Relu", "resnet.py:19", "        return F.relu(y + x)", last)
    build.add("NllLoss", "resnet.py:39", "    loss = F.cross_entropy(net(x), y)", last)
    return build.graph


def _conv(name: str) -> tuple[Badge, ...]:
    return (Badge(f"{name}.weight", "parameter"), Badge(f"{name}.bias", "parameter"))


def failed() -> Graph:
    """A pass that stopped: a tensor saved by `exp` was written before backward came to it."""
    build = _Builder("overwrite.py:9 backward(), pass 1: error", "ran")
    doubled = build.add("Mul", "overwrite.py:5", "a = 2 * x", badges=(Badge("x", "leaf"),))
    saved = Badge("result saved at version 0, now 1", "saved")
    grown = build.add("Exp", "overwrite.py:6", "y = torch.exp(a)", doubled, badges=(saved,))
    weight = (Badge("weight", "parameter"),)
    scaled = build.add("Mul", "overwrite.py:8", "z = y * weight", grown, badges=weight)
    build.add("Sum", "overwrite.py:9", "z.sum().backward()", scaled)
    states: list[NodeState] = ["pending", "failed", "ran", "ran"]
    nodes = build.graph.nodes
    build.graph.nodes = [replace(node, state=state) for node, state in zip(nodes, states, strict=True)]
    build.graph.notes.append(
        "inplace-modified at #2: one of the variables needed for gradient computation has been modified by "
        "an inplace operation: [torch.FloatTensor [3]], is at version 1; expected version 0 instead."
    )
    return build.graph
