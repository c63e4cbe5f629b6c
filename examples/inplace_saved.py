"""exp() saves its result for backward; the result is then scaled in place."""

import agdbg_engine as ag


def gain(signal):
    signal *= 3
    return signal


def main():
    x = ag.ones(3, requires_grad=True)
    a = 2 * x
    y = ag.exp(a)
    loss = gain(y).sum()
    loss.backward()
    print(x.grad)


if __name__ == "__main__":
    try:
        main()
    finally:
        print("Shows: a tensor saved for backward is overwritten in place, two functions away from the error.")
