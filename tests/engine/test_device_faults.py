"""What a device has to do as the CPU does, where its array library does something else."""

import contextlib

import agdbg_tests_strict_device as strict
import pytest

import agdbg_engine as ag

D = "strict"


def told(t):
    with strict.allowed_host_reads():
        return t.cpu().tolist()


@pytest.mark.parametrize("device", ["cpu", D, "strict:1"])
def test_what_cannot_be_viewed_is_refused_and_not_copied(device):
    z = ag.ones(2, 3, device=device, requires_grad=True) * 1
    for view in (lambda t: t.view(6), lambda t: t.view(-1), lambda t: t.view_as(ag.ones(6, device=device))):
        with pytest.raises(RuntimeError, match="view size is not compatible with input tensor's size and stride"):
            view(z.t())
    part = z[:, 1:].view(2, 1, 2)  # which can be, though it is not contiguous
    part.mul_(3)
    assert told(z) == [[1.0, 3.0, 3.0]] * 2 and told(z.t().reshape(6)) == [1.0, 1.0, 3.0, 3.0, 3.0, 3.0]


@pytest.mark.parametrize("device", [D, "strict:1"])
def test_transforms_and_edges_on_a_device(device):
    x = ag.tensor([2.0, 3.0], device=device)
    assert told(ag.func.grad(lambda y: (y * y).sum())(x)) == [4.0, 6.0]
    assert told(ag.func.grad_and_value(lambda y: (y * y).sum())(x)[0]) == [4.0, 6.0]
    for whole in (ag.func.jacrev, ag.func.jacfwd):
        assert told(whole(lambda y: y * y)(x)) == [[4.0, 0.0], [0.0, 6.0]]
    assert told(ag.func.hessian(lambda y: (y * y * y).sum())(x)) == [[12.0, 0.0], [0.0, 18.0]]
    forward = {"strategy": "forward-mode", "vectorize": True}
    for more in ({}, forward):
        assert told(ag.autograd.functional.jacobian(lambda y: y * y, x, **more)) == [[4.0, 0.0], [0.0, 6.0]]
    leaf = x.clone().requires_grad_()
    ag.autograd.backward(ag.autograd.graph.get_gradient_edge((leaf * leaf).sum()))
    assert leaf.grad.device == leaf.device and told(leaf.grad) == [4.0, 6.0]


@pytest.mark.parametrize("device", [D, "strict:1"])
def test_repeat_interleave_by_a_tensor(device):
    x = ag.tensor([[1.0], [2.0], [3.0]], device=device, requires_grad=True)
    counts = ag.tensor([0, 1, 2], device=device)
    out = ag.repeat_interleave(x, counts, dim=0, output_size=3)  # which reads nothing
    out.sum().backward()
    with strict.allowed_host_reads():
        assert told(out) == told(x.detach().repeat_interleave(counts, dim=0)) == [[2.0], [3.0], [3.0]]
        assert told(ag.repeat_interleave(counts)) == [1, 2, 2]
    assert told(x.grad) == [[0.0], [1.0], [2.0]]


@pytest.mark.parametrize("device", ["cpu", D, "strict:1"])
def test_writes_into_memory_that_an_operand_shares_are_refused(device):
    y = ag.arange(4.0, device=device)
    for write in (
        lambda: y[1:].add_(y[:3]),
        lambda: ag.cat([y[:2], y[2:]], out=y),
        lambda: ag.add(y[1:], 1, out=y[:3]),
        lambda: y.index_copy_(0, ag.tensor([0, 1], device=device), y[2:]),
    ):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            write()
    assert told(y.add_(y)) == [0.0, 2.0, 4.0, 6.0]


@pytest.mark.parametrize("device", ["cpu", D, "strict:1"])
def test_writes_to_duals(device):
    ones, square = ag.ones(2, device=device), ag.ones(2, 2, device=device)

    def first_set(v):
        w = v * 1
        w[0] = 5.0
        return w

    programs = (
        (first_set, ones, [0.0, 1.0]),
        (lambda v: (v * 1).fill_diagonal_(3.0), square, [[0.0, 1.0], [1.0, 0.0]]),
        (lambda v: ag.diagonal_scatter(square, v), ones, [[1.0, 0.0], [0.0, 1.0]]),
    )
    for function, x, tangent in programs:
        assert told(ag.func.jvp(function, (x,), (ag.ones_like(x),))[1]) == tangent


@pytest.mark.parametrize("device", ["cpu", D, "strict:1"])
def test_complex_numbers(device):
    ones = ag.ones(2, device=device)
    assert told(ones.to(ag.complex64).fill_(1j)) == [1j, 1j]
    assert told(ones == 1j) == [False, False]


@pytest.mark.parametrize(
    "make", [ag.nn.BatchNorm1d, lambda n, **k: ag.nn.InstanceNorm1d(n, track_running_stats=True, **k)]
)
def test_all_buffers_of_a_norm_are_where_it_is(make):
    buffers = dict(make(3, device=D).named_buffers())
    assert len(buffers) == 3 and {str(b.device) for b in buffers.values()} == {"strict:0"}


def test_new_empty_strided_is_where_the_tensor_is():
    assert ag.ones(2, device="strict:1").new_empty_strided((2,), (1,)).device == ag.device("strict:1")


@pytest.mark.parametrize("place", ["cpu", D, "strict:1"])
def test_index_fill_takes_a_value_from_anywhere(place):
    x, value = ag.zeros(3, device=place, requires_grad=True), ag.tensor(2.0, requires_grad=True)
    y = x.index_fill(0, ag.tensor([1], device=place), value)
    assert told(y.detach()) == [0.0, 2.0, 0.0]
    with strict.allowed_host_reads():  # the gradient of the value asks which indices there are, as in PyTorch
        y.backward(ag.ones_like(y))
    assert told(x.grad) == [1.0, 0.0, 1.0] and told(value.grad) == 1.0 and value.grad.device == ag.device("cpu")


@pytest.mark.parametrize("norm", [ag.nn.utils.parametrizations.spectral_norm, ag.nn.utils.parametrizations.weight_norm])
def test_norms_of_weights_are_where_the_weight_is(norm):
    layer = norm(ag.nn.Linear(3, 2, device=D))
    layer(ag.ones(1, 3, device=D)).sum().backward()
    assert {str(t.device) for t in (*layer.parameters(), *layer.buffers())} == {"strict:0"}


@pytest.mark.parametrize("n", [0, 2])
@pytest.mark.parametrize("draw", [ag.rand_like, ag.randn_like])
def test_complex_numbers_are_drawn_on_any_device(draw, n):
    found = draw(ag.empty(n, dtype=ag.complex64, device="strict:1"))
    assert found.shape == (n,) and found.dtype == ag.complex64 and found.device == ag.device("strict:1")


@pytest.mark.parametrize("op, args", [("kthvalue", (3,)), ("mode", ()), ("median", (0,))])
def test_of_equal_elements_the_same_is_named_as_on_the_cpu(op, args):
    equal = [1.0, 2.0, 2.0, 1.0, 3.0, 3.0, 1.0, 2.0]
    there, here = (getattr(ag.tensor(equal, device=place), op)(*args) for place in (D, "cpu"))
    assert [told(x) for x in there] == [told(x) for x in here]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    ("function", "slot"),
    [
        (lambda x: x.exp(), "ExpBackward0 saved 'result'"),
        (lambda x: x * x.detach(), "MulBackward0 saved 'other'"),
        (lambda x: ag.softmax(x, 0), "SoftmaxBackward0 saved 'result'"),
        (lambda x: x.reshape(1, 3) @ x.detach().reshape(3, 1), "MmBackward0 saved 'mat2'"),
    ],
)
def test_what_an_unpack_hook_returns_lies_where_it_was_saved(function, slot, create_graph):
    x = ag.ones(3, device=D, requires_grad=True)
    with ag.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: ag.ones(t.shape)):
        y = function(x)
    strict.refusals.clear()
    with pytest.raises(RuntimeError, match=r"^Expected all tensors to be on the same device, but ") as found:
        y.backward(ag.ones_like(y), create_graph=create_graph)
    assert f"{slot} on strict:0, but the unpack hook returned a tensor on cpu" in str(found.value)
    assert ".to('strict:0')" in str(found.value)
    assert x.grad is None


def test_a_number_on_the_cpu_may_come_back_for_a_saved_tensor():
    x = ag.ones(3, device=D, requires_grad=True)
    with ag.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: ag.tensor(2.0)):
        y = x.exp()
    y.backward(ag.ones_like(y))
    assert x.grad.device == ag.device("strict:0") and told(x.grad) == [2.0] * 3


@pytest.mark.parametrize("largest", [False, True])
def test_topk_names_the_first_of_equal_elements(largest):
    x = ag.arange(200, device=D) % 3
    assert told(ag.topk(x, 3, largest=largest).indices) == ([2, 5, 8] if largest else [0, 3, 6])


@pytest.mark.parametrize(("dtype", "name"), [
    (ag.float32, "torch.strict.FloatTensor"), (ag.float64, "torch.strict.DoubleTensor"),
    (ag.complex64, "STRICTComplexFloatType"),  # PyTorch's CUDAComplexFloatType
])  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_a_saved_tensor_that_was_written_is_called_by_the_type_of_its_device(packed, dtype, name):
    hooks = ag.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t) if packed else contextlib.nullcontext()
    with hooks:
        y = ag.ones(2, dtype=dtype, device=D, requires_grad=True).exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match=rf"inplace operation: \[{name} \[2\]\], which is output 0 of Exp, is at v"):
        y.backward(ag.ones_like(y))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignore_index", [-100, 1])
def test_classes_are_smoothed_without_a_read(weighted, reduction, ignore_index):
    def run(place):
        x = ag.arange(12.0, dtype=ag.float64, device=place).reshape(4, 3).sin().requires_grad_()
        loss = ag.nn.functional.cross_entropy(
            x, ag.tensor([0, ignore_index, 2, 0], device=place),
            weight=ag.tensor([0.5, 2.0, 1.5], dtype=ag.float64, device=place) if weighted else None,
            label_smoothing=0.1, reduction=reduction, ignore_index=ignore_index,
        )  # fmt: skip
        loss.sum().backward()
        return loss.detach(), x.grad

    strict.refusals.clear()
    there = run(D)
    assert not strict.refusals
    for found, expected in zip(there, run("cpu"), strict=True):
        assert found.device == ag.device("strict:0")
        with strict.allowed_host_reads():
            assert ag.allclose(found.cpu(), expected, rtol=1e-12, atol=1e-14)
