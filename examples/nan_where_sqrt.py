"""where() hides the bad values of sqrt() in forward, but not its gradient in backward."""

import agdbg_engine as ag


def main():
    x = ag.tensor([4.0, -1.0, -4.0], requires_grad=True)
    y = ag.where(x > 0, ag.sqrt(x), x)
    y.sum().backward()
    print("masked after sqrt: ", x.grad)

    x.grad = None
    safe = ag.where(x > 0, x, 1.0)
    y = ag.where(x > 0, ag.sqrt(safe), x)
    y.sum().backward()
    print("masked before sqrt:", x.grad)
    print("Shows: 0 * inf is nan, so a mask after sqrt() comes too late for backward; mask its input.")


if __name__ == "__main__":
    main()
