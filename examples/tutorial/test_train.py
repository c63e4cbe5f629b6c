"""What docs/tutorial.md ends with: tests that keep its mistakes away."""

import train

import agdbg
import agdbg_engine as ag


def test_every_parameter_gets_a_gradient():
    ag.manual_seed(0)
    model = train.Model()
    assert not agdbg.lint(sum(train.losses(model)), model)


def test_a_point_may_be_its_own_partner():
    places = ag.randn(3, 4).requires_grad_()
    train.distance(places, places.detach()).sum().backward()
    assert places.grad.isfinite().all()
