"""Tensors of two devices in one op, masks and numbers of the CPU beside a device. The second device is the strict one."""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.tensor import wrap

TWO = "^(Expected all tensors|Expected b and A|expected self and mask) to be on the same device, but (found|got) |^Expected tensor to have "


def content(t):
    """The numbers of a tensor on the strict device."""
    return strict.host(t._a).tolist()


def on_strict(*values, grad=False):
    return wrap(strict.put(np.array(values))).requires_grad_(grad)


MIXES = {
    "mm": lambda a, b: a @ b.T, "mm, the other way": lambda a, b: b @ a.T, "mv": lambda a, b: ag.mv(a, b[0]), "dot": lambda a, b: ag.dot(a[0], b[0]),
    "linear": lambda a, b: ag.nn.functional.linear(a, b), "tensordot": lambda a, b: ag.tensordot(a, b, 2), "equal": ag.equal, "allclose": ag.allclose,
    "isin": ag.isin, "searchsorted": ag.searchsorted, "bucketize": lambda a, b: ag.bucketize(b, a[0]), "complex": ag.complex, "cat": lambda a, b: ag.cat([a, b]),
    "where": lambda a, b: ag.where(a > 0, a, b), "compared": lambda a, b: a == b, "solve": lambda a, b: ag.linalg.solve(a[:, :2], b[:, 0]),
    "out": lambda a, b: ag.add(a, a, out=b), "masked_select": lambda a, b: a.masked_select(b > 0),
}  # fmt: skip

I, F = ag.tensor([0, 1]), ag.nn.functional
INDICES = {
    "gather": lambda b: b.gather(1, I.reshape(2, 1)), "gather from a vector": lambda b: b[0].gather(0, I), "take": lambda b: b.take(I),
    "scatter_": lambda b: b.scatter_(0, I.reshape(1, 2), b[:1, :2].clone()), "scatter_add": lambda b: b.scatter_add(0, I.reshape(1, 2), b),
    "scatter of a number": lambda b: b.scatter(0, I.reshape(1, 2), 2.0), "scatter_reduce": lambda b: b.scatter_reduce(0, I.reshape(1, 2), b, "amax"),
    "index_select": lambda b: b.index_select(0, I), "take_along_dim": lambda b: ag.take_along_dim(b, I.reshape(2, 1), 1),
    "index_add": lambda b: b.index_add(0, I, b), "index_copy_": lambda b: b.index_copy_(0, I, b.clone()), "index_fill_": lambda b: b.index_fill_(0, I, 1.0),
    "put_": lambda b: b.put_(I, b[0, :2].clone()), "embedding": lambda b: F.embedding(I, b), "nll_loss": lambda b: F.nll_loss(b, I),
    "cross_entropy": lambda b: F.cross_entropy(b, I), "multi_margin_loss": lambda b: F.multi_margin_loss(b, I),
    "repeat_interleave": lambda b: b.repeat_interleave(I, 0), "masked_fill_": lambda b: b.masked_fill_(I.reshape(2, 1) > 0, 1.0),
}  # fmt: skip
"""Ops on a device by indices on the CPU, which CuPy takes."""
MIXES |= {f"{name} by indices of the CPU": lambda a, b, op=op: op(b) for name, op in INDICES.items()}

VALUES = {
    "index_put_": lambda a, b, i: b.index_put_((i,), a), "accumulated": lambda a, b, i: b.index_put_((i,), a, accumulate=True),
    "assigned by an index": lambda a, b, i: b.__setitem__(i, a), "index_copy_": lambda a, b, i: b.index_copy_(0, i, a), "put_": lambda a, b, i: b.put_(i, a[0, :2]),
    "scatter_": lambda a, b, i: b.scatter_(0, i.reshape(1, 2), a), "masked_scatter_": lambda a, b, i: b.masked_scatter_(b > 9, a),
    "index_add_": lambda a, b, i: b.index_add_(0, i, a),
}  # fmt: skip
"""Values on the CPU put into a tensor on a device, which CuPy takes."""
MIXES |= {
    f"{name} from the CPU": lambda a, b, op=op: op(a, b, ag.tensor([0, 1], device="strict"))
    for name, op in VALUES.items()
}


@pytest.mark.parametrize("name", MIXES)
def test_no_op_takes_tensors_of_two_devices(name):
    a, b = ag.ones(2, 3), ag.ones(2, 3, device="strict")
    with pytest.raises(RuntimeError, match=TWO), strict.allowed_host_reads():  # masks
        MIXES[name](a, b)
    assert content(b) == [[1.0] * 3] * 2
    strict.refusals.clear()


COPIED = {
    "select_scatter": lambda x, src: x.select_scatter(src[0], 0, 0), "slice_scatter": lambda x, src: x.slice_scatter(src, 0, 0, 2),
    "diagonal_scatter": lambda x, src: x.diagonal_scatter(src[0, :2]), "as_strided_scatter": lambda x, src: x.as_strided_scatter(src[0], (3,), (1,), 2),
}  # fmt: skip


@pytest.mark.parametrize("name", COPIED)
@pytest.mark.parametrize(("here", "there"), [("cpu", "strict"), ("strict", "cpu"), ("cpu", strict.PLACE)])
def test_what_is_copied_to_a_part_may_come_from_the_cpu(name, here, there):
    strict.refusals.clear()
    given = []
    for places in ((here, there), ("cpu", "cpu")):
        src, x = (ag.arange(6.0).reshape(2, 3).to(place).requires_grad_() for place in places)
        with strict.allowed_host_reads():  # the copies
            made = COPIED[name](x, src)
            (made * made).sum().backward()
            given.append([t.tolist() for t in (made, x.grad, src.grad)])
        assert (made.device, x.grad.device, src.grad.device) == (x.device, x.device, src.device)
    assert given[0] == given[1]
    assert strict.refusals == []


def test_grids_of_two_devices():
    with pytest.raises(RuntimeError, match=r"^meshgrid expects all tensors to have the same device$"):
        ag.meshgrid(ag.ones(2), ag.ones(2, device="strict"))
    with pytest.raises(
        RuntimeError, match=r"^Expected query, key, and value to have the same device type, but got query.device: cpu"
    ):
        ag.nn.functional.scaled_dot_product_attention(ag.ones(1, 2, 3), *(ag.ones(1, 2, 3, device="strict"),) * 2)


NUMBERS = {
    "greater": lambda b, n: b > n, "number first": lambda b, n: n >= b, "bits": lambda b, n: (b > 0) & (n > 0), "fill_": lambda b, n: b.fill_(n),
    "assigned": lambda b, n: b.__setitem__(0, n) or b, "assigned by an index": lambda b, n: b.__setitem__([0, 1], n) or b, "added in place": lambda b, n: b.add_(n), "masked_fill": lambda b, n: b.masked_fill(b > 0, n),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_the_cpu_stand_beside_any_device(name):
    number = ag.tensor(0.5)
    found = NUMBERS[name](ag.ones(2, 3, device="strict"), number)
    assert found.device == ag.device("strict:0")
    assert content(found) == NUMBERS[name](ag.ones(2, 3), number).tolist()


def test_a_number_of_the_cpu_as_an_index_is_read_there():
    x = ag.arange(6.0, device="strict").reshape(2, 3)
    strict.copies.clear()
    assert content(x[ag.tensor(1), ag.tensor(2)]) == 5.0
    x[ag.tensor(0)] = ag.tensor(7.0)
    assert content(x)[0] == [7.0] * 3
    assert strict.copies == []


MASKED = {
    "a number": lambda x: x.__setitem__(x > 1, 9.0), "a tensor": lambda x: x.__setitem__(x > 1, ag.tensor(9.0, device=x.device)),
    "of the CPU": lambda x: x.__setitem__(x > 1, ag.tensor(9.0)), "of the CPU, of another dtype": lambda x: x.__setitem__(x > 1, ag.tensor(9)), "of rows": lambda x: x.__setitem__(x[:, 0] > 1, 9.0),
    "of columns": lambda x: x.__setitem__((slice(None), x[0] > 1), 9.0), "of none": lambda x: x.__setitem__(x > 99, 9.0),
    "of both": lambda x: x.unsqueeze(0).__setitem__((slice(None), x > 1), 9.0), "put": lambda x: x.index_put_((x > 1,), x.detach()[0, 0].clone()),
}  # fmt: skip


@pytest.mark.parametrize("name", MASKED)
def test_one_value_goes_to_where_a_mask_says_without_a_read(name):
    strict.refusals.clear()
    found = []
    for place in ("cpu", "strict"):
        leaf = ag.arange(6.0).reshape(2, 3).to(place).requires_grad_()
        x = leaf * 1
        MASKED[name](x)
        x.sum().backward()
        found.append([t.tolist() if place == "cpu" else content(t) for t in (x.detach(), leaf.grad)])
    assert found[0] == found[1]
    assert strict.refusals == []


def test_numbers_on_a_device_in_a_list():
    with strict.allowed_host_reads():
        assert ag.tensor([on_strict(1.0)[0], 2.0]).tolist() == [1.0, 2.0]


def test_what_was_saved_of_an_optimiser_goes_to_the_device_of_its_parameters():
    layer = ag.nn.Linear(2, 2)
    trained = ag.optim.Adam(layer.parameters())
    layer(ag.ones(1, 2)).sum().backward()
    trained.step()
    layer = ag.nn.Linear(2, 2, device="strict")
    again = ag.optim.Adam(layer.parameters())
    again.load_state_dict(trained.state_dict())
    layer(ag.ones(1, 2, device="strict")).sum().backward()
    strict.copies.clear()
    again.step()
    assert strict.copies == []
    places = {name: str(value.device) for name, value in again.state[layer.weight].items()}
    assert places == {"step": "cpu", "exp_avg": "strict:0", "exp_avg_sq": "strict:0"}


LOCATIONS = [
    (lambda t, place: t, "cpu"), (lambda t, place: None, "strict:0"), (lambda t, place: t.to("strict:1"), "strict:1"), (ag.device("strict:1"), "strict:1"),
    ("cpu", "cpu"), ({"strict:0": "strict:1"}, "strict:1"), ({"cuda:0": "cpu"}, "strict:0"), (None, "strict:0"),
]  # fmt: skip


@pytest.mark.parametrize("which", range(len(LOCATIONS)))
def test_files_are_loaded_to_where_one_says(which, tmp_path):
    with strict.allowed_host_reads():
        ag.save({"x": ag.ones(2, device="strict")}, tmp_path / "x.pt")
    map_location, place = LOCATIONS[which]
    assert str(ag.load(tmp_path / "x.pt", map_location)["x"].device) == place


M = [[True, False, True], [False, True, True]]
HOST_MASKS = {
    "a tensor": lambda m: ag.tensor(m), "an array": np.array, "bytes": lambda m: ag.tensor(m).byte(), "rows": lambda m: ag.tensor([True, False]), "a list": lambda m: [True, False],
    "beside a number": lambda m: (ag.tensor([True, False]), 1), "behind a slice": lambda m: (slice(None), ag.tensor([False, True, True])), "True": lambda m: True, "False": lambda m: False, "of no dimensions": lambda m: ag.tensor(True),
    "beside indices": lambda m: (ag.tensor([True, True]), ag.tensor([0, 2])),
}  # fmt: skip


@pytest.mark.parametrize("name", HOST_MASKS)
@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_a_mask_of_the_cpu_is_counted_there(name):
    """Nobody asks the device how much it picks, as in PyTorch: for the value, the gradient and what is put there."""
    key = HOST_MASKS[name](M)
    numbers = np.arange(6.0).reshape(2, 3)
    found = []
    for place in ("cpu", "strict", strict.PLACE):
        x = ag.from_numpy(numbers.copy()).to(place).requires_grad_()
        picked = x[key]
        (picked * picked).sum().backward()
        y = x.detach().clone()
        y[key] = (picked * 2).detach()
        z = x.detach().clone()
        if name != "bytes":
            z[key] = ag.tensor(7.0, dtype=ag.float64)
        found.append([strict.host(t._a) if place != "cpu" else t.numpy() for t in (picked.detach(), x.grad, y, z)])
    for others in found[1:]:
        for a, b in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(a, b)
    assert not strict.refusals


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_one_element_for_what_a_mask_of_bytes_picks():
    """PyTorch fills, which takes bools alone, where the element is a number or lies on the CPU; else it puts."""
    for place in ("cpu", "strict", strict.PLACE):
        x, mask = ag.zeros(2, 3, device=place), ag.tensor(M).byte()
        for value in (7.0, ag.tensor(7.0), ag.tensor([7.0])):
            with pytest.raises(RuntimeError, match=r"^masked_fill_ only supports boolean masks"):
                x[mask] = value
    for value in (ag.tensor(7.0, device=place), ag.tensor([7.0], device=place)):
        y = ag.zeros(2, 3, device=place)
        y[mask] = value
        np.testing.assert_array_equal(strict.host(y._a), 7.0 * np.array(M))
    assert not strict.refusals


def test_a_value_on_the_device_is_not_read_to_be_put_where_a_mask_says():
    y = ag.zeros(3, device="strict")
    with pytest.raises(
        RuntimeError, match=r"^Index put requires the source and destination dtypes match, got Float for the dest"
    ):
        y[ag.tensor([True, False, True])] = ag.tensor([1, 2], device="strict")
    with pytest.raises(RuntimeError, match=r"^Index put requires the source and destination dtypes match"):
        y[ag.tensor([True, False, True])] = ag.tensor(1, device="strict")
    assert not strict.refusals


def test_a_mask_of_the_cpu_that_does_not_fit_is_told_as_there():
    for x in (ag.zeros(2, 3), ag.zeros(2, 3, device="strict")):
        with pytest.raises(
            IndexError, match=r"^The shape of the mask \[3\] at index 0 does not match the shape of the indexed tensor"
        ):
            x[ag.tensor([True, False, True])]
        with pytest.raises(RuntimeError, match=r"^shape mismatch: value tensor of shape \[3\] cannot be broadcast"):
            x[ag.tensor(M)] = ag.ones(3, device=x.device)


def test_lengths_that_are_numbers_stay_on_the_cpu():
    """Also where `with device(...)` has all other tensors made elsewhere."""
    rnn = ag.nn.utils.rnn
    with ag.device("strict"):
        x = ag.randn(5, 2, 2)
        for lengths, in_order in (([5, 3], True), ([3, 5], False)):
            packed = rnn.pack_padded_sequence(x, lengths, enforce_sorted=in_order)
            assert (packed.batch_sizes.device.type, packed.data.device.type) == ("cpu", "strict")
            assert packed.batch_sizes.tolist() == [2, 2, 2, 1, 1]
    assert not strict.refusals
