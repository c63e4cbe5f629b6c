"""The comparison with PyTorch's list sees what it is there to see: an op is made wrong, and the check says so."""
# ruff: noqa: E402 - the helpers can be imported only where PyTorch is

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is the reference here")

from agdbg_tests_op_cases import spread
from agdbg_tests_op_checks import report
from agdbg_tests_op_compare import differences
from agdbg_tests_op_convert import Copier, Excluded, tensor
from agdbg_tests_op_db import OPS, has, present

import agdbg_engine as engine


def failing(monkeypatch, name, check, function):
    """The texts of the failures of a check when the op is ``function``."""
    assert not report(name, check).failures
    monkeypatch.setattr(engine, name, function, raising=False)
    return [f.text for f in report(name, check).failures]


WRONG = {
    "value": ("sin", "value", lambda x: engine.cos(x), "numbers differ"),
    "dtype": ("sin", "value", lambda x: engine.Tensor.sin(x).to(engine.float64), "dtype torch float32, engine float64"),
    "shape": ("sin", "value", lambda x: engine.Tensor.sin(x).reshape(-1), "shape torch"),
    "layout": ("sin", "layout", lambda x: engine.Tensor.sin(x.permute(*reversed(range(x.ndim)))), "differ"),
    "no gradient": ("sin", "gradient", lambda x: engine.Tensor.sin(x.detach()), "0 in the engine"),
    "gradient": ("sin", "gradient", lambda x: engine.Tensor.sin(x.detach()) + x - x.detach(), "gradient of tensor 0"),
    "node": ("sin", "node", lambda x: engine.Tensor.sin(x) * 1, "SinBackward0; engine MulBackward0"),
    "second order": ("sin", "second", lambda x: engine.Tensor.sin(x.detach()) + x * engine.cos(x.detach()), "second gradient"),
    "tangent": ("sin", "forward", lambda x: engine.Tensor.sin(x.detach()), "tangent of result 0"),
    "refused": ("sin", "value", lambda x: 1 // 0, "engine raises ZeroDivisionError"),
    "complex": ("sin", "complex", lambda x: engine.Tensor.sin(x.conj()), "numbers differ"),
    "out": ("sin", "out", lambda x, out: engine.Tensor.sin(x), "gives out back"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_op_is_found(case, monkeypatch):
    name, check, function, said = WRONG[case]
    found = failing(monkeypatch, name, check, function)
    assert found and any(said in text for text in found), found


def test_an_error_of_another_type_and_none_at_all(monkeypatch):
    assert any("the engine nothing" in t for t in failing(monkeypatch, "t", "errors", lambda x: x))


def test_a_wrong_in_place_form(monkeypatch):
    monkeypatch.setattr(engine.Tensor, "sin_", engine.Tensor.sin)
    assert any("the tensor itself" in f.text for f in report("sin", "inplace").failures)


def test_an_op_that_is_not_there_is_no_failure(monkeypatch):
    assert has(OPS["sin"]) and not has(OPS["_chunk_cat"])
    assert "sin" in present() and "_chunk_cat" not in present()


def test_copies_have_strides_identity_and_leaves():
    x = torch.arange(6.0).reshape(2, 3).t().requires_grad_()
    copy = Copier(engine)
    one, (two, three) = copy(x), copy([x, torch.zeros(2).expand(3, 2)])
    assert one is two and copy.leaves == [one]
    assert one.stride() == (1, 3) and three.stride() == (0, 1)
    twisted = tensor(torch.zeros(2, 3), engine, twisted=True)
    assert twisted.stride() == (1, 2)


def test_what_the_engine_excludes_is_said():
    with pytest.raises(Excluded, match="layout"):
        tensor(torch.zeros(2).to_sparse(), engine)


def test_special_numbers_are_compared():
    theirs = torch.tensor([float("nan"), float("inf"), 0.0])
    assert not list(differences(theirs, engine.tensor([float("nan"), float("inf"), 0.0])))
    assert list(differences(theirs, engine.tensor([0.0, float("inf"), 0.0])))
    assert list(differences(theirs, engine.tensor([float("nan"), -float("inf"), 0.0])))


def test_samples_are_spread_over_all():
    assert spread(list(range(100)), 3) == [0, 49, 99]
    assert spread([1, 2], 3) == [1, 2]


def test_a_form_that_is_gone_is_a_failure(monkeypatch):
    assert not report("masked_fill", "inplace").failures
    monkeypatch.delattr(engine.Tensor, "masked_fill_")
    found = report("masked_fill", "inplace")
    assert {f.text for f in found.failures} == {"the engine has no such method"}
    assert not found.skipped["the engine has no such method"]


def test_other_words_are_a_failure(monkeypatch):
    def amax(x, *args, **kwargs):
        raise IndexError("no")

    assert any("the engine 'no'" in text for text in failing(monkeypatch, "amax", "errors", amax))
