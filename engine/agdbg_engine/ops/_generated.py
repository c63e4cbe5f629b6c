"""Generated from the op table by ``python scripts/generate_ops.py``. Do not edit."""
# ruff: noqa
# mypy: ignore-errors

from typing import Any

from numpy import ndarray

from .. import events
from ..backward import add as b_add
from ..backward import route_run as b_route_run
from ..device import array_module
from ..grad_mode import mode
from ..node import Node1, Node2, NodeN, edge, next_seq, no_instances, nowhere
from ..saved import late_storage, unpacked
from ..sites import INTERNAL, _getframe, user_frame
from ..tensor import Tensor
from ..view import as_view
from . import formulas as f_
from . import graph as o_
from . import kernels as k_
from . import prepare as p_
from .kernels import abs as k_abs
from .kernels import add as k_add
from .kernels import addmm as k_addmm
from .kernels import alias as k_alias
from .kernels import amax as k_amax
from .kernels import amin as k_amin
from .kernels import angle as k_angle
from .kernels import bmm as k_bmm
from .kernels import ceil as k_ceil
from .kernels import clamp as k_clamp
from .kernels import clamp_max as k_clamp_max
from .kernels import clamp_min as k_clamp_min
from .kernels import clone as k_clone
from .kernels import complex_raw as k_complex_raw
from .kernels import conj_copy as k_conj_copy
from .kernels import conj_raw as k_conj_raw
from .kernels import contiguous as k_contiguous
from .kernels import copy as k_copy
from .kernels import cos as k_cos
from .kernels import div as k_div
from .kernels import dot as k_dot
from .kernels import drop as k_drop
from .kernels import exp as k_exp
from .kernels import expand as k_expand
from .kernels import expm1 as k_expm1
from .kernels import fill as k_fill
from .kernels import floor as k_floor
from .kernels import fw_primal as k_fw_primal
from .kernels import gather as k_gather
from .kernels import gather_backward as k_gather_backward
from .kernels import gelu_tanh as k_gelu_tanh
from .kernels import gelu_tanh_grad as k_gelu_tanh_grad
from .kernels import ger as k_ger
from .kernels import index as k_index
from .kernels import index_backward as k_index_backward
from .kernels import index_put as k_index_put
from .kernels import keep as k_keep
from .kernels import leaky_relu as k_leaky_relu
from .kernels import leaky_relu_backward as k_leaky_relu_backward
from .kernels import log as k_log
from .kernels import log1p as k_log1p
from .kernels import log_softmax_dim as k_log_softmax_dim
from .kernels import log_softmax_grad as k_log_softmax_grad
from .kernels import logsumexp as k_logsumexp
from .kernels import masked_fill as k_masked_fill
from .kernels import maximum as k_maximum
from .kernels import mean_all as k_mean_all
from .kernels import mean_dim as k_mean_dim
from .kernels import mean_share as k_mean_share
from .kernels import minimum as k_minimum
from .kernels import mm_left as k_mm_left
from .kernels import mse_loss_raw as k_mse_loss_raw
from .kernels import mul as k_mul
from .kernels import mv as k_mv
from .kernels import neg as k_neg
from .kernels import nll_loss_raw as k_nll_loss_raw
from .kernels import nll_loss_raw_backward as k_nll_loss_raw_backward
from .kernels import norm_dim as k_norm_dim
from .kernels import permute_to as k_permute_to
from .kernels import pick as k_pick
from .kernels import polar_raw as k_polar_raw
from .kernels import pow as k_pow
from .kernels import reciprocal as k_reciprocal
from .kernels import relu as k_relu
from .kernels import reshape as k_reshape
from .kernels import reshape_alias as k_reshape_alias
from .kernels import round as k_round
from .kernels import rsqrt as k_rsqrt
from .kernels import select as k_select
from .kernels import select_backward as k_select_backward
from .kernels import sgn as k_sgn
from .kernels import sigmoid as k_sigmoid
from .kernels import sigmoid_grad as k_sigmoid_grad
from .kernels import sign as k_sign
from .kernels import silu as k_silu
from .kernels import silu_backward as k_silu_backward
from .kernels import sin as k_sin
from .kernels import slice as k_slice
from .kernels import slice_backward as k_slice_backward
from .kernels import softmax_dim as k_softmax_dim
from .kernels import softmax_grad as k_softmax_grad
from .kernels import softplus as k_softplus
from .kernels import softplus_backward as k_softplus_backward
from .kernels import sqrt as k_sqrt
from .kernels import squeeze_all as k_squeeze_all
from .kernels import squeeze_dim as k_squeeze_dim
from .kernels import std_dim as k_std_dim
from .kernels import sub as k_sub
from .kernels import sum_all as k_sum_all
from .kernels import sum_dim as k_sum_dim
from .kernels import sum_to as k_sum_to
from .kernels import t as k_t
from .kernels import tanh as k_tanh
from .kernels import tanh_grad as k_tanh_grad
from .kernels import threshold_backward as k_threshold_backward
from .kernels import to_copy as k_to_copy
from .kernels import transpose as k_transpose
from .kernels import trunc as k_trunc
from .kernels import unsafe_view as k_unsafe_view
from .kernels import unsqueeze as k_unsqueeze
from .kernels import var_dim as k_var_dim
from .kernels import view as k_view
from .kernels import view_as_complex as k_view_as_complex
from .kernels import view_as_real as k_view_as_real
from .kernels import where as k_where
from .kernels import zero as k_zero
from .kernels import zeros_of as k_zeros_of

new = object.__new__
NUMBERS = frozenset((float, int, bool))
BUT_BOOLS = frozenset((float, int))


class AddBackward0(Node2):
    __slots__ = ('fit',)
    __new__ = no_instances
    op_name = 'AddBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            gi = g
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
                if n.keeps and gi is g:
                    shared.add(n)
        n = self.n1
        if n is not None:
            gi = g
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
                if n.keeps and gi is g:
                    shared.add(n)

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = g
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            g1 = g
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = g
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            g1 = g
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)


class AddBackward0_other(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'AddBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()
    blanks = (1,)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = g
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps:
                shared.add(n)

    def grads(self, g):
        g0 = g
        return (g0,)

    def grads_graph(self, g):
        g0 = g
        return (g0,)


def add(self: Tensor, other: Any) -> Tensor:
    try:
        if isinstance(other, Tensor):
            a_self = self._in
            a_other = other._in
            if a_self.dtype is not a_other.dtype and a_self.dtype != a_other.dtype:
                return p_.mixed(add, ['self', 'other'], {'self': self, 'other': other})
            r = k_add(a_self, a_other)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg or other._rg) and mode.grad:
                n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
                n1 = (other._fn if other._meta is None else edge(other)) if other._rg else None
                if n0 is not None or n1 is not None or nowhere(self, other) is not None:
                    n = new(AddBackward0)
                    n.n0 = n0
                    n.n1 = n1
                    n.nrs = (self._nr, other._nr,) if self._nr or other._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.fit = None if a_self.shape == a_other.shape else (a_self.shape, a_other.shape,)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[AddBackward0](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('add', out, (self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('add', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg or other._rg):
                        p_.cut((self, other,))
                    if events.special:
                        p_.after('add', out, (self, other,))
            return out
        if type(other) in NUMBERS:
            a_self = self._in
            cls = AddBackward0_other
            if a_self.dtype.char in 'fdFD':
                r = k_add(a_self, other)
            else:
                r, cls = p_.beside_number('add', lambda a_self, other: k_add(a_self, other), (a_self, other,), a_self, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg) and mode.grad:
                n0 = self._fn if self._meta is None else edge(self)
                if n0 is not None or (n0 := nowhere(self)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (self._nr,) if self._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[AddBackward0_other](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('add', out, (self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('add', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg):
                        p_.cut((self,))
                    if events.special:
                        p_.after('add', out, (self, other,))
            return out
        return p_.converted(add, ('other',), {'self': self, 'other': other})
    except Exception as error:
        return p_.failed(add, error, {'self': self, 'other': other}, {})


def jvp_add(self_: Any, other: Any, result: Any, self_t: Any, other_t: Any) -> Any:
    return self_t + other_t


class SubBackward0(Node2):
    __slots__ = ('fit',)
    __new__ = no_instances
    op_name = 'SubBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            gi = g
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
                if n.keeps and gi is g:
                    shared.add(n)
        n = self.n1
        if n is not None:
            gi = -g
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = g
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            g1 = -g
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = g
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            g1 = -g
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)


class SubBackward0_other(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'SubBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()
    blanks = (1,)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = g
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps:
                shared.add(n)

    def grads(self, g):
        g0 = g
        return (g0,)

    def grads_graph(self, g):
        g0 = g
        return (g0,)


def sub(self: Tensor, other: Any) -> Tensor:
    try:
        if isinstance(other, Tensor):
            a_self = self._in
            a_other = other._in
            if a_self.dtype is not a_other.dtype and a_self.dtype != a_other.dtype:
                return p_.mixed(sub, ['self', 'other'], {'self': self, 'other': other})
            r = k_sub(a_self, a_other)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg or other._rg) and mode.grad:
                n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
                n1 = (other._fn if other._meta is None else edge(other)) if other._rg else None
                if n0 is not None or n1 is not None or nowhere(self, other) is not None:
                    n = new(SubBackward0)
                    n.n0 = n0
                    n.n1 = n1
                    n.nrs = (self._nr, other._nr,) if self._nr or other._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.fit = None if a_self.shape == a_other.shape else (a_self.shape, a_other.shape,)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[SubBackward0](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('sub', out, (self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('sub', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg or other._rg):
                        p_.cut((self, other,))
                    if events.special:
                        p_.after('sub', out, (self, other,))
            return out
        if type(other) in BUT_BOOLS:
            a_self = self._in
            cls = SubBackward0_other
            if a_self.dtype.char in 'fdFD':
                r = k_sub(a_self, other)
            else:
                r, cls = p_.beside_number('sub', lambda a_self, other: k_sub(a_self, other), (a_self, other,), a_self, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg) and mode.grad:
                n0 = self._fn if self._meta is None else edge(self)
                if n0 is not None or (n0 := nowhere(self)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (self._nr,) if self._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[SubBackward0_other](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('sub', out, (self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('sub', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg):
                        p_.cut((self,))
                    if events.special:
                        p_.after('sub', out, (self, other,))
            return out
        return p_.converted(sub, ('other',), {'self': self, 'other': other})
    except Exception as error:
        return p_.failed(sub, error, {'self': self, 'other': other}, {})


def jvp_sub(self_: Any, other: Any, result: Any, self_t: Any, other_t: Any) -> Any:
    return self_t - other_t


class RsubBackward0(Node2):
    __slots__ = ('fit',)
    __new__ = no_instances
    op_name = 'RsubBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            gi = -g
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            gi = g
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
                if n.keeps and gi is g:
                    shared.add(n)

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = -g
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            g1 = g
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = -g
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            g1 = g
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)


class RsubBackward1_other(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'RsubBackward1'
    slots = ()
    outputs_saved = ()
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = -g
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = -g
        return (g0,)

    def grads_graph(self, g):
        g0 = -g
        return (g0,)


def rsub(self: Tensor, other: Any) -> Tensor:
    try:
        if isinstance(other, Tensor):
            a_self = self._in
            a_other = other._in
            if a_self.dtype is not a_other.dtype and a_self.dtype != a_other.dtype:
                return p_.mixed(rsub, ['self', 'other'], {'self': self, 'other': other})
            r = a_other - a_self
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg or other._rg) and mode.grad:
                n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
                n1 = (other._fn if other._meta is None else edge(other)) if other._rg else None
                if n0 is not None or n1 is not None or nowhere(self, other) is not None:
                    n = new(RsubBackward0)
                    n.n0 = n0
                    n.n1 = n1
                    n.nrs = (self._nr, other._nr,) if self._nr or other._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.fit = None if a_self.shape == a_other.shape else (a_self.shape, a_other.shape,)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[RsubBackward0](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('rsub', out, (self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('rsub', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg or other._rg):
                        p_.cut((self, other,))
                    if events.special:
                        p_.after('rsub', out, (self, other,))
            return out
        if type(other) in BUT_BOOLS:
            a_self = self._in
            cls = RsubBackward1_other
            if a_self.dtype.char in 'fdFD':
                r = other - a_self
            else:
                r, cls = p_.beside_number('rsub', lambda a_self, other: other - a_self, (a_self, other,), a_self, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg) and mode.grad:
                n0 = self._fn if self._meta is None else edge(self)
                if n0 is not None or (n0 := nowhere(self)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (self._nr,) if self._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[RsubBackward1_other](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('rsub', out, (self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('rsub', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg):
                        p_.cut((self,))
                    if events.special:
                        p_.after('rsub', out, (self, other,))
            return out
        return p_.converted(rsub, ('other',), {'self': self, 'other': other})
    except Exception as error:
        return p_.failed(rsub, error, {'self': self, 'other': other}, {})


def jvp_rsub(self_: Any, other: Any, result: Any, self_t: Any, other_t: Any) -> Any:
    return other_t - self_t


class MulBackward0(Node2):
    __slots__ = ('s_self', 's_other', 'v_self', 'v_other', 'fit')
    __new__ = no_instances
    op_name = 'MulBackward0'
    slots = ('self', 'other')
    outputs_saved = (False, False)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            gi = g * other
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            gi = g * self_
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_other = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            if other.dtype.kind == 'c':
                other = k_conj_raw(other)
            g0 = g * other
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            g1 = g * self_
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            elif other._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if other._a.dtype.kind == 'c':
                other = o_.conj_raw(other)
            g0 = g * other
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            g1 = g * self_
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_other = freed


class MulBackward0_other(Node1):
    __slots__ = ('c_other',)
    __new__ = no_instances
    op_name = 'MulBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('other',)
    blanks = (1,)
    spent = ('c_other',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = g * self.c_other
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.c_other = freed

    def grads(self, g):
        g0 = g * self.c_other
        return (g0,)

    def grads_graph(self, g):
        g0 = g * self.c_other
        return (g0,)

    def release(self, freed):
        self.c_other = freed


def mul(self: Tensor, other: Any) -> Tensor:
    try:
        if isinstance(other, Tensor):
            a_self = self._in
            a_other = other._in
            if a_self.dtype is not a_other.dtype and a_self.dtype != a_other.dtype:
                return p_.mixed(mul, ['self', 'other'], {'self': self, 'other': other})
            r = k_mul(a_self, a_other)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg or other._rg) and mode.grad:
                n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
                n1 = (other._fn if other._meta is None else edge(other)) if other._rg else None
                if n0 is not None or n1 is not None or nowhere(self, other) is not None:
                    n = new(MulBackward0)
                    n.n0 = n0
                    n.n1 = n1
                    n.nrs = (self._nr, other._nr,) if self._nr or other._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    if n1 is not None:
                        n.s_self = self
                        st = self._storage
                        n.v_self = 0 if st is None else st.version
                    else:
                        n.s_self = None
                        n.v_self = 0
                    if n0 is not None:
                        n.s_other = other
                        st = other._storage
                        n.v_other = 0 if st is None else st.version
                    else:
                        n.s_other = None
                        n.v_other = 0
                    n.fit = None if a_self.shape == a_other.shape else (a_self.shape, a_other.shape,)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[MulBackward0](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('mul', out, (self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('mul', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg or other._rg):
                        p_.cut((self, other,))
                    if events.special:
                        p_.after('mul', out, (self, other,))
            return out
        if type(other) in NUMBERS:
            a_self = self._in
            cls = MulBackward0_other
            if a_self.dtype.char in 'fdFD':
                r = k_mul(a_self, other)
            else:
                r, cls = p_.beside_number('mul', lambda a_self, other: k_mul(a_self, other), (a_self, other,), a_self, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg) and mode.grad:
                n0 = self._fn if self._meta is None else edge(self)
                if n0 is not None or (n0 := nowhere(self)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (self._nr,) if self._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.c_other = other
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[MulBackward0_other](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('mul', out, (self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('mul', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg):
                        p_.cut((self,))
                    if events.special:
                        p_.after('mul', out, (self, other,))
            return out
        return p_.converted(mul, ('other',), {'self': self, 'other': other})
    except Exception as error:
        return p_.failed(mul, error, {'self': self, 'other': other}, {})


def jvp_mul(self_: Any, other: Any, result: Any, self_t: Any, other_t: Any) -> Any:
    return self_t * other + self_ * other_t


class DivBackward0(Node2):
    __slots__ = ('s_self', 's_other', 'v_self', 'v_other', 'fit')
    __new__ = no_instances
    op_name = 'DivBackward0'
    slots = ('self', 'other')
    outputs_saved = (False, False)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            gi = g / other
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            gi = -g * (self_ / other / other)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_other = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            if other.dtype.kind == 'c':
                other = k_conj_raw(other)
            g0 = g / other
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            if other.dtype.kind == 'c':
                other = k_conj_raw(other)
            g1 = -g * (self_ / other / other)
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            elif other._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if other._a.dtype.kind == 'c':
                other = o_.conj_raw(other)
            g0 = g / other
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            elif other._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if other._a.dtype.kind == 'c':
                other = o_.conj_raw(other)
            g1 = -g * (self_ / other / other)
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_other = freed


class DivBackward0_other(Node1):
    __slots__ = ('c_other',)
    __new__ = no_instances
    op_name = 'DivBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('other',)
    blanks = (1,)
    spent = ('c_other',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = g / self.c_other
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.c_other = freed

    def grads(self, g):
        g0 = g / self.c_other
        return (g0,)

    def grads_graph(self, g):
        g0 = g / self.c_other
        return (g0,)

    def release(self, freed):
        self.c_other = freed


def div(self: Tensor, other: Any) -> Tensor:
    try:
        if isinstance(other, Tensor):
            a_self = self._in
            a_other = other._in
            if a_self.dtype is not a_other.dtype and a_self.dtype != a_other.dtype:
                return p_.mixed(div, ['self', 'other'], {'self': self, 'other': other}, True)
            r = k_div(a_self, a_other)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg or other._rg) and mode.grad:
                n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
                n1 = (other._fn if other._meta is None else edge(other)) if other._rg else None
                if n0 is not None or n1 is not None or nowhere(self, other) is not None:
                    n = new(DivBackward0)
                    n.n0 = n0
                    n.n1 = n1
                    n.nrs = (self._nr, other._nr,) if self._nr or other._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    if n1 is not None:
                        n.s_self = self
                        st = self._storage
                        n.v_self = 0 if st is None else st.version
                    else:
                        n.s_self = None
                        n.v_self = 0
                    n.s_other = other
                    st = other._storage
                    n.v_other = 0 if st is None else st.version
                    n.fit = None if a_self.shape == a_other.shape else (a_self.shape, a_other.shape,)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[DivBackward0](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('div', out, (self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if r.dtype is not a_self.dtype:
                        out._a = p_.weak('div', r, a_self)
                    if events.special:
                        p_.after('div', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if r.dtype is not a_self.dtype:
                    out._a = p_.weak('div', r, a_self)
                if events.on:
                    if events.sink is not None and (self._rg or other._rg):
                        p_.cut((self, other,))
                    if events.special:
                        p_.after('div', out, (self, other,))
            return out
        if type(other) in NUMBERS:
            a_self = self._in
            cls = DivBackward0_other
            if a_self.dtype.char in 'fdFD':
                r = k_div(a_self, other)
            else:
                r, cls = p_.beside_number('div', lambda a_self, other: k_div(a_self, other), (a_self, other,), a_self, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg) and mode.grad:
                n0 = self._fn if self._meta is None else edge(self)
                if n0 is not None or (n0 := nowhere(self)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (self._nr,) if self._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.c_other = other
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[DivBackward0_other](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('div', out, (self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('div', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg):
                        p_.cut((self,))
                    if events.special:
                        p_.after('div', out, (self, other,))
            return out
        return p_.converted(div, ('other',), {'self': self, 'other': other})
    except Exception as error:
        return p_.failed(div, error, {'self': self, 'other': other}, {})


def jvp_div(self_: Any, other: Any, result: Any, self_t: Any, other_t: Any) -> Any:
    return (self_t - other_t * result) / other


class PowBackward1(Node2):
    __slots__ = ('s_self', 's_exponent', 's_result', 'v_self', 'v_exponent', 'v_result', 'fit', 'o_storage')
    __new__ = no_instances
    op_name = 'PowBackward1'
    slots = ('self', 'exponent', 'result')
    outputs_saved = (False, False, True)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            exponent = self.s_exponent
            st = exponent._storage
            if st is not None and st.version != self.v_exponent:
                exponent = unpacked(self, 'exponent', st)
            exponent = exponent._a
            gi = f_.pow_grad_base(k_, g, self_, exponent)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            exponent = self.s_exponent
            st = exponent._storage
            if st is not None and st.version != self.v_exponent:
                exponent = unpacked(self, 'exponent', st)
            exponent = exponent._a
            st = self.o_storage
            if st is not None and st.version != self.v_result:
                result = unpacked(self, 'result', st)._a
            else:
                result = self.s_result
            gi = f_.pow_grad_exponent(k_, g, self_, exponent, result)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_exponent = self.s_result = self.o_storage = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            exponent = self.s_exponent
            st = exponent._storage
            if st is not None and st.version != self.v_exponent:
                exponent = unpacked(self, 'exponent', st)
            exponent = exponent._a
            if exponent.dtype.kind == 'c':
                exponent = k_conj_raw(exponent)
            g0 = f_.pow_grad_base(k_, g, self_, exponent)
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            exponent = self.s_exponent
            st = exponent._storage
            if st is not None and st.version != self.v_exponent:
                exponent = unpacked(self, 'exponent', st)
            exponent = exponent._a
            if exponent.dtype.kind == 'c':
                exponent = k_conj_raw(exponent)
            st = self.o_storage
            if st is not None and st.version != self.v_result:
                result = unpacked(self, 'result', st)._a
            else:
                result = self.s_result
            if result.dtype.kind == 'c':
                result = k_conj_raw(result)
            g1 = f_.pow_grad_exponent(k_, g, self_, exponent, result)
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            exponent = self.s_exponent
            st = exponent._storage
            if st is not None and st.version != self.v_exponent:
                exponent = unpacked(self, 'exponent', st)
            elif exponent._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if exponent._a.dtype.kind == 'c':
                exponent = o_.conj_raw(exponent)
            g0 = f_.pow_grad_base(o_, g, self_, exponent)
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            exponent = self.s_exponent
            st = exponent._storage
            if st is not None and st.version != self.v_exponent:
                exponent = unpacked(self, 'exponent', st)
            elif exponent._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if exponent._a.dtype.kind == 'c':
                exponent = o_.conj_raw(exponent)
            st = self.o_storage
            if st is not None and st.version != self.v_result:
                result = unpacked(self, 'result', st)
            else:
                result = o_.output_of(self)
            if result._a.dtype.kind == 'c':
                result = o_.conj_raw(result)
            g1 = f_.pow_grad_exponent(o_, g, self_, exponent, result)
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_exponent = self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


class PowBackward0_exponent(Node1):
    __slots__ = ('s_self', 'v_self', 'c_exponent')
    __new__ = no_instances
    op_name = 'PowBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ('exponent',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = f_.pow_grad_base(k_, g, self_, self.c_exponent)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = f_.pow_grad_base(k_, g, self_, self.c_exponent)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = f_.pow_grad_base(o_, g, self_, self.c_exponent)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


class PowBackward2_self(Node1):
    __slots__ = ('s_exponent', 's_result', 'v_exponent', 'v_result', 'c_self', 'o_storage')
    __new__ = no_instances
    op_name = 'PowBackward2'
    slots = ('exponent', 'result')
    outputs_saved = (False, True)
    consts = ('self',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        exponent = self.s_exponent
        st = exponent._storage
        if st is not None and st.version != self.v_exponent:
            exponent = unpacked(self, 'exponent', st)
        exponent = exponent._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = f_.pow_grad_exponent(k_, g, self.c_self, exponent, result)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_exponent = self.s_result = self.o_storage = freed

    def grads(self, g):
        exponent = self.s_exponent
        st = exponent._storage
        if st is not None and st.version != self.v_exponent:
            exponent = unpacked(self, 'exponent', st)
        exponent = exponent._a
        if exponent.dtype.kind == 'c':
            exponent = k_conj_raw(exponent)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = f_.pow_grad_exponent(k_, g, self.c_self, exponent, result)
        return (g0,)

    def grads_graph(self, g):
        exponent = self.s_exponent
        st = exponent._storage
        if st is not None and st.version != self.v_exponent:
            exponent = unpacked(self, 'exponent', st)
        elif exponent._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if exponent._a.dtype.kind == 'c':
            exponent = o_.conj_raw(exponent)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = f_.pow_grad_exponent(o_, g, self.c_self, exponent, result)
        return (g0,)

    def release(self, freed):
        self.s_exponent = self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def pow(self: Any, exponent: Any) -> Tensor:
    try:
        if isinstance(exponent, Tensor) and isinstance(self, Tensor):
            a_self = self._in
            a_exponent = exponent._in
            if a_self.dtype is not a_exponent.dtype and a_self.dtype != a_exponent.dtype:
                return p_.mixed(pow, ['self', 'exponent'], {'self': self, 'exponent': exponent})
            r = k_pow(a_self, a_exponent)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg or exponent._rg) and mode.grad:
                n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
                n1 = (exponent._fn if exponent._meta is None else edge(exponent)) if exponent._rg else None
                if n0 is not None or n1 is not None or nowhere(self, exponent) is not None:
                    n = new(PowBackward1)
                    n.n0 = n0
                    n.n1 = n1
                    n.nrs = (self._nr, exponent._nr,) if self._nr or exponent._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.s_self = self
                    st = self._storage
                    n.v_self = 0 if st is None else st.version
                    n.s_exponent = exponent
                    st = exponent._storage
                    n.v_exponent = 0 if st is None else st.version
                    n.s_result = r
                    n.v_result = 0
                    n.o_storage = None
                    n.fit = None if a_self.shape == a_exponent.shape else (a_self.shape, a_exponent.shape,)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[PowBackward1](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('pow', out, (self, exponent,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('pow', out, (self, exponent,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg or exponent._rg):
                        p_.cut((self, exponent,))
                    if events.special:
                        p_.after('pow', out, (self, exponent,))
            return out
        if type(exponent) in NUMBERS:
            a_self = self._in
            cls = PowBackward0_exponent
            if a_self.dtype.char in 'fdFD':
                r = k_pow(a_self, exponent)
            else:
                r, cls = p_.beside_number('pow', lambda a_self, exponent: k_pow(a_self, exponent), (a_self, exponent,), a_self, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg) and mode.grad:
                n0 = self._fn if self._meta is None else edge(self)
                if n0 is not None or (n0 := nowhere(self)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (self._nr,) if self._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.s_self = self
                    st = self._storage
                    n.v_self = 0 if st is None else st.version
                    n.c_exponent = exponent
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[PowBackward0_exponent](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('pow', out, (self, exponent,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('pow', out, (self, exponent,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg):
                        p_.cut((self,))
                    if events.special:
                        p_.after('pow', out, (self, exponent,))
            return out
        if type(self) in NUMBERS:
            a_exponent = exponent._in
            cls = PowBackward2_self
            if a_exponent.dtype.char in 'fdFD':
                r = k_pow(self, a_exponent)
            else:
                r, cls = p_.beside_number('pow', lambda a_exponent, self_: k_pow(self_, a_exponent), (a_exponent, self,), a_exponent, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (exponent._rg) and mode.grad:
                n0 = exponent._fn if exponent._meta is None else edge(exponent)
                if n0 is not None or (n0 := nowhere(exponent)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (exponent._nr,) if exponent._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.s_exponent = exponent
                    st = exponent._storage
                    n.v_exponent = 0 if st is None else st.version
                    n.s_result = r
                    n.v_result = 0
                    n.o_storage = None
                    n.c_self = self
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[PowBackward2_self](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('pow', out, (self, exponent,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('pow', out, (self, exponent,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (exponent._rg):
                        p_.cut((exponent,))
                    if events.special:
                        p_.after('pow', out, (self, exponent,))
            return out
        return p_.converted(pow, ('exponent', 'self'), {'self': self, 'exponent': exponent})
    except Exception as error:
        return p_.failed(pow, error, {'self': self, 'exponent': exponent}, {})


def jvp_pow(self_: Any, exponent: Any, result: Any, self_t: Any, exponent_t: Any) -> Any:
    return o_.linear(f_.pow_grad_base, 1, o_, self_t, self_, exponent) + o_.linear(f_.pow_grad_exponent, 1, o_, exponent_t, self_, exponent, result)


class MaximumBackward0(Node2):
    __slots__ = ('s_self', 's_other', 'v_self', 'v_other', 'fit')
    __new__ = no_instances
    op_name = 'MaximumBackward0'
    slots = ('self', 'other')
    outputs_saved = (False, False)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            gi = k_drop(k_where(self_ == other, g / 2, g), self_ < other)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            gi = k_drop(k_where(self_ == other, g / 2, g), self_ > other)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_other = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            if other.dtype.kind == 'c':
                other = k_conj_raw(other)
            g0 = k_drop(k_where(self_ == other, g / 2, g), self_ < other)
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            if other.dtype.kind == 'c':
                other = k_conj_raw(other)
            g1 = k_drop(k_where(self_ == other, g / 2, g), self_ > other)
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            elif other._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if other._a.dtype.kind == 'c':
                other = o_.conj_raw(other)
            g0 = o_.drop(o_.where(self_ == other, g / 2, g), self_ < other)
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            elif other._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if other._a.dtype.kind == 'c':
                other = o_.conj_raw(other)
            g1 = o_.drop(o_.where(self_ == other, g / 2, g), self_ > other)
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_other = freed


def maximum(self: Tensor, other: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_other = other._in
        if a_self.dtype is not a_other.dtype and a_self.dtype != a_other.dtype:
            return p_.mixed(maximum, ['self', 'other'], {'self': self, 'other': other})
        r = k_maximum(a_self, a_other)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg or other._rg) and mode.grad:
            n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            n1 = (other._fn if other._meta is None else edge(other)) if other._rg else None
            if n0 is not None or n1 is not None or nowhere(self, other) is not None:
                n = new(MaximumBackward0)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (self._nr, other._nr,) if self._nr or other._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_other = other
                st = other._storage
                n.v_other = 0 if st is None else st.version
                n.fit = None if a_self.shape == a_other.shape else (a_self.shape, a_other.shape,)
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[MaximumBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('maximum', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('maximum', out, (self, other,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg or other._rg):
                    p_.cut((self, other,))
                if events.special:
                    p_.after('maximum', out, (self, other,))
        return out
    except Exception as error:
        return p_.failed(maximum, error, {'self': self, 'other': other}, {})


def jvp_maximum(self_: Any, other: Any, result: Any, self_t: Any, other_t: Any) -> Any:
    return f_.extreme_of_two_tangent(o_, o_.filled(self_t), o_.filled(other_t), self_ > other, self_ == other)


class MinimumBackward0(Node2):
    __slots__ = ('s_self', 's_other', 'v_self', 'v_other', 'fit')
    __new__ = no_instances
    op_name = 'MinimumBackward0'
    slots = ('self', 'other')
    outputs_saved = (False, False)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            gi = k_drop(k_where(self_ == other, g / 2, g), self_ > other)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            gi = k_drop(k_where(self_ == other, g / 2, g), self_ < other)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_other = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            if other.dtype.kind == 'c':
                other = k_conj_raw(other)
            g0 = k_drop(k_where(self_ == other, g / 2, g), self_ > other)
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            other = other._a
            if other.dtype.kind == 'c':
                other = k_conj_raw(other)
            g1 = k_drop(k_where(self_ == other, g / 2, g), self_ < other)
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            elif other._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if other._a.dtype.kind == 'c':
                other = o_.conj_raw(other)
            g0 = o_.drop(o_.where(self_ == other, g / 2, g), self_ > other)
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            other = self.s_other
            st = other._storage
            if st is not None and st.version != self.v_other:
                other = unpacked(self, 'other', st)
            elif other._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if other._a.dtype.kind == 'c':
                other = o_.conj_raw(other)
            g1 = o_.drop(o_.where(self_ == other, g / 2, g), self_ < other)
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_other = freed


def minimum(self: Tensor, other: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_other = other._in
        if a_self.dtype is not a_other.dtype and a_self.dtype != a_other.dtype:
            return p_.mixed(minimum, ['self', 'other'], {'self': self, 'other': other})
        r = k_minimum(a_self, a_other)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg or other._rg) and mode.grad:
            n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            n1 = (other._fn if other._meta is None else edge(other)) if other._rg else None
            if n0 is not None or n1 is not None or nowhere(self, other) is not None:
                n = new(MinimumBackward0)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (self._nr, other._nr,) if self._nr or other._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_other = other
                st = other._storage
                n.v_other = 0 if st is None else st.version
                n.fit = None if a_self.shape == a_other.shape else (a_self.shape, a_other.shape,)
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[MinimumBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('minimum', out, (self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('minimum', out, (self, other,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg or other._rg):
                    p_.cut((self, other,))
                if events.special:
                    p_.after('minimum', out, (self, other,))
        return out
    except Exception as error:
        return p_.failed(minimum, error, {'self': self, 'other': other}, {})


def jvp_minimum(self_: Any, other: Any, result: Any, self_t: Any, other_t: Any) -> Any:
    return f_.extreme_of_two_tangent(o_, o_.filled(self_t), o_.filled(other_t), self_ < other, self_ == other)


class NegBackward0(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'NegBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = -g
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = -g
        return (g0,)

    def grads_graph(self, g):
        g0 = -g
        return (g0,)


def neg(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_neg(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(NegBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[NegBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('neg', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('neg', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('neg', out, (self,))
        return out
    except Exception as error:
        return p_.failed(neg, error, {'self': self}, {})


def jvp_neg(self_: Any, result: Any, self_t: Any) -> Any:
    return -self_t


class ExpBackward0(Node1):
    __slots__ = ('s_result', 'v_result', 'o_storage')
    __new__ = no_instances
    op_name = 'ExpBackward0'
    slots = ('result',)
    outputs_saved = (True,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = g * result
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_result = self.o_storage = freed

    def grads(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = g * result
        return (g0,)

    def grads_graph(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = g * result
        return (g0,)

    def release(self, freed):
        self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def exp(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return exp(p_.floated(self))
        r = k_exp(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ExpBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ExpBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('exp', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('exp', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('exp', out, (self,))
        return out
    except Exception as error:
        return p_.failed(exp, error, {'self': self}, {})


def jvp_exp(self_: Any, result: Any, self_t: Any) -> Any:
    return self_t * result


class Expm1Backward0(Node1):
    __slots__ = ('s_result', 'v_result', 'o_storage')
    __new__ = no_instances
    op_name = 'Expm1Backward0'
    slots = ('result',)
    outputs_saved = (True,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = g * (result + 1)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_result = self.o_storage = freed

    def grads(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = g * (result + 1)
        return (g0,)

    def grads_graph(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = g * (result + 1)
        return (g0,)

    def release(self, freed):
        self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def expm1(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return expm1(p_.floated(self))
        r = k_expm1(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(Expm1Backward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[Expm1Backward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('expm1', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('expm1', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('expm1', out, (self,))
        return out
    except Exception as error:
        return p_.failed(expm1, error, {'self': self}, {})


def jvp_expm1(self_: Any, result: Any, self_t: Any) -> Any:
    return self_t * (result + 1)


class LogBackward0(Node1):
    __slots__ = ('s_self', 'v_self')
    __new__ = no_instances
    op_name = 'LogBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = g / self_
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = g / self_
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = g / self_
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def log(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return log(p_.floated(self))
        r = k_log(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(LogBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[LogBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('log', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('log', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('log', out, (self,))
        return out
    except Exception as error:
        return p_.failed(log, error, {'self': self}, {})


def jvp_log(self_: Any, result: Any, self_t: Any) -> Any:
    return self_t / self_


class Log1PBackward0(Node1):
    __slots__ = ('s_self', 'v_self')
    __new__ = no_instances
    op_name = 'Log1PBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = g / (self_ + 1)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = g / (self_ + 1)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = g / (self_ + 1)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def log1p(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return log1p(p_.floated(self))
        r = k_log1p(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(Log1PBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[Log1PBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('log1p', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('log1p', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('log1p', out, (self,))
        return out
    except Exception as error:
        return p_.failed(log1p, error, {'self': self}, {})


def jvp_log1p(self_: Any, result: Any, self_t: Any) -> Any:
    return self_t / (self_ + 1)


class SqrtBackward0(Node1):
    __slots__ = ('s_result', 'v_result', 'o_storage')
    __new__ = no_instances
    op_name = 'SqrtBackward0'
    slots = ('result',)
    outputs_saved = (True,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = g / (2 * result)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_result = self.o_storage = freed

    def grads(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = g / (2 * result)
        return (g0,)

    def grads_graph(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = g / (2 * result)
        return (g0,)

    def release(self, freed):
        self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def sqrt(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return sqrt(p_.floated(self))
        r = k_sqrt(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SqrtBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SqrtBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('sqrt', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('sqrt', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('sqrt', out, (self,))
        return out
    except Exception as error:
        return p_.failed(sqrt, error, {'self': self}, {})


def jvp_sqrt(self_: Any, result: Any, self_t: Any) -> Any:
    return self_t / (2 * result)


class RsqrtBackward0(Node1):
    __slots__ = ('s_result', 'v_result', 'o_storage')
    __new__ = no_instances
    op_name = 'RsqrtBackward0'
    slots = ('result',)
    outputs_saved = (True,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = -0.5 * g * k_pow(result, 3)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_result = self.o_storage = freed

    def grads(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = -0.5 * g * k_pow(result, 3)
        return (g0,)

    def grads_graph(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = -0.5 * g * o_.pow(result, 3)
        return (g0,)

    def release(self, freed):
        self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def rsqrt(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return rsqrt(p_.floated(self))
        r = k_rsqrt(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(RsqrtBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[RsqrtBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('rsqrt', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('rsqrt', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('rsqrt', out, (self,))
        return out
    except Exception as error:
        return p_.failed(rsqrt, error, {'self': self}, {})


def jvp_rsqrt(self_: Any, result: Any, self_t: Any) -> Any:
    return -0.5 * self_t * o_.pow(result, 3)


class ReciprocalBackward0(Node1):
    __slots__ = ('s_result', 'v_result', 'o_storage')
    __new__ = no_instances
    op_name = 'ReciprocalBackward0'
    slots = ('result',)
    outputs_saved = (True,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = -g * (result * result)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_result = self.o_storage = freed

    def grads(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = -g * (result * result)
        return (g0,)

    def grads_graph(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = -g * (result * result)
        return (g0,)

    def release(self, freed):
        self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def reciprocal(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return reciprocal(p_.floated(self))
        r = k_reciprocal(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ReciprocalBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ReciprocalBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('reciprocal', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('reciprocal', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('reciprocal', out, (self,))
        return out
    except Exception as error:
        return p_.failed(reciprocal, error, {'self': self}, {})


def jvp_reciprocal(self_: Any, result: Any, self_t: Any) -> Any:
    return -self_t * (result * result)


class AbsBackward0(Node1):
    __slots__ = ('s_self', 'v_self')
    __new__ = no_instances
    op_name = 'AbsBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = g * k_sgn(self_)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        g0 = g * k_sgn(self_)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        g0 = g * o_.sgn(self_)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def abs(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_abs(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(AbsBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[AbsBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('abs', out, (self,))
            else:
                if a_self.dtype.kind == 'b':
                    p_.refuse_bools('abs')
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('abs', out, (self,))
        else:
            if a_self.dtype.kind == 'b':
                p_.refuse_bools('abs')
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('abs', out, (self,))
        return out
    except Exception as error:
        return p_.failed(abs, error, {'self': self}, {})


def jvp_abs(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(f_.inner, 1, o_, self_t, o_.sgn(self_))


class SgnBackward0(Node1):
    __slots__ = ('s_self', 's_result', 'v_self', 'v_result', 'o_storage')
    __new__ = no_instances
    op_name = 'SgnBackward0'
    slots = ('self', 'result')
    outputs_saved = (False, True)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = f_.sgn_grad(k_, g, self_, result)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_result = self.o_storage = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        g0 = f_.sgn_grad(k_, g, self_, result)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        g0 = f_.sgn_grad(o_, g, self_, result)
        return (g0,)

    def release(self, freed):
        self.s_self = self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def sgn(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_sgn(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SgnBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SgnBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('sgn', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('sgn', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('sgn', out, (self,))
        return out
    except Exception as error:
        return p_.failed(sgn, error, {'self': self}, {})


def jvp_sgn(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(f_.sgn_grad, 1, o_, self_t, self_, result)


class AngleBackward0(Node1):
    __slots__ = ('s_self', 'v_self')
    __new__ = no_instances
    op_name = 'AngleBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = f_.angle_grad(k_, g, self_)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        g0 = f_.angle_grad(k_, g, self_)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        g0 = f_.angle_grad(o_, g, self_)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def angle(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return angle(p_.floated(self))
        r = k_angle(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(AngleBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[AngleBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('angle', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('angle', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('angle', out, (self,))
        return out
    except Exception as error:
        return p_.failed(angle, error, {'self': self}, {})


def jvp_angle(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(f_.angle_tangent, 1, o_, self_t, self_)


class SignBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'SignBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_zeros_of(self.c_self_shape, g)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_zeros_of(self.c_self_shape, g)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.zeros_of(self.c_self_shape, g)
        return (g0,)


def sign(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_sign(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SignBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SignBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('sign', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('sign', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('sign', out, (self,))
        return out
    except Exception as error:
        return p_.failed(sign, error, {'self': self}, {})


def jvp_sign(self_: Any, result: Any, self_t: Any) -> Any:
    self_shape = self_.shape
    return o_.linear(o_.zeros_of, 1, self_shape, self_t)


class FloorBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'FloorBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_zeros_of(self.c_self_shape, g)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_zeros_of(self.c_self_shape, g)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.zeros_of(self.c_self_shape, g)
        return (g0,)


def floor(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_floor(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(FloorBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[FloorBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('floor', out, (self,))
            else:
                if a_self.dtype.kind == 'b':
                    p_.refuse_bools('floor')
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('floor', out, (self,))
        else:
            if a_self.dtype.kind == 'b':
                p_.refuse_bools('floor')
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('floor', out, (self,))
        return out
    except Exception as error:
        return p_.failed(floor, error, {'self': self}, {})


def jvp_floor(self_: Any, result: Any, self_t: Any) -> Any:
    self_shape = self_.shape
    return o_.linear(o_.zeros_of, 1, self_shape, self_t)


class CeilBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'CeilBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_zeros_of(self.c_self_shape, g)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_zeros_of(self.c_self_shape, g)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.zeros_of(self.c_self_shape, g)
        return (g0,)


def ceil(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_ceil(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(CeilBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[CeilBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('ceil', out, (self,))
            else:
                if a_self.dtype.kind == 'b':
                    p_.refuse_bools('ceil')
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('ceil', out, (self,))
        else:
            if a_self.dtype.kind == 'b':
                p_.refuse_bools('ceil')
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('ceil', out, (self,))
        return out
    except Exception as error:
        return p_.failed(ceil, error, {'self': self}, {})


def jvp_ceil(self_: Any, result: Any, self_t: Any) -> Any:
    self_shape = self_.shape
    return o_.linear(o_.zeros_of, 1, self_shape, self_t)


class RoundBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'RoundBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_zeros_of(self.c_self_shape, g)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_zeros_of(self.c_self_shape, g)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.zeros_of(self.c_self_shape, g)
        return (g0,)


def round(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_round(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(RoundBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[RoundBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('round', out, (self,))
            else:
                if a_self.dtype.kind == 'b':
                    p_.refuse_bools('round')
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('round', out, (self,))
        else:
            if a_self.dtype.kind == 'b':
                p_.refuse_bools('round')
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('round', out, (self,))
        return out
    except Exception as error:
        return p_.failed(round, error, {'self': self}, {})


def jvp_round(self_: Any, result: Any, self_t: Any) -> Any:
    self_shape = self_.shape
    return o_.linear(o_.zeros_of, 1, self_shape, self_t)


class TruncBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'TruncBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_zeros_of(self.c_self_shape, g)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_zeros_of(self.c_self_shape, g)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.zeros_of(self.c_self_shape, g)
        return (g0,)


def trunc(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_trunc(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(TruncBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[TruncBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('trunc', out, (self,))
            else:
                if a_self.dtype.kind == 'b':
                    p_.refuse_bools('trunc')
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('trunc', out, (self,))
        else:
            if a_self.dtype.kind == 'b':
                p_.refuse_bools('trunc')
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('trunc', out, (self,))
        return out
    except Exception as error:
        return p_.failed(trunc, error, {'self': self}, {})


def jvp_trunc(self_: Any, result: Any, self_t: Any) -> Any:
    self_shape = self_.shape
    return o_.linear(o_.zeros_of, 1, self_shape, self_t)


class SinBackward0(Node1):
    __slots__ = ('s_self', 'v_self')
    __new__ = no_instances
    op_name = 'SinBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = g * k_cos(self_)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = g * k_cos(self_)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = g * o_.cos(self_)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def sin(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return sin(p_.floated(self))
        r = k_sin(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SinBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SinBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('sin', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('sin', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('sin', out, (self,))
        return out
    except Exception as error:
        return p_.failed(sin, error, {'self': self}, {})


def jvp_sin(self_: Any, result: Any, self_t: Any) -> Any:
    return self_t * o_.cos(self_)


class CosBackward0(Node1):
    __slots__ = ('s_self', 'v_self')
    __new__ = no_instances
    op_name = 'CosBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = g * -k_sin(self_)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = g * -k_sin(self_)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = g * -o_.sin(self_)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def cos(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return cos(p_.floated(self))
        r = k_cos(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(CosBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[CosBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('cos', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('cos', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('cos', out, (self,))
        return out
    except Exception as error:
        return p_.failed(cos, error, {'self': self}, {})


def jvp_cos(self_: Any, result: Any, self_t: Any) -> Any:
    return self_t * -o_.sin(self_)


class TanhBackward0(Node1):
    __slots__ = ('s_result', 'v_result', 'o_storage')
    __new__ = no_instances
    op_name = 'TanhBackward0'
    slots = ('result',)
    outputs_saved = (True,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = k_tanh_grad(g, result)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_result = self.o_storage = freed

    def grads(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = k_tanh_grad(g, result)
        return (g0,)

    def grads_graph(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = o_.tanh_grad(g, result)
        return (g0,)

    def release(self, freed):
        self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def tanh(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return tanh(p_.floated(self))
        r = k_tanh(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(TanhBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[TanhBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('tanh', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('tanh', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('tanh', out, (self,))
        return out
    except Exception as error:
        return p_.failed(tanh, error, {'self': self}, {})


def jvp_tanh(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.tanh_grad, 0, self_t, result)


class SigmoidBackward0(Node1):
    __slots__ = ('s_result', 'v_result', 'o_storage')
    __new__ = no_instances
    op_name = 'SigmoidBackward0'
    slots = ('result',)
    outputs_saved = (True,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = k_sigmoid_grad(g, result)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_result = self.o_storage = freed

    def grads(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = k_sigmoid_grad(g, result)
        return (g0,)

    def grads_graph(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = o_.sigmoid_grad(g, result)
        return (g0,)

    def release(self, freed):
        self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def sigmoid(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind in 'biu':
            return sigmoid(p_.floated(self))
        r = k_sigmoid(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SigmoidBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SigmoidBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('sigmoid', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('sigmoid', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('sigmoid', out, (self,))
        return out
    except Exception as error:
        return p_.failed(sigmoid, error, {'self': self}, {})


def jvp_sigmoid(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.sigmoid_grad, 0, self_t, result)


class ReluBackward0(Node1):
    __slots__ = ('s_result', 'v_result', 'o_storage')
    __new__ = no_instances
    op_name = 'ReluBackward0'
    slots = ('result',)
    outputs_saved = (True,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = k_threshold_backward(g, result)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_result = self.o_storage = freed

    def grads(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = k_threshold_backward(g, result)
        return (g0,)

    def grads_graph(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = o_.threshold_backward(g, result)
        return (g0,)

    def release(self, freed):
        self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def relu(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_relu(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ReluBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ReluBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('relu', out, (self,))
            else:
                if a_self.dtype.kind == 'b':
                    p_.refuse_bools('relu')
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('relu', out, (self,))
        else:
            if a_self.dtype.kind == 'b':
                p_.refuse_bools('relu')
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('relu', out, (self,))
        return out
    except Exception as error:
        return p_.failed(relu, error, {'self': self}, {})


def jvp_relu(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.threshold_backward, 0, self_t, result)


class LeakyReluBackward0(Node1):
    __slots__ = ('s_self', 'v_self', 'c_negative_slope')
    __new__ = no_instances
    op_name = 'LeakyReluBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ('negative_slope',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = k_leaky_relu_backward(g, self_, self.c_negative_slope)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = k_leaky_relu_backward(g, self_, self.c_negative_slope)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = o_.leaky_relu_backward(g, self_, self.c_negative_slope)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def leaky_relu(self: Tensor, negative_slope: Any = 0.01) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind not in 'fc':
            p_.refuse_kind('leaky_relu', a_self.dtype)
        r = k_leaky_relu(a_self, negative_slope)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(LeakyReluBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.c_negative_slope = negative_slope
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[LeakyReluBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('leaky_relu', out, (self, negative_slope,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('leaky_relu', out, (self, negative_slope,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('leaky_relu', out, (self, negative_slope,))
        return out
    except Exception as error:
        return p_.failed(leaky_relu, error, {'self': self}, {'negative_slope': negative_slope})


def jvp_leaky_relu(self_: Any, negative_slope: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.leaky_relu_backward, 0, self_t, self_, negative_slope)


class ThresholdBackwardBackward0(Node2):
    __slots__ = ('s_self', 'v_self', 'c_self_shape')
    __new__ = no_instances
    op_name = 'ThresholdBackwardBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            gi = k_threshold_backward(g, self_)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            gi = k_zeros_of(self.c_self_shape, g)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            g0 = k_threshold_backward(g, self_)
        if self.n1 is not None:
            g1 = k_zeros_of(self.c_self_shape, g)
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            g0 = o_.threshold_backward(g, self_)
        if self.n1 is not None:
            g1 = o_.zeros_of(self.c_self_shape, g)
        return (g0, g1,)

    def release(self, freed):
        self.s_self = freed


def threshold_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    try:
        a_grad_output = grad_output._in
        a_self = self._in
        r = k_threshold_backward(a_grad_output, a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_grad_output, a_self)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (grad_output._rg or self._rg) and mode.grad:
            n0 = (grad_output._fn if grad_output._meta is None else edge(grad_output)) if grad_output._rg else None
            n1 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            if n0 is not None or n1 is not None or nowhere(grad_output, self) is not None:
                n = new(ThresholdBackwardBackward0)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (grad_output._nr, self._nr,) if grad_output._nr or self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                if n0 is not None:
                    n.s_self = self
                    st = self._storage
                    n.v_self = 0 if st is None else st.version
                else:
                    n.s_self = None
                    n.v_self = 0
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ThresholdBackwardBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('threshold_backward', out, (grad_output, self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('threshold_backward', out, (grad_output, self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (grad_output._rg or self._rg):
                    p_.cut((grad_output, self,))
                if events.special:
                    p_.after('threshold_backward', out, (grad_output, self,))
        return out
    except Exception as error:
        return p_.failed(threshold_backward, error, {'grad_output': grad_output, 'self': self}, {})


def jvp_threshold_backward(grad_output: Any, self_: Any, result: Any, grad_output_t: Any, self_t: Any) -> Any:
    return o_.linear(o_.threshold_backward, 0, grad_output_t, self_)


class LeakyReluBackwardBackward0(Node2):
    __slots__ = ('s_self', 'v_self', 'c_negative_slope', 'c_self_shape')
    __new__ = no_instances
    op_name = 'LeakyReluBackwardBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ('negative_slope', 'self_shape')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            gi = k_leaky_relu_backward(g, self_, self.c_negative_slope)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            gi = k_zeros_of(self.c_self_shape, g)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            g0 = k_leaky_relu_backward(g, self_, self.c_negative_slope)
        if self.n1 is not None:
            g1 = k_zeros_of(self.c_self_shape, g)
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            g0 = o_.leaky_relu_backward(g, self_, self.c_negative_slope)
        if self.n1 is not None:
            g1 = o_.zeros_of(self.c_self_shape, g)
        return (g0, g1,)

    def release(self, freed):
        self.s_self = freed


def leaky_relu_backward(grad_output: Tensor, self: Tensor, negative_slope: Any) -> Tensor:
    try:
        a_grad_output = grad_output._in
        a_self = self._in
        r = k_leaky_relu_backward(a_grad_output, a_self, negative_slope)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_grad_output, a_self)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (grad_output._rg or self._rg) and mode.grad:
            n0 = (grad_output._fn if grad_output._meta is None else edge(grad_output)) if grad_output._rg else None
            n1 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            if n0 is not None or n1 is not None or nowhere(grad_output, self) is not None:
                n = new(LeakyReluBackwardBackward0)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (grad_output._nr, self._nr,) if grad_output._nr or self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                if n0 is not None:
                    n.s_self = self
                    st = self._storage
                    n.v_self = 0 if st is None else st.version
                else:
                    n.s_self = None
                    n.v_self = 0
                n.c_negative_slope = negative_slope
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[LeakyReluBackwardBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('leaky_relu_backward', out, (grad_output, self, negative_slope,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('leaky_relu_backward', out, (grad_output, self, negative_slope,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (grad_output._rg or self._rg):
                    p_.cut((grad_output, self,))
                if events.special:
                    p_.after('leaky_relu_backward', out, (grad_output, self, negative_slope,))
        return out
    except Exception as error:
        return p_.failed(leaky_relu_backward, error, {'grad_output': grad_output, 'self': self}, {'negative_slope': negative_slope})


def jvp_leaky_relu_backward(grad_output: Any, self_: Any, negative_slope: Any, result: Any, grad_output_t: Any, self_t: Any) -> Any:
    return o_.linear(o_.leaky_relu_backward, 0, grad_output_t, self_, negative_slope)


class SoftplusBackward0(Node1):
    __slots__ = ('s_self', 'v_self', 'c_beta', 'c_threshold')
    __new__ = no_instances
    op_name = 'SoftplusBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ('beta', 'threshold')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = k_softplus_backward(g, self_, self.c_beta, self.c_threshold)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = k_softplus_backward(g, self_, self.c_beta, self.c_threshold)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = o_.softplus_backward(g, self_, self.c_beta, self.c_threshold)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def softplus(self: Tensor, beta: Any = 1.0, threshold: Any = 20.0) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind not in 'fc':
            p_.refuse_kind('softplus', a_self.dtype)
        r = k_softplus(a_self, beta, threshold)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SoftplusBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.c_beta = beta
                n.c_threshold = threshold
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SoftplusBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('softplus', out, (self, beta, threshold,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('softplus', out, (self, beta, threshold,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('softplus', out, (self, beta, threshold,))
        return out
    except Exception as error:
        return p_.failed(softplus, error, {'self': self}, {'beta': beta, 'threshold': threshold})


def jvp_softplus(self_: Any, beta: Any, threshold: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.softplus_backward, 0, self_t, self_, beta, threshold)


class SiluBackward0(Node1):
    __slots__ = ('s_self', 'v_self')
    __new__ = no_instances
    op_name = 'SiluBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = k_silu_backward(g, self_)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = k_silu_backward(g, self_)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = o_.silu_backward(g, self_)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def silu(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind not in 'fc':
            p_.refuse_kind('silu', a_self.dtype)
        r = k_silu(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SiluBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SiluBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('silu', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('silu', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('silu', out, (self,))
        return out
    except Exception as error:
        return p_.failed(silu, error, {'self': self}, {})


def jvp_silu(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.silu_backward, 0, self_t, self_)


class GeluBackward0(Node1):
    __slots__ = ('s_self', 'v_self')
    __new__ = no_instances
    op_name = 'GeluBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = k_gelu_tanh_grad(g, self_)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = k_gelu_tanh_grad(g, self_)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = o_.gelu_tanh_grad(g, self_)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def gelu_tanh(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        if a_self.dtype.kind not in 'fc':
            p_.refuse_kind('gelu_tanh', a_self.dtype)
        r = k_gelu_tanh(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(GeluBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[GeluBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('gelu_tanh', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('gelu_tanh', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('gelu_tanh', out, (self,))
        return out
    except Exception as error:
        return p_.failed(gelu_tanh, error, {'self': self}, {})


def jvp_gelu_tanh(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.gelu_tanh_grad, 0, self_t, self_)


class ClampBackward1(Node1):
    __slots__ = ('s_self', 'v_self', 'c_max', 'c_min')
    __new__ = no_instances
    op_name = 'ClampBackward1'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ('max', 'min')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = k_keep(g, f_.inside(k_, self_, self.c_min, self.c_max))
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = k_keep(g, f_.inside(k_, self_, self.c_min, self.c_max))
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = o_.keep(g, f_.inside(o_, self_, self.c_min, self.c_max))
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def clamp(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    try:
        a_self = self._in
        r = k_clamp(a_self, min, max)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ClampBackward1)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.c_max = max
                n.c_min = min
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ClampBackward1](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('clamp', out, (self, min, max,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('clamp', out, (self, min, max,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('clamp', out, (self, min, max,))
        return out
    except Exception as error:
        return p_.failed(clamp, error, {'self': self}, {'min': min, 'max': max})


def jvp_clamp(self_: Any, min: Any, max: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.keep, 0, self_t, f_.inside(o_, self_, min, max))


class ClampMinBackward0(Node1):
    __slots__ = ('s_self', 'v_self', 'c_min')
    __new__ = no_instances
    op_name = 'ClampMinBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ('min',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = k_keep(g, self_ >= self.c_min)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = k_keep(g, self_ >= self.c_min)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = o_.keep(g, self_ >= self.c_min)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def clamp_min(self: Tensor, min: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_clamp_min(a_self, min)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ClampMinBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.c_min = min
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ClampMinBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('clamp_min', out, (self, min,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('clamp_min', out, (self, min,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('clamp_min', out, (self, min,))
        return out
    except Exception as error:
        return p_.failed(clamp_min, error, {'self': self}, {'min': min})


def jvp_clamp_min(self_: Any, min: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.keep, 0, self_t, self_ >= min)


class ClampMaxBackward0(Node1):
    __slots__ = ('s_self', 'v_self', 'c_max')
    __new__ = no_instances
    op_name = 'ClampMaxBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ('max',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = k_keep(g, self_ <= self.c_max)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        g0 = k_keep(g, self_ <= self.c_max)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        g0 = o_.keep(g, self_ <= self.c_max)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def clamp_max(self: Tensor, max: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_clamp_max(a_self, max)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ClampMaxBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.c_max = max
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ClampMaxBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('clamp_max', out, (self, max,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('clamp_max', out, (self, max,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('clamp_max', out, (self, max,))
        return out
    except Exception as error:
        return p_.failed(clamp_max, error, {'self': self}, {'max': max})


def jvp_clamp_max(self_: Any, max: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.keep, 0, self_t, self_ <= max)


class ClampMinBackward1(Node2):
    __slots__ = ('s_self', 's_min', 'v_self', 'v_min', 'fit')
    __new__ = no_instances
    op_name = 'ClampMinBackward1'
    slots = ('self', 'min')
    outputs_saved = (False, False)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            min = self.s_min
            st = min._storage
            if st is not None and st.version != self.v_min:
                min = unpacked(self, 'min', st)
            min = min._a
            gi = k_keep(g, self_ >= min)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            min = self.s_min
            st = min._storage
            if st is not None and st.version != self.v_min:
                min = unpacked(self, 'min', st)
            min = min._a
            gi = k_keep(g, self_ < min)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_min = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            min = self.s_min
            st = min._storage
            if st is not None and st.version != self.v_min:
                min = unpacked(self, 'min', st)
            min = min._a
            if min.dtype.kind == 'c':
                min = k_conj_raw(min)
            g0 = k_keep(g, self_ >= min)
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            min = self.s_min
            st = min._storage
            if st is not None and st.version != self.v_min:
                min = unpacked(self, 'min', st)
            min = min._a
            if min.dtype.kind == 'c':
                min = k_conj_raw(min)
            g1 = k_keep(g, self_ < min)
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            min = self.s_min
            st = min._storage
            if st is not None and st.version != self.v_min:
                min = unpacked(self, 'min', st)
            elif min._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if min._a.dtype.kind == 'c':
                min = o_.conj_raw(min)
            g0 = o_.keep(g, self_ >= min)
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            min = self.s_min
            st = min._storage
            if st is not None and st.version != self.v_min:
                min = unpacked(self, 'min', st)
            elif min._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if min._a.dtype.kind == 'c':
                min = o_.conj_raw(min)
            g1 = o_.keep(g, self_ < min)
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_min = freed


def clamp_min_tensor(self: Tensor, min: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_min = min._in
        if a_self.dtype is not a_min.dtype and a_self.dtype != a_min.dtype:
            return p_.mixed(clamp_min_tensor, ['self', 'min'], {'self': self, 'min': min})
        r = k_maximum(a_self, a_min)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg or min._rg) and mode.grad:
            n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            n1 = (min._fn if min._meta is None else edge(min)) if min._rg else None
            if n0 is not None or n1 is not None or nowhere(self, min) is not None:
                n = new(ClampMinBackward1)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (self._nr, min._nr,) if self._nr or min._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_min = min
                st = min._storage
                n.v_min = 0 if st is None else st.version
                n.fit = None if a_self.shape == a_min.shape else (a_self.shape, a_min.shape,)
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ClampMinBackward1](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('clamp_min_tensor', out, (self, min,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('clamp_min_tensor', out, (self, min,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg or min._rg):
                    p_.cut((self, min,))
                if events.special:
                    p_.after('clamp_min_tensor', out, (self, min,))
        return out
    except Exception as error:
        return p_.failed(clamp_min_tensor, error, {'self': self, 'min': min}, {})


def jvp_clamp_min_tensor(self_: Any, min: Any, result: Any, self_t: Any, min_t: Any) -> Any:
    return o_.where(self_ >= min, o_.filled(self_t), o_.filled(min_t))


class ClampMaxBackward1(Node2):
    __slots__ = ('s_self', 's_max', 'v_self', 'v_max', 'fit')
    __new__ = no_instances
    op_name = 'ClampMaxBackward1'
    slots = ('self', 'max')
    outputs_saved = (False, False)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            max = self.s_max
            st = max._storage
            if st is not None and st.version != self.v_max:
                max = unpacked(self, 'max', st)
            max = max._a
            gi = k_keep(g, self_ <= max)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            max = self.s_max
            st = max._storage
            if st is not None and st.version != self.v_max:
                max = unpacked(self, 'max', st)
            max = max._a
            gi = k_keep(g, self_ > max)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_max = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            max = self.s_max
            st = max._storage
            if st is not None and st.version != self.v_max:
                max = unpacked(self, 'max', st)
            max = max._a
            if max.dtype.kind == 'c':
                max = k_conj_raw(max)
            g0 = k_keep(g, self_ <= max)
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            max = self.s_max
            st = max._storage
            if st is not None and st.version != self.v_max:
                max = unpacked(self, 'max', st)
            max = max._a
            if max.dtype.kind == 'c':
                max = k_conj_raw(max)
            g1 = k_keep(g, self_ > max)
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            max = self.s_max
            st = max._storage
            if st is not None and st.version != self.v_max:
                max = unpacked(self, 'max', st)
            elif max._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if max._a.dtype.kind == 'c':
                max = o_.conj_raw(max)
            g0 = o_.keep(g, self_ <= max)
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            max = self.s_max
            st = max._storage
            if st is not None and st.version != self.v_max:
                max = unpacked(self, 'max', st)
            elif max._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if max._a.dtype.kind == 'c':
                max = o_.conj_raw(max)
            g1 = o_.keep(g, self_ > max)
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_max = freed


def clamp_max_tensor(self: Tensor, max: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_max = max._in
        if a_self.dtype is not a_max.dtype and a_self.dtype != a_max.dtype:
            return p_.mixed(clamp_max_tensor, ['self', 'max'], {'self': self, 'max': max})
        r = k_minimum(a_self, a_max)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg or max._rg) and mode.grad:
            n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            n1 = (max._fn if max._meta is None else edge(max)) if max._rg else None
            if n0 is not None or n1 is not None or nowhere(self, max) is not None:
                n = new(ClampMaxBackward1)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (self._nr, max._nr,) if self._nr or max._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_max = max
                st = max._storage
                n.v_max = 0 if st is None else st.version
                n.fit = None if a_self.shape == a_max.shape else (a_self.shape, a_max.shape,)
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ClampMaxBackward1](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('clamp_max_tensor', out, (self, max,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('clamp_max_tensor', out, (self, max,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg or max._rg):
                    p_.cut((self, max,))
                if events.special:
                    p_.after('clamp_max_tensor', out, (self, max,))
        return out
    except Exception as error:
        return p_.failed(clamp_max_tensor, error, {'self': self, 'max': max}, {})


def jvp_clamp_max_tensor(self_: Any, max: Any, result: Any, self_t: Any, max_t: Any) -> Any:
    return o_.where(self_ <= max, o_.filled(self_t), o_.filled(max_t))


class WhereBackward0(Node2):
    __slots__ = ('s_condition', 'v_condition', 'fit')
    __new__ = no_instances
    op_name = 'WhereBackward0'
    slots = ('condition',)
    outputs_saved = (False,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            condition = self.s_condition
            st = condition._storage
            if st is not None and st.version != self.v_condition:
                condition = unpacked(self, 'condition', st)
            condition = condition._a
            gi = k_keep(g, condition)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            condition = self.s_condition
            st = condition._storage
            if st is not None and st.version != self.v_condition:
                condition = unpacked(self, 'condition', st)
            condition = condition._a
            gi = k_drop(g, condition)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_condition = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            condition = self.s_condition
            st = condition._storage
            if st is not None and st.version != self.v_condition:
                condition = unpacked(self, 'condition', st)
            condition = condition._a
            if condition.dtype.kind == 'c':
                condition = k_conj_raw(condition)
            g0 = k_keep(g, condition)
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            condition = self.s_condition
            st = condition._storage
            if st is not None and st.version != self.v_condition:
                condition = unpacked(self, 'condition', st)
            condition = condition._a
            if condition.dtype.kind == 'c':
                condition = k_conj_raw(condition)
            g1 = k_drop(g, condition)
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            condition = self.s_condition
            st = condition._storage
            if st is not None and st.version != self.v_condition:
                condition = unpacked(self, 'condition', st)
            if condition._a.dtype.kind == 'c':
                condition = o_.conj_raw(condition)
            g0 = o_.keep(g, condition)
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            condition = self.s_condition
            st = condition._storage
            if st is not None and st.version != self.v_condition:
                condition = unpacked(self, 'condition', st)
            if condition._a.dtype.kind == 'c':
                condition = o_.conj_raw(condition)
            g1 = o_.drop(g, condition)
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)

    def release(self, freed):
        self.s_condition = freed


class WhereBackward0_self(Node1):
    __slots__ = ('s_condition', 'v_condition', 'fit')
    __new__ = no_instances
    op_name = 'WhereBackward0'
    slots = ('condition',)
    outputs_saved = (False,)
    consts = ()
    blanks = (0,)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        condition = self.s_condition
        st = condition._storage
        if st is not None and st.version != self.v_condition:
            condition = unpacked(self, 'condition', st)
        condition = condition._a
        gi = k_drop(g, condition)
        if self.fit is not None:
            gi = k_sum_to(gi, self.fit[0])
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_condition = freed

    def grads(self, g):
        condition = self.s_condition
        st = condition._storage
        if st is not None and st.version != self.v_condition:
            condition = unpacked(self, 'condition', st)
        condition = condition._a
        if condition.dtype.kind == 'c':
            condition = k_conj_raw(condition)
        g0 = k_drop(g, condition)
        if self.fit is not None:
            g0 = k_sum_to(g0, self.fit[0])
        return (g0,)

    def grads_graph(self, g):
        condition = self.s_condition
        st = condition._storage
        if st is not None and st.version != self.v_condition:
            condition = unpacked(self, 'condition', st)
        if condition._a.dtype.kind == 'c':
            condition = o_.conj_raw(condition)
        g0 = o_.drop(g, condition)
        if self.fit is not None:
            g0 = o_.sum_to(g0, self.fit[0])
        return (g0,)

    def release(self, freed):
        self.s_condition = freed


class WhereBackward0_other(Node1):
    __slots__ = ('s_condition', 'v_condition', 'fit')
    __new__ = no_instances
    op_name = 'WhereBackward0'
    slots = ('condition',)
    outputs_saved = (False,)
    consts = ()
    blanks = (1,)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        condition = self.s_condition
        st = condition._storage
        if st is not None and st.version != self.v_condition:
            condition = unpacked(self, 'condition', st)
        condition = condition._a
        gi = k_keep(g, condition)
        if self.fit is not None:
            gi = k_sum_to(gi, self.fit[0])
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_condition = freed

    def grads(self, g):
        condition = self.s_condition
        st = condition._storage
        if st is not None and st.version != self.v_condition:
            condition = unpacked(self, 'condition', st)
        condition = condition._a
        if condition.dtype.kind == 'c':
            condition = k_conj_raw(condition)
        g0 = k_keep(g, condition)
        if self.fit is not None:
            g0 = k_sum_to(g0, self.fit[0])
        return (g0,)

    def grads_graph(self, g):
        condition = self.s_condition
        st = condition._storage
        if st is not None and st.version != self.v_condition:
            condition = unpacked(self, 'condition', st)
        if condition._a.dtype.kind == 'c':
            condition = o_.conj_raw(condition)
        g0 = o_.keep(g, condition)
        if self.fit is not None:
            g0 = o_.sum_to(g0, self.fit[0])
        return (g0,)

    def release(self, freed):
        self.s_condition = freed


def where(condition: Tensor, self: Any, other: Any) -> Tensor:
    try:
        if isinstance(self, Tensor) and isinstance(other, Tensor):
            a_condition = condition._in
            a_self = self._in
            a_other = other._in
            if a_self.dtype is not a_other.dtype and a_self.dtype != a_other.dtype:
                return p_.mixed(where, ['self', 'other'], {'condition': condition, 'self': self, 'other': other})
            r = k_where(a_condition, a_self, a_other)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg or other._rg) and mode.grad:
                n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
                n1 = (other._fn if other._meta is None else edge(other)) if other._rg else None
                if n0 is not None or n1 is not None or nowhere(self, other) is not None:
                    n = new(WhereBackward0)
                    n.n0 = n0
                    n.n1 = n1
                    n.nrs = (self._nr, other._nr,) if self._nr or other._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.s_condition = condition
                    st = condition._storage
                    n.v_condition = 0 if st is None else st.version
                    n.fit = None if a_self.shape == a_other.shape == r.shape else (a_self.shape, a_other.shape,)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[WhereBackward0](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('where', out, (condition, self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('where', out, (condition, self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg or other._rg):
                        p_.cut((self, other,))
                    if events.special:
                        p_.after('where', out, (condition, self, other,))
            return out
        if type(self) in NUMBERS:
            a_condition = condition._in
            a_other = other._in
            cls = WhereBackward0_self
            if a_other.dtype.char in 'fdFD':
                r = k_where(a_condition, self, a_other)
            else:
                r, cls = p_.beside_number('where', lambda a_condition, a_other, self_: k_where(a_condition, self_, a_other), (a_condition, a_other, self,), a_other, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (other._rg) and mode.grad:
                n0 = other._fn if other._meta is None else edge(other)
                if n0 is not None or (n0 := nowhere(other)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (other._nr,) if other._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.s_condition = condition
                    st = condition._storage
                    n.v_condition = 0 if st is None else st.version
                    n.fit = None if a_other.shape == r.shape else (a_other.shape,)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[WhereBackward0_self](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('where', out, (condition, self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('where', out, (condition, self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (other._rg):
                        p_.cut((other,))
                    if events.special:
                        p_.after('where', out, (condition, self, other,))
            return out
        if type(other) in NUMBERS:
            a_condition = condition._in
            a_self = self._in
            cls = WhereBackward0_other
            if a_self.dtype.char in 'fdFD':
                r = k_where(a_condition, a_self, other)
            else:
                r, cls = p_.beside_number('where', lambda a_condition, a_self, other: k_where(a_condition, a_self, other), (a_condition, a_self, other,), a_self, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg) and mode.grad:
                n0 = self._fn if self._meta is None else edge(self)
                if n0 is not None or (n0 := nowhere(self)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (self._nr,) if self._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.s_condition = condition
                    st = condition._storage
                    n.v_condition = 0 if st is None else st.version
                    n.fit = None if a_self.shape == r.shape else (a_self.shape,)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[WhereBackward0_other](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('where', out, (condition, self, other,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('where', out, (condition, self, other,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg):
                        p_.cut((self,))
                    if events.special:
                        p_.after('where', out, (condition, self, other,))
            return out
        return p_.converted(where, ('self', 'other'), {'condition': condition, 'self': self, 'other': other})
    except Exception as error:
        return p_.failed(where, error, {'condition': condition, 'self': self, 'other': other}, {})


def jvp_where(condition: Any, self_: Any, other: Any, result: Any, self_t: Any, other_t: Any) -> Any:
    return o_.where(condition, o_.filled(self_t), o_.filled(other_t))


class MaskedFillBackward1(Node2):
    __slots__ = ('s_mask', 'v_mask', 'fit')
    __new__ = no_instances
    op_name = 'MaskedFillBackward1'
    slots = ('mask',)
    outputs_saved = (False,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            mask = self.s_mask
            st = mask._storage
            if st is not None and st.version != self.v_mask:
                mask = unpacked(self, 'mask', st)
            mask = mask._a
            gi = k_drop(g, mask)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            mask = self.s_mask
            st = mask._storage
            if st is not None and st.version != self.v_mask:
                mask = unpacked(self, 'mask', st)
            mask = mask._a
            gi = k_keep(g, mask)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_mask = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            mask = self.s_mask
            st = mask._storage
            if st is not None and st.version != self.v_mask:
                mask = unpacked(self, 'mask', st)
            mask = mask._a
            if mask.dtype.kind == 'c':
                mask = k_conj_raw(mask)
            g0 = k_drop(g, mask)
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            mask = self.s_mask
            st = mask._storage
            if st is not None and st.version != self.v_mask:
                mask = unpacked(self, 'mask', st)
            mask = mask._a
            if mask.dtype.kind == 'c':
                mask = k_conj_raw(mask)
            g1 = k_keep(g, mask)
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            mask = self.s_mask
            st = mask._storage
            if st is not None and st.version != self.v_mask:
                mask = unpacked(self, 'mask', st)
            if mask._a.dtype.kind == 'c':
                mask = o_.conj_raw(mask)
            g0 = o_.drop(g, mask)
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            mask = self.s_mask
            st = mask._storage
            if st is not None and st.version != self.v_mask:
                mask = unpacked(self, 'mask', st)
            if mask._a.dtype.kind == 'c':
                mask = o_.conj_raw(mask)
            g1 = o_.keep(g, mask)
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)

    def release(self, freed):
        self.s_mask = freed


class MaskedFillBackward0_value(Node1):
    __slots__ = ('s_mask', 'v_mask', 'fit')
    __new__ = no_instances
    op_name = 'MaskedFillBackward0'
    slots = ('mask',)
    outputs_saved = (False,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        mask = self.s_mask
        st = mask._storage
        if st is not None and st.version != self.v_mask:
            mask = unpacked(self, 'mask', st)
        mask = mask._a
        gi = k_drop(g, mask)
        if self.fit is not None:
            gi = k_sum_to(gi, self.fit[0])
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_mask = freed

    def grads(self, g):
        mask = self.s_mask
        st = mask._storage
        if st is not None and st.version != self.v_mask:
            mask = unpacked(self, 'mask', st)
        mask = mask._a
        if mask.dtype.kind == 'c':
            mask = k_conj_raw(mask)
        g0 = k_drop(g, mask)
        if self.fit is not None:
            g0 = k_sum_to(g0, self.fit[0])
        return (g0,)

    def grads_graph(self, g):
        mask = self.s_mask
        st = mask._storage
        if st is not None and st.version != self.v_mask:
            mask = unpacked(self, 'mask', st)
        if mask._a.dtype.kind == 'c':
            mask = o_.conj_raw(mask)
        g0 = o_.drop(g, mask)
        if self.fit is not None:
            g0 = o_.sum_to(g0, self.fit[0])
        return (g0,)

    def release(self, freed):
        self.s_mask = freed


def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    try:
        if isinstance(value, Tensor):
            a_self = self._in
            a_mask = mask._in
            a_value = value._in
            if a_self.dtype is not a_value.dtype and a_self.dtype != a_value.dtype:
                return p_.mixed(masked_fill, ['self', 'value'], {'self': self, 'mask': mask, 'value': value})
            r = k_masked_fill(a_self, a_mask, a_value)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg or value._rg) and mode.grad:
                n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
                n1 = (value._fn if value._meta is None else edge(value)) if value._rg else None
                if n0 is not None or n1 is not None or nowhere(self, value) is not None:
                    n = new(MaskedFillBackward1)
                    n.n0 = n0
                    n.n1 = n1
                    n.nrs = (self._nr, value._nr,) if self._nr or value._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.s_mask = mask
                    st = mask._storage
                    n.v_mask = 0 if st is None else st.version
                    n.fit = None if a_self.shape == a_value.shape == r.shape else (a_self.shape, a_value.shape,)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[MaskedFillBackward1](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('masked_fill', out, (self, mask, value,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('masked_fill', out, (self, mask, value,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg or value._rg):
                        p_.cut((self, value,))
                    if events.special:
                        p_.after('masked_fill', out, (self, mask, value,))
            return out
        if type(value) in NUMBERS:
            a_self = self._in
            a_mask = mask._in
            cls = MaskedFillBackward0_value
            if a_self.dtype.char in 'fdFD':
                r = k_masked_fill(a_self, a_mask, value)
            else:
                r, cls = p_.beside_number('masked_fill', lambda a_self, a_mask, value: k_masked_fill(a_self, a_mask, value), (a_self, a_mask, value,), a_self, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg) and mode.grad:
                n0 = self._fn if self._meta is None else edge(self)
                if n0 is not None or (n0 := nowhere(self)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (self._nr,) if self._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.s_mask = mask
                    st = mask._storage
                    n.v_mask = 0 if st is None else st.version
                    n.fit = None if a_self.shape == r.shape else (a_self.shape,)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[MaskedFillBackward0_value](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('masked_fill', out, (self, mask, value,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('masked_fill', out, (self, mask, value,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg):
                        p_.cut((self,))
                    if events.special:
                        p_.after('masked_fill', out, (self, mask, value,))
            return out
        return p_.converted(masked_fill, ('value',), {'self': self, 'mask': mask, 'value': value})
    except Exception as error:
        return p_.failed(masked_fill, error, {'self': self, 'mask': mask, 'value': value}, {})


def jvp_masked_fill(self_: Any, mask: Any, value: Any, result: Any, self_t: Any, value_t: Any) -> Any:
    return o_.where(mask, o_.filled(value_t), o_.filled(self_t))


class CopyBackwards(Node2):
    __slots__ = ('c_self_shape', 'c_src_dtype', 'c_src_shape')
    __new__ = no_instances
    op_name = 'CopyBackwards'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape', 'src_dtype', 'src_shape')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            gi = k_zeros_of(self.c_self_shape, g)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            gi = k_to_copy(k_sum_to(g, self.c_src_shape), self.c_src_dtype)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = k_zeros_of(self.c_self_shape, g)
        if self.n1 is not None:
            g1 = k_to_copy(k_sum_to(g, self.c_src_shape), self.c_src_dtype)
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = o_.zeros_of(self.c_self_shape, g)
        if self.n1 is not None:
            g1 = o_.to_copy(o_.sum_to(g, self.c_src_shape), self.c_src_dtype)
        return (g0, g1,)


def copy(self: Tensor, src: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_src = src._in
        r = k_copy(a_self, a_src)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_src)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg or src._rg) and mode.grad:
            n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            n1 = (src._fn if src._meta is None else edge(src)) if src._rg else None
            if n0 is not None or n1 is not None or nowhere(self, src) is not None:
                n = new(CopyBackwards)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (self._nr, src._nr,) if self._nr or src._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                n.c_src_dtype = a_src.dtype
                n.c_src_shape = a_src.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[CopyBackwards](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('copy', out, (self, src,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('copy', out, (self, src,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg or src._rg):
                    p_.cut((self, src,))
                if events.special:
                    p_.after('copy', out, (self, src,))
        return out
    except Exception as error:
        return p_.failed(copy, error, {'self': self, 'src': src}, {})


def jvp_copy(self_: Any, src: Any, result: Any, self_t: Any, src_t: Any) -> Any:
    self_shape = self_.shape
    self_dtype = self_.dtype
    return o_.linear(o_.to_copy, 0, o_.linear(o_.expand, 0, src_t, self_shape), self_dtype)


class FillBackward3(Node2):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'FillBackward3'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            gi = k_zeros_of(self.c_self_shape, g)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            gi = k_sum_all(g)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = k_zeros_of(self.c_self_shape, g)
        if self.n1 is not None:
            g1 = k_sum_all(g)
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = o_.zeros_of(self.c_self_shape, g)
        if self.n1 is not None:
            g1 = o_.sum_all(g)
        return (g0, g1,)


class FillBackward2_value(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'FillBackward2'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_zeros_of(self.c_self_shape, g)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_zeros_of(self.c_self_shape, g)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.zeros_of(self.c_self_shape, g)
        return (g0,)


def fill(self: Tensor, value: Any) -> Tensor:
    try:
        if isinstance(value, Tensor):
            a_self = self._in
            a_value = value._in
            r = k_fill(a_self, a_value)
            if type(r) is not ndarray:
                r = p_.as_array(r, a_self, a_value)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg or value._rg) and mode.grad:
                n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
                n1 = (value._fn if value._meta is None else edge(value)) if value._rg else None
                if n0 is not None or n1 is not None or nowhere(self, value) is not None:
                    n = new(FillBackward3)
                    n.n0 = n0
                    n.n1 = n1
                    n.nrs = (self._nr, value._nr,) if self._nr or value._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.c_self_shape = a_self.shape
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[FillBackward3](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('fill', out, (self, value,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('fill', out, (self, value,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg or value._rg):
                        p_.cut((self, value,))
                    if events.special:
                        p_.after('fill', out, (self, value,))
            return out
        if type(value) in NUMBERS:
            a_self = self._in
            cls = FillBackward2_value
            if a_self.dtype.char in 'fdFD':
                r = k_fill(a_self, value)
            else:
                r, cls = p_.beside_number('fill', lambda a_self, value: k_fill(a_self, value), (a_self, value,), a_self, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg) and mode.grad:
                n0 = self._fn if self._meta is None else edge(self)
                if n0 is not None or (n0 := nowhere(self)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (self._nr,) if self._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.c_self_shape = a_self.shape
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[FillBackward2_value](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('fill', out, (self, value,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('fill', out, (self, value,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg):
                        p_.cut((self,))
                    if events.special:
                        p_.after('fill', out, (self, value,))
            return out
        return p_.converted(fill, ('value',), {'self': self, 'value': value})
    except Exception as error:
        return p_.failed(fill, error, {'self': self, 'value': value}, {})


def jvp_fill(self_: Any, value: Any, result: Any, self_t: Any, value_t: Any) -> Any:
    return o_.fill(o_.filled(self_t), o_.filled(value_t))


class ZeroBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'ZeroBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_zeros_of(self.c_self_shape, g)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_zeros_of(self.c_self_shape, g)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.zeros_of(self.c_self_shape, g)
        return (g0,)


def zero(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_zero(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ZeroBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ZeroBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('zero', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('zero', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('zero', out, (self,))
        return out
    except Exception as error:
        return p_.failed(zero, error, {'self': self}, {})


def jvp_zero(self_: Any, result: Any, self_t: Any) -> Any:
    self_shape = self_.shape
    return o_.linear(o_.zeros_of, 1, self_shape, self_t)


class CloneBackward0(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'CloneBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = g
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps:
                shared.add(n)

    def grads(self, g):
        g0 = g
        return (g0,)

    def grads_graph(self, g):
        g0 = g
        return (g0,)


def clone(self: Tensor, order: Any = 'K') -> Tensor:
    try:
        a_self = self._in
        r = k_clone(a_self, order)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(CloneBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[CloneBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('clone', out, (self, order,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('clone', out, (self, order,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('clone', out, (self, order,))
        return out
    except Exception as error:
        return p_.failed(clone, error, {'self': self}, {'order': order})


def jvp_clone(self_: Any, order: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.clone, 0, self_t, order)


class ToCopyBackward0(Node1):
    __slots__ = ('c_self_dtype',)
    __new__ = no_instances
    op_name = 'ToCopyBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_dtype',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_to_copy(g, self.c_self_dtype)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_to_copy(g, self.c_self_dtype)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.to_copy(g, self.c_self_dtype)
        return (g0,)


def to_copy(self: Tensor, dtype: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_to_copy(a_self, dtype)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ToCopyBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_dtype = a_self.dtype
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ToCopyBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('to_copy', out, (self, dtype,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('to_copy', out, (self, dtype,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('to_copy', out, (self, dtype,))
        return out
    except Exception as error:
        return p_.failed(to_copy, error, {'self': self}, {'dtype': dtype})


def jvp_to_copy(self_: Any, dtype: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.to_copy, 0, self_t, dtype)


class SumBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'SumBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_expand(g, self.c_self_shape)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps:
                shared.add(n)

    def grads(self, g):
        g0 = k_expand(g, self.c_self_shape)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.expand(g, self.c_self_shape)
        return (g0,)


def sum_all(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_sum_all(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SumBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SumBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('sum_all', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('sum_all', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('sum_all', out, (self,))
        return out
    except Exception as error:
        return p_.failed(sum_all, error, {'self': self}, {})


def jvp_sum_all(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.sum_all, 0, self_t)


class SumBackward1(Node1):
    __slots__ = ('c_dim', 'c_keepdim', 'c_self_shape')
    __new__ = no_instances
    op_name = 'SumBackward1'
    slots = ()
    outputs_saved = ()
    consts = ('dim', 'keepdim', 'self_shape')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = f_.expand_dims(k_, g, self.c_self_shape, self.c_dim, self.c_keepdim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps:
                shared.add(n)

    def grads(self, g):
        g0 = f_.expand_dims(k_, g, self.c_self_shape, self.c_dim, self.c_keepdim)
        return (g0,)

    def grads_graph(self, g):
        g0 = f_.expand_dims(o_, g, self.c_self_shape, self.c_dim, self.c_keepdim)
        return (g0,)


def sum_dim(self: Tensor, dim: Any, keepdim: Any = False) -> Tensor:
    try:
        a_self = self._in
        r = k_sum_dim(a_self, dim, keepdim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SumBackward1)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_dim = dim
                n.c_keepdim = keepdim
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SumBackward1](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('sum_dim', out, (self, dim, keepdim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('sum_dim', out, (self, dim, keepdim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('sum_dim', out, (self, dim, keepdim,))
        return out
    except Exception as error:
        return p_.failed(sum_dim, error, {'self': self}, {'dim': dim, 'keepdim': keepdim})


def jvp_sum_dim(self_: Any, dim: Any, keepdim: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.sum_dim, 0, self_t, dim, keepdim)


class MeanBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'MeanBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_expand(k_mean_share(g, self.c_self_shape), self.c_self_shape)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps:
                shared.add(n)

    def grads(self, g):
        g0 = k_expand(k_mean_share(g, self.c_self_shape), self.c_self_shape)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.expand(o_.mean_share(g, self.c_self_shape), self.c_self_shape)
        return (g0,)


def mean_all(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_mean_all(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(MeanBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[MeanBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('mean_all', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('mean_all', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('mean_all', out, (self,))
        return out
    except Exception as error:
        return p_.failed(mean_all, error, {'self': self}, {})


def jvp_mean_all(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.mean_all, 0, self_t)


class MeanBackward1(Node1):
    __slots__ = ('c_dim', 'c_keepdim', 'c_self_shape')
    __new__ = no_instances
    op_name = 'MeanBackward1'
    slots = ()
    outputs_saved = ()
    consts = ('dim', 'keepdim', 'self_shape')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = f_.expand_dims(k_, k_mean_share(g, self.c_self_shape, self.c_dim), self.c_self_shape, self.c_dim, self.c_keepdim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps:
                shared.add(n)

    def grads(self, g):
        g0 = f_.expand_dims(k_, k_mean_share(g, self.c_self_shape, self.c_dim), self.c_self_shape, self.c_dim, self.c_keepdim)
        return (g0,)

    def grads_graph(self, g):
        g0 = f_.expand_dims(o_, o_.mean_share(g, self.c_self_shape, self.c_dim), self.c_self_shape, self.c_dim, self.c_keepdim)
        return (g0,)


def mean_dim(self: Tensor, dim: Any, keepdim: Any = False) -> Tensor:
    try:
        a_self = self._in
        r = k_mean_dim(a_self, dim, keepdim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(MeanBackward1)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_dim = dim
                n.c_keepdim = keepdim
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[MeanBackward1](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('mean_dim', out, (self, dim, keepdim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('mean_dim', out, (self, dim, keepdim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('mean_dim', out, (self, dim, keepdim,))
        return out
    except Exception as error:
        return p_.failed(mean_dim, error, {'self': self}, {'dim': dim, 'keepdim': keepdim})


def jvp_mean_dim(self_: Any, dim: Any, keepdim: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.mean_dim, 0, self_t, dim, keepdim)


class AmaxBackward0(Node1):
    __slots__ = ('s_self', 's_result', 'v_self', 'v_result', 'c_dim', 'c_keepdim', 'o_storage')
    __new__ = no_instances
    op_name = 'AmaxBackward0'
    slots = ('self', 'result')
    outputs_saved = (False, True)
    consts = ('dim', 'keepdim')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = f_.extreme_grad(k_, g, self_, result, self.c_dim, self.c_keepdim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_result = self.o_storage = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = f_.extreme_grad(k_, g, self_, result, self.c_dim, self.c_keepdim)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = f_.extreme_grad(o_, g, self_, result, self.c_dim, self.c_keepdim)
        return (g0,)

    def release(self, freed):
        self.s_self = self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def amax(self: Tensor, dim: Any = (), keepdim: Any = False) -> Tensor:
    try:
        a_self = self._in
        r = k_amax(a_self, dim, keepdim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(AmaxBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                n.c_dim = dim
                n.c_keepdim = keepdim
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[AmaxBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('amax', out, (self, dim, keepdim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('amax', out, (self, dim, keepdim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('amax', out, (self, dim, keepdim,))
        return out
    except Exception as error:
        return p_.failed(amax, error, {'self': self}, {'dim': dim, 'keepdim': keepdim})


def jvp_amax(self_: Any, dim: Any, keepdim: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(f_.extreme_tangent, 1, o_, self_t, self_, result, dim, keepdim)


class AminBackward0(Node1):
    __slots__ = ('s_self', 's_result', 'v_self', 'v_result', 'c_dim', 'c_keepdim', 'o_storage')
    __new__ = no_instances
    op_name = 'AminBackward0'
    slots = ('self', 'result')
    outputs_saved = (False, True)
    consts = ('dim', 'keepdim')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = f_.extreme_grad(k_, g, self_, result, self.c_dim, self.c_keepdim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_result = self.o_storage = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = f_.extreme_grad(k_, g, self_, result, self.c_dim, self.c_keepdim)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = f_.extreme_grad(o_, g, self_, result, self.c_dim, self.c_keepdim)
        return (g0,)

    def release(self, freed):
        self.s_self = self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def amin(self: Tensor, dim: Any = (), keepdim: Any = False) -> Tensor:
    try:
        a_self = self._in
        r = k_amin(a_self, dim, keepdim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(AminBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                n.c_dim = dim
                n.c_keepdim = keepdim
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[AminBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('amin', out, (self, dim, keepdim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('amin', out, (self, dim, keepdim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('amin', out, (self, dim, keepdim,))
        return out
    except Exception as error:
        return p_.failed(amin, error, {'self': self}, {'dim': dim, 'keepdim': keepdim})


def jvp_amin(self_: Any, dim: Any, keepdim: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(f_.extreme_tangent, 1, o_, self_t, self_, result, dim, keepdim)


class MaxBackward1(Node1):
    __slots__ = ('s_self', 's_result', 'v_self', 'v_result', 'o_storage')
    __new__ = no_instances
    op_name = 'MaxBackward1'
    slots = ('self', 'result')
    outputs_saved = (False, True)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = f_.extreme_of_all_grad(k_, g, self_, result)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_result = self.o_storage = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = f_.extreme_of_all_grad(k_, g, self_, result)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = f_.extreme_of_all_grad(o_, g, self_, result)
        return (g0,)

    def release(self, freed):
        self.s_self = self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def max_all(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_amax(a_self, (), False)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(MaxBackward1)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[MaxBackward1](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('max_all', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('max_all', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('max_all', out, (self,))
        return out
    except Exception as error:
        return p_.failed(max_all, error, {'self': self}, {})


def jvp_max_all(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(f_.extreme_of_all_tangent, 1, o_, self_t, self_, result)


class MinBackward1(Node1):
    __slots__ = ('s_self', 's_result', 'v_self', 'v_result', 'o_storage')
    __new__ = no_instances
    op_name = 'MinBackward1'
    slots = ('self', 'result')
    outputs_saved = (False, True)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = f_.extreme_of_all_grad(k_, g, self_, result)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_result = self.o_storage = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = f_.extreme_of_all_grad(k_, g, self_, result)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = f_.extreme_of_all_grad(o_, g, self_, result)
        return (g0,)

    def release(self, freed):
        self.s_self = self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def min_all(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_amin(a_self, (), False)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(MinBackward1)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[MinBackward1](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('min_all', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('min_all', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('min_all', out, (self,))
        return out
    except Exception as error:
        return p_.failed(min_all, error, {'self': self}, {})


def jvp_min_all(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(f_.extreme_of_all_tangent, 1, o_, self_t, self_, result)


class MaxBackward0(Node1):
    __slots__ = ('s_indices', 'v_indices', 'c_dim', 'c_keepdim', 'c_self_shape')
    __new__ = no_instances
    op_name = 'MaxBackward0'
    slots = ('indices',)
    outputs_saved = (False,)
    consts = ('dim', 'keepdim', 'self_shape')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        indices = self.s_indices
        st = indices._storage
        if st is not None and st.version != self.v_indices:
            indices = unpacked(self, 'indices', st)
        indices = indices._a
        gi = f_.pick_backward(k_, g, self.c_self_shape, indices, self.c_dim, self.c_keepdim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_indices = freed

    def grads(self, g):
        indices = self.s_indices
        st = indices._storage
        if st is not None and st.version != self.v_indices:
            indices = unpacked(self, 'indices', st)
        indices = indices._a
        if indices.dtype.kind == 'c':
            indices = k_conj_raw(indices)
        g0 = f_.pick_backward(k_, g, self.c_self_shape, indices, self.c_dim, self.c_keepdim)
        return (g0,)

    def grads_graph(self, g):
        indices = self.s_indices
        st = indices._storage
        if st is not None and st.version != self.v_indices:
            indices = unpacked(self, 'indices', st)
        if indices._a.dtype.kind == 'c':
            indices = o_.conj_raw(indices)
        g0 = f_.pick_backward(o_, g, self.c_self_shape, indices, self.c_dim, self.c_keepdim)
        return (g0,)

    def release(self, freed):
        self.s_indices = freed


def max_dim(self: Tensor, indices: Tensor, dim: Any, keepdim: Any) -> Tensor:
    try:
        a_self = self._in
        a_indices = indices._in
        r = k_pick(a_self, a_indices, dim, keepdim)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_indices)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(MaxBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_indices = indices
                st = indices._storage
                n.v_indices = 0 if st is None else st.version
                n.c_dim = dim
                n.c_keepdim = keepdim
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[MaxBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('max_dim', out, (self, indices, dim, keepdim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('max_dim', out, (self, indices, dim, keepdim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('max_dim', out, (self, indices, dim, keepdim,))
        return out
    except Exception as error:
        return p_.failed(max_dim, error, {'self': self, 'indices': indices}, {'dim': dim, 'keepdim': keepdim})


def jvp_max_dim(self_: Any, indices: Any, dim: Any, keepdim: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.pick, 0, self_t, indices, dim, keepdim)


class MinBackward0(Node1):
    __slots__ = ('s_indices', 'v_indices', 'c_dim', 'c_keepdim', 'c_self_shape')
    __new__ = no_instances
    op_name = 'MinBackward0'
    slots = ('indices',)
    outputs_saved = (False,)
    consts = ('dim', 'keepdim', 'self_shape')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        indices = self.s_indices
        st = indices._storage
        if st is not None and st.version != self.v_indices:
            indices = unpacked(self, 'indices', st)
        indices = indices._a
        gi = f_.pick_backward(k_, g, self.c_self_shape, indices, self.c_dim, self.c_keepdim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_indices = freed

    def grads(self, g):
        indices = self.s_indices
        st = indices._storage
        if st is not None and st.version != self.v_indices:
            indices = unpacked(self, 'indices', st)
        indices = indices._a
        if indices.dtype.kind == 'c':
            indices = k_conj_raw(indices)
        g0 = f_.pick_backward(k_, g, self.c_self_shape, indices, self.c_dim, self.c_keepdim)
        return (g0,)

    def grads_graph(self, g):
        indices = self.s_indices
        st = indices._storage
        if st is not None and st.version != self.v_indices:
            indices = unpacked(self, 'indices', st)
        if indices._a.dtype.kind == 'c':
            indices = o_.conj_raw(indices)
        g0 = f_.pick_backward(o_, g, self.c_self_shape, indices, self.c_dim, self.c_keepdim)
        return (g0,)

    def release(self, freed):
        self.s_indices = freed


def min_dim(self: Tensor, indices: Tensor, dim: Any, keepdim: Any) -> Tensor:
    try:
        a_self = self._in
        a_indices = indices._in
        r = k_pick(a_self, a_indices, dim, keepdim)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_indices)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(MinBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_indices = indices
                st = indices._storage
                n.v_indices = 0 if st is None else st.version
                n.c_dim = dim
                n.c_keepdim = keepdim
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[MinBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('min_dim', out, (self, indices, dim, keepdim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('min_dim', out, (self, indices, dim, keepdim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('min_dim', out, (self, indices, dim, keepdim,))
        return out
    except Exception as error:
        return p_.failed(min_dim, error, {'self': self, 'indices': indices}, {'dim': dim, 'keepdim': keepdim})


def jvp_min_dim(self_: Any, indices: Any, dim: Any, keepdim: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.pick, 0, self_t, indices, dim, keepdim)


class VarBackward0(Node1):
    __slots__ = ('s_self', 'v_self', 'c_correction', 'c_dim', 'c_keepdim')
    __new__ = no_instances
    op_name = 'VarBackward0'
    slots = ('self',)
    outputs_saved = (False,)
    consts = ('correction', 'dim', 'keepdim')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        gi = f_.var_grad(k_, g, self_, self.c_dim, self.c_correction, self.c_keepdim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        g0 = f_.var_grad(k_, g, self_, self.c_dim, self.c_correction, self.c_keepdim)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        g0 = f_.var_grad(o_, g, self_, self.c_dim, self.c_correction, self.c_keepdim)
        return (g0,)

    def release(self, freed):
        self.s_self = freed


def var_dim(self: Tensor, dim: Any, correction: Any, keepdim: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_var_dim(a_self, dim, correction, keepdim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(VarBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.c_correction = correction
                n.c_dim = dim
                n.c_keepdim = keepdim
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[VarBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('var_dim', out, (self, dim, correction, keepdim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('var_dim', out, (self, dim, correction, keepdim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('var_dim', out, (self, dim, correction, keepdim,))
        return out
    except Exception as error:
        return p_.failed(var_dim, error, {'self': self}, {'dim': dim, 'correction': correction, 'keepdim': keepdim})


def jvp_var_dim(self_: Any, dim: Any, correction: Any, keepdim: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(f_.var_tangent, 1, o_, self_t, self_, dim, correction, keepdim)


class StdBackward0(Node1):
    __slots__ = ('s_self', 's_result', 'v_self', 'v_result', 'c_correction', 'c_dim', 'c_keepdim', 'o_storage')
    __new__ = no_instances
    op_name = 'StdBackward0'
    slots = ('self', 'result')
    outputs_saved = (False, True)
    consts = ('correction', 'dim', 'keepdim')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = f_.var_grad(k_, k_drop(g / (2 * result), result == 0), self_, self.c_dim, self.c_correction, self.c_keepdim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_result = self.o_storage = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        g0 = f_.var_grad(k_, k_drop(g / (2 * result), result == 0), self_, self.c_dim, self.c_correction, self.c_keepdim)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        g0 = f_.var_grad(o_, o_.drop(g / (2 * result), result == 0), self_, self.c_dim, self.c_correction, self.c_keepdim)
        return (g0,)

    def release(self, freed):
        self.s_self = self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def std_dim(self: Tensor, dim: Any, correction: Any, keepdim: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_std_dim(a_self, dim, correction, keepdim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(StdBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                n.c_correction = correction
                n.c_dim = dim
                n.c_keepdim = keepdim
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[StdBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('std_dim', out, (self, dim, correction, keepdim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('std_dim', out, (self, dim, correction, keepdim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('std_dim', out, (self, dim, correction, keepdim,))
        return out
    except Exception as error:
        return p_.failed(std_dim, error, {'self': self}, {'dim': dim, 'correction': correction, 'keepdim': keepdim})


def jvp_std_dim(self_: Any, dim: Any, correction: Any, keepdim: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.drop, 0, o_.linear(f_.var_tangent, 1, o_, self_t, self_, dim, correction, keepdim) / (2 * result), result == 0)


class LinalgVectorNormBackward0(Node1):
    __slots__ = ('s_self', 's_result', 'v_self', 'v_result', 'c_dim', 'c_keepdim', 'o_storage')
    __new__ = no_instances
    op_name = 'LinalgVectorNormBackward0'
    slots = ('self', 'result')
    outputs_saved = (False, True)
    consts = ('dim', 'keepdim')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = f_.norm_grad(k_, g, self_, result, self.c_dim, self.c_keepdim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_result = self.o_storage = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        g0 = f_.norm_grad(k_, g, self_, result, self.c_dim, self.c_keepdim)
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        g0 = f_.norm_grad(o_, g, self_, result, self.c_dim, self.c_keepdim)
        return (g0,)

    def release(self, freed):
        self.s_self = self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def norm_dim(self: Tensor, dim: Any, keepdim: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_norm_dim(a_self, dim, keepdim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(LinalgVectorNormBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                n.c_dim = dim
                n.c_keepdim = keepdim
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[LinalgVectorNormBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('norm_dim', out, (self, dim, keepdim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('norm_dim', out, (self, dim, keepdim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('norm_dim', out, (self, dim, keepdim,))
        return out
    except Exception as error:
        return p_.failed(norm_dim, error, {'self': self}, {'dim': dim, 'keepdim': keepdim})


def jvp_norm_dim(self_: Any, dim: Any, keepdim: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.drop, 0, o_.linear(o_.sum_dim, 0, o_.linear(f_.inner, 1, o_, self_t, self_), dim, keepdim) / result, result == 0)


class LogsumexpBackward0(Node1):
    __slots__ = ('s_self', 's_result', 'v_self', 'v_result', 'c_dim', 'c_keepdim', 'c_self_shape', 'o_storage')
    __new__ = no_instances
    op_name = 'LogsumexpBackward0'
    slots = ('self', 'result')
    outputs_saved = (False, True)
    consts = ('dim', 'keepdim', 'self_shape')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = f_.expand_dims(k_, g, self.c_self_shape, self.c_dim, self.c_keepdim) * k_exp(self_ - f_.expand_dims(k_, result, self.c_self_shape, self.c_dim, self.c_keepdim))
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_result = self.o_storage = freed

    def grads(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        self_ = self_._a
        if self_.dtype.kind == 'c':
            self_ = k_conj_raw(self_)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = f_.expand_dims(k_, g, self.c_self_shape, self.c_dim, self.c_keepdim) * k_exp(self_ - f_.expand_dims(k_, result, self.c_self_shape, self.c_dim, self.c_keepdim))
        return (g0,)

    def grads_graph(self, g):
        self_ = self.s_self
        st = self_._storage
        if st is not None and st.version != self.v_self:
            self_ = unpacked(self, 'self', st)
        elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
            raise o_.detached(self)
        if self_._a.dtype.kind == 'c':
            self_ = o_.conj_raw(self_)
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = f_.expand_dims(o_, g, self.c_self_shape, self.c_dim, self.c_keepdim) * o_.exp(self_ - f_.expand_dims(o_, result, self.c_self_shape, self.c_dim, self.c_keepdim))
        return (g0,)

    def release(self, freed):
        self.s_self = self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def logsumexp(self: Tensor, dim: Any, keepdim: Any = False) -> Tensor:
    try:
        a_self = self._in
        r = k_logsumexp(a_self, dim, keepdim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(LogsumexpBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                n.c_dim = dim
                n.c_keepdim = keepdim
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[LogsumexpBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('logsumexp', out, (self, dim, keepdim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('logsumexp', out, (self, dim, keepdim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('logsumexp', out, (self, dim, keepdim,))
        return out
    except Exception as error:
        return p_.failed(logsumexp, error, {'self': self}, {'dim': dim, 'keepdim': keepdim})


def jvp_logsumexp(self_: Any, dim: Any, keepdim: Any, result: Any, self_t: Any) -> Any:
    self_shape = self_.shape
    return o_.linear(o_.sum_dim, 0, self_t * o_.exp(self_ - f_.expand_dims(o_, result, self_shape, dim, keepdim)), dim, keepdim)


class SoftmaxBackward0(Node1):
    __slots__ = ('s_result', 'v_result', 'c_dim', 'o_storage')
    __new__ = no_instances
    op_name = 'SoftmaxBackward0'
    slots = ('result',)
    outputs_saved = (True,)
    consts = ('dim',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = k_softmax_grad(g, result, self.c_dim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_result = self.o_storage = freed

    def grads(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = k_softmax_grad(g, result, self.c_dim)
        return (g0,)

    def grads_graph(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = o_.softmax_grad(g, result, self.c_dim)
        return (g0,)

    def release(self, freed):
        self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def softmax_dim(self: Tensor, dim: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_softmax_dim(a_self, dim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SoftmaxBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                n.c_dim = dim
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SoftmaxBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('softmax_dim', out, (self, dim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('softmax_dim', out, (self, dim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('softmax_dim', out, (self, dim,))
        return out
    except Exception as error:
        return p_.failed(softmax_dim, error, {'self': self}, {'dim': dim})


def jvp_softmax_dim(self_: Any, dim: Any, result: Any, self_t: Any) -> Any:
    return result * (self_t - o_.linear(o_.sum_dim, 0, self_t * result, dim, True))


class LogSoftmaxBackward0(Node1):
    __slots__ = ('s_result', 'v_result', 'c_dim', 'o_storage')
    __new__ = no_instances
    op_name = 'LogSoftmaxBackward0'
    slots = ('result',)
    outputs_saved = (True,)
    consts = ('dim',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        gi = k_log_softmax_grad(g, result, self.c_dim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_result = self.o_storage = freed

    def grads(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)._a
        else:
            result = self.s_result
        if result.dtype.kind == 'c':
            result = k_conj_raw(result)
        g0 = k_log_softmax_grad(g, result, self.c_dim)
        return (g0,)

    def grads_graph(self, g):
        st = self.o_storage
        if st is not None and st.version != self.v_result:
            result = unpacked(self, 'result', st)
        else:
            result = o_.output_of(self)
        if result._a.dtype.kind == 'c':
            result = o_.conj_raw(result)
        g0 = o_.log_softmax_grad(g, result, self.c_dim)
        return (g0,)

    def release(self, freed):
        self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def log_softmax_dim(self: Tensor, dim: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_log_softmax_dim(a_self, dim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(LogSoftmaxBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                n.c_dim = dim
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[LogSoftmaxBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('log_softmax_dim', out, (self, dim,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('log_softmax_dim', out, (self, dim,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('log_softmax_dim', out, (self, dim,))
        return out
    except Exception as error:
        return p_.failed(log_softmax_dim, error, {'self': self}, {'dim': dim})


def jvp_log_softmax_dim(self_: Any, dim: Any, result: Any, self_t: Any) -> Any:
    return self_t - o_.linear(o_.sum_dim, 0, o_.exp(result) * self_t, dim, True)


class NllLossBackward0(Node1):
    __slots__ = ('s_target', 'v_target', 'c_reduction', 'c_self_shape')
    __new__ = no_instances
    op_name = 'NllLossBackward0'
    slots = ('target',)
    outputs_saved = (False,)
    consts = ('reduction', 'self_shape')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        target = self.s_target
        st = target._storage
        if st is not None and st.version != self.v_target:
            target = unpacked(self, 'target', st)
        target = target._a
        gi = k_nll_loss_raw_backward(g, target, self.c_self_shape, self.c_reduction)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_target = freed

    def grads(self, g):
        target = self.s_target
        st = target._storage
        if st is not None and st.version != self.v_target:
            target = unpacked(self, 'target', st)
        target = target._a
        if target.dtype.kind == 'c':
            target = k_conj_raw(target)
        g0 = k_nll_loss_raw_backward(g, target, self.c_self_shape, self.c_reduction)
        return (g0,)

    def grads_graph(self, g):
        target = self.s_target
        st = target._storage
        if st is not None and st.version != self.v_target:
            target = unpacked(self, 'target', st)
        if target._a.dtype.kind == 'c':
            target = o_.conj_raw(target)
        g0 = o_.nll_loss_raw_backward(g, target, self.c_self_shape, self.c_reduction)
        return (g0,)

    def release(self, freed):
        self.s_target = freed


def nll_loss_raw(self: Tensor, target: Tensor, reduction: Any) -> Tensor:
    try:
        a_self = self._in
        a_target = target._in
        if a_self.dtype.kind not in 'fc':
            p_.refuse_kind('nll_loss_raw', a_self.dtype)
        r = k_nll_loss_raw(a_self, a_target, reduction)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_target)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(NllLossBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_target = target
                st = target._storage
                n.v_target = 0 if st is None else st.version
                n.c_reduction = reduction
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[NllLossBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('nll_loss_raw', out, (self, target, reduction,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('nll_loss_raw', out, (self, target, reduction,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('nll_loss_raw', out, (self, target, reduction,))
        return out
    except Exception as error:
        return p_.failed(nll_loss_raw, error, {'self': self, 'target': target}, {'reduction': reduction})


def jvp_nll_loss_raw(self_: Any, target: Any, reduction: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.nll_loss_raw, 0, self_t, target, reduction)


class NllLossBackwardBackward0(Node1):
    __slots__ = ('s_target', 'v_target', 'c_reduction')
    __new__ = no_instances
    op_name = 'NllLossBackwardBackward0'
    slots = ('target',)
    outputs_saved = (False,)
    consts = ('reduction',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        target = self.s_target
        st = target._storage
        if st is not None and st.version != self.v_target:
            target = unpacked(self, 'target', st)
        target = target._a
        gi = k_nll_loss_raw(g, target, self.c_reduction)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_target = freed

    def grads(self, g):
        target = self.s_target
        st = target._storage
        if st is not None and st.version != self.v_target:
            target = unpacked(self, 'target', st)
        target = target._a
        if target.dtype.kind == 'c':
            target = k_conj_raw(target)
        g0 = k_nll_loss_raw(g, target, self.c_reduction)
        return (g0,)

    def grads_graph(self, g):
        target = self.s_target
        st = target._storage
        if st is not None and st.version != self.v_target:
            target = unpacked(self, 'target', st)
        if target._a.dtype.kind == 'c':
            target = o_.conj_raw(target)
        g0 = o_.nll_loss_raw(g, target, self.c_reduction)
        return (g0,)

    def release(self, freed):
        self.s_target = freed


def nll_loss_raw_backward(grad_output: Tensor, target: Tensor, shape: Any, reduction: Any) -> Tensor:
    try:
        a_grad_output = grad_output._in
        a_target = target._in
        r = k_nll_loss_raw_backward(a_grad_output, a_target, shape, reduction)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_grad_output, a_target)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (grad_output._rg) and mode.grad:
            n0 = grad_output._fn if grad_output._meta is None else edge(grad_output)
            if n0 is not None or (n0 := nowhere(grad_output)) is not None:
                n = new(NllLossBackwardBackward0)
                n.n0 = n0
                n.nrs = (grad_output._nr,) if grad_output._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_target = target
                st = target._storage
                n.v_target = 0 if st is None else st.version
                n.c_reduction = reduction
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[NllLossBackwardBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('nll_loss_raw_backward', out, (grad_output, target, shape, reduction,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('nll_loss_raw_backward', out, (grad_output, target, shape, reduction,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (grad_output._rg):
                    p_.cut((grad_output,))
                if events.special:
                    p_.after('nll_loss_raw_backward', out, (grad_output, target, shape, reduction,))
        return out
    except Exception as error:
        return p_.failed(nll_loss_raw_backward, error, {'grad_output': grad_output, 'target': target}, {'shape': shape, 'reduction': reduction})


def jvp_nll_loss_raw_backward(grad_output: Any, target: Any, shape: Any, reduction: Any, result: Any, grad_output_t: Any) -> Any:
    return o_.linear(o_.nll_loss_raw_backward, 0, grad_output_t, target, shape, reduction)


class MseLossBackward0(Node2):
    __slots__ = ('s_self', 's_target', 'v_self', 'v_target', 'c_reduction')
    __new__ = no_instances
    op_name = 'MseLossBackward0'
    slots = ('self', 'target')
    outputs_saved = (False, False)
    consts = ('reduction',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            target = self.s_target
            st = target._storage
            if st is not None and st.version != self.v_target:
                target = unpacked(self, 'target', st)
            target = target._a
            gi = f_.mse_grad(k_, g, self_, target, self.c_reduction)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            target = self.s_target
            st = target._storage
            if st is not None and st.version != self.v_target:
                target = unpacked(self, 'target', st)
            target = target._a
            gi = -f_.mse_grad(k_, g, self_, target, self.c_reduction)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_target = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            target = self.s_target
            st = target._storage
            if st is not None and st.version != self.v_target:
                target = unpacked(self, 'target', st)
            target = target._a
            if target.dtype.kind == 'c':
                target = k_conj_raw(target)
            g0 = f_.mse_grad(k_, g, self_, target, self.c_reduction)
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            target = self.s_target
            st = target._storage
            if st is not None and st.version != self.v_target:
                target = unpacked(self, 'target', st)
            target = target._a
            if target.dtype.kind == 'c':
                target = k_conj_raw(target)
            g1 = -f_.mse_grad(k_, g, self_, target, self.c_reduction)
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            target = self.s_target
            st = target._storage
            if st is not None and st.version != self.v_target:
                target = unpacked(self, 'target', st)
            elif target._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if target._a.dtype.kind == 'c':
                target = o_.conj_raw(target)
            g0 = f_.mse_grad(o_, g, self_, target, self.c_reduction)
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            target = self.s_target
            st = target._storage
            if st is not None and st.version != self.v_target:
                target = unpacked(self, 'target', st)
            elif target._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if target._a.dtype.kind == 'c':
                target = o_.conj_raw(target)
            g1 = -f_.mse_grad(o_, g, self_, target, self.c_reduction)
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_target = freed


def mse_loss_raw(self: Tensor, target: Tensor, reduction: Any) -> Tensor:
    try:
        a_self = self._in
        a_target = target._in
        r = k_mse_loss_raw(a_self, a_target, reduction)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_target)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg or target._rg) and mode.grad:
            n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            n1 = (target._fn if target._meta is None else edge(target)) if target._rg else None
            if n0 is not None or n1 is not None or nowhere(self, target) is not None:
                n = new(MseLossBackward0)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (self._nr, target._nr,) if self._nr or target._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_self = self
                st = self._storage
                n.v_self = 0 if st is None else st.version
                n.s_target = target
                st = target._storage
                n.v_target = 0 if st is None else st.version
                n.c_reduction = reduction
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[MseLossBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('mse_loss_raw', out, (self, target, reduction,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('mse_loss_raw', out, (self, target, reduction,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg or target._rg):
                    p_.cut((self, target,))
                if events.special:
                    p_.after('mse_loss_raw', out, (self, target, reduction,))
        return out
    except Exception as error:
        return p_.failed(mse_loss_raw, error, {'self': self, 'target': target}, {'reduction': reduction})


def jvp_mse_loss_raw(self_: Any, target: Any, reduction: Any, result: Any, self_t: Any, target_t: Any) -> Any:
    return o_.linear(f_.mse_tangent, 3, o_, self_, target, self_t - target_t, reduction)


class MmBackward0(Node2):
    __slots__ = ('s_self', 's_mat2', 'v_self', 'v_mat2', 'c_mat2_swapped')
    __new__ = no_instances
    op_name = 'MmBackward0'
    slots = ('self', 'mat2')
    outputs_saved = (False, False)
    consts = ('mat2_swapped',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            mat2 = self.s_mat2
            st = mat2._storage
            if st is not None and st.version != self.v_mat2:
                mat2 = unpacked(self, 'mat2', st)
            mat2 = mat2._a
            gi = g.dot(mat2.T)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            gi = k_mm_left(self_, g, self.c_mat2_swapped)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_mat2 = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            mat2 = self.s_mat2
            st = mat2._storage
            if st is not None and st.version != self.v_mat2:
                mat2 = unpacked(self, 'mat2', st)
            mat2 = mat2._a
            if mat2.dtype.kind == 'c':
                mat2 = k_conj_raw(mat2)
            g0 = g.dot(mat2.T)
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            g1 = k_mm_left(self_, g, self.c_mat2_swapped)
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            mat2 = self.s_mat2
            st = mat2._storage
            if st is not None and st.version != self.v_mat2:
                mat2 = unpacked(self, 'mat2', st)
            elif mat2._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if mat2._a.dtype.kind == 'c':
                mat2 = o_.conj_raw(mat2)
            g0 = o_.mm(g, o_.t(mat2))
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            g1 = o_.mm_left(self_, g, self.c_mat2_swapped)
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_mat2 = freed


def mm(self: Tensor, mat2: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_mat2 = mat2._in
        if a_self.ndim != 2 or a_mat2.ndim != 2 or (a_self.dtype is not a_mat2.dtype and a_self.dtype != a_mat2.dtype):
            return p_.matmul(self, mat2)
        r = a_self.dot(a_mat2)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_mat2)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg or mat2._rg) and mode.grad:
            n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            n1 = (mat2._fn if mat2._meta is None else edge(mat2)) if mat2._rg else None
            if n0 is not None or n1 is not None or nowhere(self, mat2) is not None:
                n = new(MmBackward0)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (self._nr, mat2._nr,) if self._nr or mat2._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                if n1 is not None:
                    n.s_self = self
                    st = self._storage
                    n.v_self = 0 if st is None else st.version
                else:
                    n.s_self = None
                    n.v_self = 0
                if n0 is not None:
                    n.s_mat2 = mat2
                    st = mat2._storage
                    n.v_mat2 = 0 if st is None else st.version
                else:
                    n.s_mat2 = None
                    n.v_mat2 = 0
                n.c_mat2_swapped = mat2._meta is not None and p_.swapped(a_mat2)
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[MmBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('mm', out, (self, mat2,))
            else:
                if a_self.dtype.kind == 'b':
                    p_.refuse_bools('mm', a_self, a_mat2)
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('mm', out, (self, mat2,))
        else:
            if a_self.dtype.kind == 'b':
                p_.refuse_bools('mm', a_self, a_mat2)
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg or mat2._rg):
                    p_.cut((self, mat2,))
                if events.special:
                    p_.after('mm', out, (self, mat2,))
        return out
    except Exception as error:
        return p_.failed(mm, error, {'self': self, 'mat2': mat2}, {})


def jvp_mm(self_: Any, mat2: Any, result: Any, self_t: Any, mat2_t: Any) -> Any:
    return o_.linear(o_.mm, 0, self_t, mat2) + o_.linear(o_.mm, 1, self_, mat2_t)


class MvBackward0(Node2):
    __slots__ = ('s_self', 's_vec', 'v_self', 'v_vec')
    __new__ = no_instances
    op_name = 'MvBackward0'
    slots = ('self', 'vec')
    outputs_saved = (False, False)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            vec = self.s_vec
            st = vec._storage
            if st is not None and st.version != self.v_vec:
                vec = unpacked(self, 'vec', st)
            vec = vec._a
            gi = k_ger(g, vec)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            gi = k_mv(self_.T, g)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_vec = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            vec = self.s_vec
            st = vec._storage
            if st is not None and st.version != self.v_vec:
                vec = unpacked(self, 'vec', st)
            vec = vec._a
            if vec.dtype.kind == 'c':
                vec = k_conj_raw(vec)
            g0 = k_ger(g, vec)
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            g1 = k_mv(self_.T, g)
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            vec = self.s_vec
            st = vec._storage
            if st is not None and st.version != self.v_vec:
                vec = unpacked(self, 'vec', st)
            elif vec._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if vec._a.dtype.kind == 'c':
                vec = o_.conj_raw(vec)
            g0 = o_.ger(g, vec)
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            g1 = o_.mv(o_.t(self_), g)
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_vec = freed


def mv(self: Tensor, vec: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_vec = vec._in
        r = k_mv(a_self, a_vec)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_vec)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg or vec._rg) and mode.grad:
            n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            n1 = (vec._fn if vec._meta is None else edge(vec)) if vec._rg else None
            if n0 is not None or n1 is not None or nowhere(self, vec) is not None:
                n = new(MvBackward0)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (self._nr, vec._nr,) if self._nr or vec._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                if n1 is not None:
                    n.s_self = self
                    st = self._storage
                    n.v_self = 0 if st is None else st.version
                else:
                    n.s_self = None
                    n.v_self = 0
                if n0 is not None:
                    n.s_vec = vec
                    st = vec._storage
                    n.v_vec = 0 if st is None else st.version
                else:
                    n.s_vec = None
                    n.v_vec = 0
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[MvBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('mv', out, (self, vec,))
            else:
                if a_self.dtype.kind == 'b':
                    p_.refuse_bools('mv', a_self, a_vec)
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('mv', out, (self, vec,))
        else:
            if a_self.dtype.kind == 'b':
                p_.refuse_bools('mv', a_self, a_vec)
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg or vec._rg):
                    p_.cut((self, vec,))
                if events.special:
                    p_.after('mv', out, (self, vec,))
        return out
    except Exception as error:
        return p_.failed(mv, error, {'self': self, 'vec': vec}, {})


def jvp_mv(self_: Any, vec: Any, result: Any, self_t: Any, vec_t: Any) -> Any:
    return o_.linear(o_.mv, 0, self_t, vec) + o_.linear(o_.mv, 1, self_, vec_t)


class DotBackward0(Node2):
    __slots__ = ('s_self', 's_tensor', 'v_self', 'v_tensor')
    __new__ = no_instances
    op_name = 'DotBackward0'
    slots = ('self', 'tensor')
    outputs_saved = (False, False)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            tensor = self.s_tensor
            st = tensor._storage
            if st is not None and st.version != self.v_tensor:
                tensor = unpacked(self, 'tensor', st)
            tensor = tensor._a
            gi = g * tensor
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            gi = g * self_
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_tensor = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            tensor = self.s_tensor
            st = tensor._storage
            if st is not None and st.version != self.v_tensor:
                tensor = unpacked(self, 'tensor', st)
            tensor = tensor._a
            if tensor.dtype.kind == 'c':
                tensor = k_conj_raw(tensor)
            g0 = g * tensor
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            g1 = g * self_
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            tensor = self.s_tensor
            st = tensor._storage
            if st is not None and st.version != self.v_tensor:
                tensor = unpacked(self, 'tensor', st)
            elif tensor._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if tensor._a.dtype.kind == 'c':
                tensor = o_.conj_raw(tensor)
            g0 = g * tensor
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            g1 = g * self_
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_tensor = freed


def dot(self: Tensor, tensor: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_tensor = tensor._in
        r = k_dot(a_self, a_tensor)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_tensor)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg or tensor._rg) and mode.grad:
            n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            n1 = (tensor._fn if tensor._meta is None else edge(tensor)) if tensor._rg else None
            if n0 is not None or n1 is not None or nowhere(self, tensor) is not None:
                n = new(DotBackward0)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (self._nr, tensor._nr,) if self._nr or tensor._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                if n1 is not None:
                    n.s_self = self
                    st = self._storage
                    n.v_self = 0 if st is None else st.version
                else:
                    n.s_self = None
                    n.v_self = 0
                if n0 is not None:
                    n.s_tensor = tensor
                    st = tensor._storage
                    n.v_tensor = 0 if st is None else st.version
                else:
                    n.s_tensor = None
                    n.v_tensor = 0
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[DotBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('dot', out, (self, tensor,))
            else:
                if a_self.dtype.kind == 'b':
                    p_.refuse_bools('dot', a_self, a_tensor)
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('dot', out, (self, tensor,))
        else:
            if a_self.dtype.kind == 'b':
                p_.refuse_bools('dot', a_self, a_tensor)
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg or tensor._rg):
                    p_.cut((self, tensor,))
                if events.special:
                    p_.after('dot', out, (self, tensor,))
        return out
    except Exception as error:
        return p_.failed(dot, error, {'self': self, 'tensor': tensor}, {})


def jvp_dot(self_: Any, tensor: Any, result: Any, self_t: Any, tensor_t: Any) -> Any:
    return o_.linear(o_.dot, 0, self_t, tensor) + o_.linear(o_.dot, 1, self_, tensor_t)


class BmmBackward0(Node2):
    __slots__ = ('s_self', 's_mat2', 'v_self', 'v_mat2')
    __new__ = no_instances
    op_name = 'BmmBackward0'
    slots = ('self', 'mat2')
    outputs_saved = (False, False)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            mat2 = self.s_mat2
            st = mat2._storage
            if st is not None and st.version != self.v_mat2:
                mat2 = unpacked(self, 'mat2', st)
            mat2 = mat2._a
            gi = k_bmm(g, k_transpose(mat2, 1, 2))
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            gi = k_bmm(k_transpose(self_, 1, 2), g)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_self = self.s_mat2 = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            mat2 = self.s_mat2
            st = mat2._storage
            if st is not None and st.version != self.v_mat2:
                mat2 = unpacked(self, 'mat2', st)
            mat2 = mat2._a
            if mat2.dtype.kind == 'c':
                mat2 = k_conj_raw(mat2)
            g0 = k_bmm(g, k_transpose(mat2, 1, 2))
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            self_ = self_._a
            if self_.dtype.kind == 'c':
                self_ = k_conj_raw(self_)
            g1 = k_bmm(k_transpose(self_, 1, 2), g)
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            mat2 = self.s_mat2
            st = mat2._storage
            if st is not None and st.version != self.v_mat2:
                mat2 = unpacked(self, 'mat2', st)
            elif mat2._fn is None and self.n1 is not None and not self.n1.leaf:
                raise o_.detached(self)
            if mat2._a.dtype.kind == 'c':
                mat2 = o_.conj_raw(mat2)
            g0 = o_.bmm(g, o_.transpose(mat2, 1, 2))
        if self.n1 is not None:
            self_ = self.s_self
            st = self_._storage
            if st is not None and st.version != self.v_self:
                self_ = unpacked(self, 'self', st)
            elif self_._fn is None and self.n0 is not None and not self.n0.leaf:
                raise o_.detached(self)
            if self_._a.dtype.kind == 'c':
                self_ = o_.conj_raw(self_)
            g1 = o_.bmm(o_.transpose(self_, 1, 2), g)
        return (g0, g1,)

    def release(self, freed):
        self.s_self = self.s_mat2 = freed


def bmm(self: Tensor, mat2: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_mat2 = mat2._in
        r = k_bmm(a_self, a_mat2)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_mat2)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg or mat2._rg) and mode.grad:
            n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            n1 = (mat2._fn if mat2._meta is None else edge(mat2)) if mat2._rg else None
            if n0 is not None or n1 is not None or nowhere(self, mat2) is not None:
                n = new(BmmBackward0)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (self._nr, mat2._nr,) if self._nr or mat2._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                if n1 is not None:
                    n.s_self = self
                    st = self._storage
                    n.v_self = 0 if st is None else st.version
                else:
                    n.s_self = None
                    n.v_self = 0
                if n0 is not None:
                    n.s_mat2 = mat2
                    st = mat2._storage
                    n.v_mat2 = 0 if st is None else st.version
                else:
                    n.s_mat2 = None
                    n.v_mat2 = 0
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[BmmBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('bmm', out, (self, mat2,))
            else:
                if a_self.dtype.kind == 'b':
                    p_.refuse_bools('bmm', a_self, a_mat2)
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('bmm', out, (self, mat2,))
        else:
            if a_self.dtype.kind == 'b':
                p_.refuse_bools('bmm', a_self, a_mat2)
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg or mat2._rg):
                    p_.cut((self, mat2,))
                if events.special:
                    p_.after('bmm', out, (self, mat2,))
        return out
    except Exception as error:
        return p_.failed(bmm, error, {'self': self, 'mat2': mat2}, {})


def jvp_bmm(self_: Any, mat2: Any, result: Any, self_t: Any, mat2_t: Any) -> Any:
    return o_.linear(o_.bmm, 0, self_t, mat2) + o_.linear(o_.bmm, 1, self_, mat2_t)


class AddmmBackward0(NodeN):
    __slots__ = ('s_mat1', 's_mat2', 'v_mat1', 'v_mat2', 'c_mat2_swapped', 'c_self_shape')
    __new__ = no_instances
    op_name = 'AddmmBackward0'
    slots = ('mat1', 'mat2')
    outputs_saved = (False, False)
    consts = ('mat2_swapped', 'self_shape')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.next[0]
        if n is not None:
            gi = k_sum_to(g, self.c_self_shape)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
                if n.keeps and gi is g:
                    shared.add(n)
        n = self.next[1]
        if n is not None:
            mat2 = self.s_mat2
            st = mat2._storage
            if st is not None and st.version != self.v_mat2:
                mat2 = unpacked(self, 'mat2', st)
            mat2 = mat2._a
            gi = g.dot(mat2.T)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.next[2]
        if n is not None:
            mat1 = self.s_mat1
            st = mat1._storage
            if st is not None and st.version != self.v_mat1:
                mat1 = unpacked(self, 'mat1', st)
            mat1 = mat1._a
            gi = k_mm_left(mat1, g, self.c_mat2_swapped)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_mat1 = self.s_mat2 = freed

    def grads(self, g):
        g0 = g1 = g2 = None
        if self.next[0] is not None:
            g0 = k_sum_to(g, self.c_self_shape)
        if self.next[1] is not None:
            mat2 = self.s_mat2
            st = mat2._storage
            if st is not None and st.version != self.v_mat2:
                mat2 = unpacked(self, 'mat2', st)
            mat2 = mat2._a
            if mat2.dtype.kind == 'c':
                mat2 = k_conj_raw(mat2)
            g1 = g.dot(mat2.T)
        if self.next[2] is not None:
            mat1 = self.s_mat1
            st = mat1._storage
            if st is not None and st.version != self.v_mat1:
                mat1 = unpacked(self, 'mat1', st)
            mat1 = mat1._a
            if mat1.dtype.kind == 'c':
                mat1 = k_conj_raw(mat1)
            g2 = k_mm_left(mat1, g, self.c_mat2_swapped)
        return (g0, g1, g2,)

    def grads_graph(self, g):
        g0 = g1 = g2 = None
        if self.next[0] is not None:
            g0 = o_.sum_to(g, self.c_self_shape)
        if self.next[1] is not None:
            mat2 = self.s_mat2
            st = mat2._storage
            if st is not None and st.version != self.v_mat2:
                mat2 = unpacked(self, 'mat2', st)
            elif mat2._fn is None and self.next[2] is not None and not self.next[2].leaf:
                raise o_.detached(self)
            if mat2._a.dtype.kind == 'c':
                mat2 = o_.conj_raw(mat2)
            g1 = o_.mm(g, o_.t(mat2))
        if self.next[2] is not None:
            mat1 = self.s_mat1
            st = mat1._storage
            if st is not None and st.version != self.v_mat1:
                mat1 = unpacked(self, 'mat1', st)
            elif mat1._fn is None and self.next[1] is not None and not self.next[1].leaf:
                raise o_.detached(self)
            if mat1._a.dtype.kind == 'c':
                mat1 = o_.conj_raw(mat1)
            g2 = o_.mm_left(mat1, g, self.c_mat2_swapped)
        return (g0, g1, g2,)

    def release(self, freed):
        self.s_mat1 = self.s_mat2 = freed


def addmm(self: Tensor, mat1: Tensor, mat2: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_mat1 = mat1._in
        a_mat2 = mat2._in
        r = k_addmm(a_self, a_mat1, a_mat2)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_mat1, a_mat2)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg or mat1._rg or mat2._rg) and mode.grad:
            n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
            n1 = (mat1._fn if mat1._meta is None else edge(mat1)) if mat1._rg else None
            n2 = (mat2._fn if mat2._meta is None else edge(mat2)) if mat2._rg else None
            if n0 is not None or n1 is not None or n2 is not None or nowhere(self, mat1, mat2) is not None:
                n = new(AddmmBackward0)
                n.next = (n0, n1, n2)
                n.nrs = (self._nr, mat1._nr, mat2._nr,) if self._nr or mat1._nr or mat2._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                if n2 is not None:
                    n.s_mat1 = mat1
                    st = mat1._storage
                    n.v_mat1 = 0 if st is None else st.version
                else:
                    n.s_mat1 = None
                    n.v_mat1 = 0
                if n1 is not None:
                    n.s_mat2 = mat2
                    st = mat2._storage
                    n.v_mat2 = 0 if st is None else st.version
                else:
                    n.s_mat2 = None
                    n.v_mat2 = 0
                n.c_mat2_swapped = mat2._meta is not None and p_.swapped(a_mat2)
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[AddmmBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('addmm', out, (self, mat1, mat2,))
            else:
                if a_self.dtype.kind == 'b':
                    p_.refuse_bools('addmm', a_self, a_mat1, a_mat2)
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('addmm', out, (self, mat1, mat2,))
        else:
            if a_self.dtype.kind == 'b':
                p_.refuse_bools('addmm', a_self, a_mat1, a_mat2)
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg or mat1._rg or mat2._rg):
                    p_.cut((self, mat1, mat2,))
                if events.special:
                    p_.after('addmm', out, (self, mat1, mat2,))
        return out
    except Exception as error:
        return p_.failed(addmm, error, {'self': self, 'mat1': mat1, 'mat2': mat2}, {})


def jvp_addmm(self_: Any, mat1: Any, mat2: Any, result: Any, self_t: Any, mat1_t: Any, mat2_t: Any) -> Any:
    self_shape = self_.shape
    return o_.linear(o_.sum_to, 0, self_t, self_shape) + o_.linear(o_.mm, 0, mat1_t, mat2) + o_.linear(o_.mm, 1, mat1, mat2_t)


class AliasBackward0(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'AliasBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = g
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = g
        return (g0,)

    def grads_graph(self, g):
        g0 = g
        return (g0,)


def alias(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_alias(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(AliasBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[AliasBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'alias', lambda b: k_alias(b))
        if events.special:
            p_.after('alias', out, (self,))
        return out
    except Exception as error:
        return p_.failed(alias, error, {'self': self}, {})


def jvp_alias(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.alias, 0, self_t)


class Identity(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'Identity'
    slots = ()
    outputs_saved = ()
    consts = ()
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = g
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = g
        return (g0,)

    def grads_graph(self, g):
        g0 = g
        return (g0,)


def fw_primal(self: Tensor, level: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_fw_primal(a_self, level)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(Identity)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[Identity](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'fw_primal', lambda b: k_fw_primal(b, level))
        if events.special:
            p_.after('fw_primal', out, (self, level,))
        return out
    except Exception as error:
        return p_.failed(fw_primal, error, {'self': self}, {'level': level})


def jvp_fw_primal(self_: Any, level: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.fw_primal, 0, self_t, level)


class ViewBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'ViewBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_reshape(g, self.c_self_shape)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = k_reshape(g, self.c_self_shape)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.reshape(g, self.c_self_shape)
        return (g0,)


def view(self: Tensor, shape: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_view(a_self, shape)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ViewBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ViewBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'view', lambda b: k_view(b, shape))
        if events.special:
            p_.after('view', out, (self, shape,))
        return out
    except Exception as error:
        return p_.failed(view, error, {'self': self}, {'shape': shape})


def jvp_view(self_: Any, shape: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.view, 0, self_t, shape)


class ReshapeAliasBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'ReshapeAliasBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_reshape(g, self.c_self_shape)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = k_reshape(g, self.c_self_shape)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.reshape(g, self.c_self_shape)
        return (g0,)


def reshape_alias(self: Tensor, shape: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_reshape_alias(a_self, shape)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ReshapeAliasBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ReshapeAliasBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'reshape_alias', lambda b: k_reshape_alias(b, shape))
        if events.special:
            p_.after('reshape_alias', out, (self, shape,))
        return out
    except Exception as error:
        return p_.failed(reshape_alias, error, {'self': self}, {'shape': shape})


def jvp_reshape_alias(self_: Any, shape: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.reshape_alias, 0, self_t, shape)


class UnsafeViewBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'UnsafeViewBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_reshape(g, self.c_self_shape)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps:
                shared.add(n)

    def grads(self, g):
        g0 = k_reshape(g, self.c_self_shape)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.reshape(g, self.c_self_shape)
        return (g0,)


def unsafe_view(self: Tensor, shape: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_unsafe_view(a_self, shape)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(UnsafeViewBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[UnsafeViewBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('unsafe_view', out, (self, shape,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('unsafe_view', out, (self, shape,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('unsafe_view', out, (self, shape,))
        return out
    except Exception as error:
        return p_.failed(unsafe_view, error, {'self': self}, {'shape': shape})


def jvp_unsafe_view(self_: Any, shape: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.unsafe_view, 0, self_t, shape)


class ExpandBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'ExpandBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_sum_to(g, self.c_self_shape)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = k_sum_to(g, self.c_self_shape)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.sum_to(g, self.c_self_shape)
        return (g0,)


def expand(self: Tensor, shape: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_expand(a_self, shape)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ExpandBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ExpandBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'expand', lambda b: k_expand(b, shape))
        if events.special:
            p_.after('expand', out, (self, shape,))
        return out
    except Exception as error:
        return p_.failed(expand, error, {'self': self}, {'shape': shape})


def jvp_expand(self_: Any, shape: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.expand, 0, self_t, shape)


class TBackward0(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'TBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = g.T
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = g.T
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.t(g)
        return (g0,)


def t(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = a_self.T
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(TBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[TBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 't', lambda b: k_t(b))
        if events.special:
            p_.after('t', out, (self,))
        return out
    except Exception as error:
        return p_.failed(t, error, {'self': self}, {})


def jvp_t(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.t, 0, self_t)


class TransposeBackward0(Node1):
    __slots__ = ('c_dim0', 'c_dim1')
    __new__ = no_instances
    op_name = 'TransposeBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('dim0', 'dim1')
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_transpose(g, self.c_dim0, self.c_dim1)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = k_transpose(g, self.c_dim0, self.c_dim1)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.transpose(g, self.c_dim0, self.c_dim1)
        return (g0,)


def transpose(self: Tensor, dim0: Any, dim1: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_transpose(a_self, dim0, dim1)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(TransposeBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_dim0 = dim0
                n.c_dim1 = dim1
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[TransposeBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'transpose', lambda b: k_transpose(b, dim0, dim1))
        if events.special:
            p_.after('transpose', out, (self, dim0, dim1,))
        return out
    except Exception as error:
        return p_.failed(transpose, error, {'self': self}, {'dim0': dim0, 'dim1': dim1})


def jvp_transpose(self_: Any, dim0: Any, dim1: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.transpose, 0, self_t, dim0, dim1)


class PermuteBackward0(Node1):
    __slots__ = ('c_dims',)
    __new__ = no_instances
    op_name = 'PermuteBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('dims',)
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_permute_to(g, f_.inverse_permutation(k_, self.c_dims))
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = k_permute_to(g, f_.inverse_permutation(k_, self.c_dims))
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.permute_to(g, f_.inverse_permutation(o_, self.c_dims))
        return (g0,)


def permute_to(self: Tensor, dims: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_permute_to(a_self, dims)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(PermuteBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_dims = dims
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[PermuteBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'permute_to', lambda b: k_permute_to(b, dims))
        if events.special:
            p_.after('permute_to', out, (self, dims,))
        return out
    except Exception as error:
        return p_.failed(permute_to, error, {'self': self}, {'dims': dims})


def jvp_permute_to(self_: Any, dims: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.permute_to, 0, self_t, dims)


class UnsqueezeBackward0(Node1):
    __slots__ = ('c_dim',)
    __new__ = no_instances
    op_name = 'UnsqueezeBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('dim',)
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_squeeze_dim(g, self.c_dim)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = k_squeeze_dim(g, self.c_dim)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.squeeze_dim(g, self.c_dim)
        return (g0,)


def unsqueeze(self: Tensor, dim: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_unsqueeze(a_self, dim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(UnsqueezeBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_dim = dim
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[UnsqueezeBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'unsqueeze', lambda b: k_unsqueeze(b, dim))
        if events.special:
            p_.after('unsqueeze', out, (self, dim,))
        return out
    except Exception as error:
        return p_.failed(unsqueeze, error, {'self': self}, {'dim': dim})


def jvp_unsqueeze(self_: Any, dim: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.unsqueeze, 0, self_t, dim)


class SqueezeBackward0(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'SqueezeBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_reshape(g, self.c_self_shape)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = k_reshape(g, self.c_self_shape)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.reshape(g, self.c_self_shape)
        return (g0,)


def squeeze_all(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_squeeze_all(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SqueezeBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SqueezeBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'squeeze_all', lambda b: k_squeeze_all(b))
        if events.special:
            p_.after('squeeze_all', out, (self,))
        return out
    except Exception as error:
        return p_.failed(squeeze_all, error, {'self': self}, {})


def jvp_squeeze_all(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.squeeze_all, 0, self_t)


class SqueezeBackward1(Node1):
    __slots__ = ('c_self_shape',)
    __new__ = no_instances
    op_name = 'SqueezeBackward1'
    slots = ()
    outputs_saved = ()
    consts = ('self_shape',)
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_reshape(g, self.c_self_shape)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = k_reshape(g, self.c_self_shape)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.reshape(g, self.c_self_shape)
        return (g0,)


def squeeze_dim(self: Tensor, dim: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_squeeze_dim(a_self, dim)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SqueezeBackward1)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SqueezeBackward1](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'squeeze_dim', lambda b: k_squeeze_dim(b, dim))
        if events.special:
            p_.after('squeeze_dim', out, (self, dim,))
        return out
    except Exception as error:
        return p_.failed(squeeze_dim, error, {'self': self}, {'dim': dim})


def jvp_squeeze_dim(self_: Any, dim: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.squeeze_dim, 0, self_t, dim)


class SelectBackward0(Node1):
    __slots__ = ('c_dim', 'c_index', 'c_self_shape')
    __new__ = no_instances
    op_name = 'SelectBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('dim', 'index', 'self_shape')
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_select_backward(g, self.c_self_shape, self.c_dim, self.c_index)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_select_backward(g, self.c_self_shape, self.c_dim, self.c_index)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.select_backward(g, self.c_self_shape, self.c_dim, self.c_index)
        return (g0,)


def select(self: Tensor, dim: Any, index: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_select(a_self, dim, index)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SelectBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_dim = dim
                n.c_index = index
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SelectBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'select', lambda b: k_select(b, dim, index))
        if events.special:
            p_.after('select', out, (self, dim, index,))
        return out
    except Exception as error:
        return p_.failed(select, error, {'self': self}, {'dim': dim, 'index': index})


def jvp_select(self_: Any, dim: Any, index: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.select, 0, self_t, dim, index)


class SliceBackward0(Node1):
    __slots__ = ('c_dim', 'c_end', 'c_self_shape', 'c_start', 'c_step')
    __new__ = no_instances
    op_name = 'SliceBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('dim', 'end', 'self_shape', 'start', 'step')
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_slice_backward(g, self.c_self_shape, self.c_dim, self.c_start, self.c_end, self.c_step)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_slice_backward(g, self.c_self_shape, self.c_dim, self.c_start, self.c_end, self.c_step)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.slice_backward(g, self.c_self_shape, self.c_dim, self.c_start, self.c_end, self.c_step)
        return (g0,)


def slice(self: Tensor, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1) -> Tensor:
    try:
        a_self = self._in
        r = k_slice(a_self, dim, start, end, step)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SliceBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_dim = dim
                n.c_end = end
                n.c_self_shape = a_self.shape
                n.c_start = start
                n.c_step = step
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SliceBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'slice', lambda b: k_slice(b, dim, start, end, step))
        if events.special:
            p_.after('slice', out, (self, dim, start, end, step,))
        return out
    except Exception as error:
        return p_.failed(slice, error, {'self': self}, {'dim': dim, 'start': start, 'end': end, 'step': step})


def jvp_slice(self_: Any, dim: Any, start: Any, end: Any, step: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.slice, 0, self_t, dim, start, end, step)


class ConjPhysicalBackward0(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'ConjPhysicalBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_conj_raw(g)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_conj_raw(g)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.conj_raw(g)
        return (g0,)


def conj_raw(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_conj_raw(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ConjPhysicalBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ConjPhysicalBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('conj_raw', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('conj_raw', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('conj_raw', out, (self,))
        return out
    except Exception as error:
        return p_.failed(conj_raw, error, {'self': self}, {})


def jvp_conj_raw(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.conj_raw, 0, self_t)


class ConjBackward0(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'ConjBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_conj_copy(g)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi

    def grads(self, g):
        g0 = k_conj_copy(g)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.conj_copy(g)
        return (g0,)


def conj_copy(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_conj_copy(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ConjBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ConjBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('conj_copy', out, (self,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('conj_copy', out, (self,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('conj_copy', out, (self,))
        return out
    except Exception as error:
        return p_.failed(conj_copy, error, {'self': self}, {})


def jvp_conj_copy(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.conj_copy, 0, self_t)


class ComplexBackward0(Node2):
    __slots__ = ('fit',)
    __new__ = no_instances
    op_name = 'ComplexBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            gi = f_.real_part(k_, g)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
                if n.keeps:
                    shared.add(n)
        n = self.n1
        if n is not None:
            gi = f_.imag_part(k_, g)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
                if n.keeps:
                    shared.add(n)

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = f_.real_part(k_, g)
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            g1 = f_.imag_part(k_, g)
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = f_.real_part(o_, g)
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            g1 = f_.imag_part(o_, g)
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)


def complex_raw(real: Tensor, imag: Tensor) -> Tensor:
    try:
        a_real = real._in
        a_imag = imag._in
        if a_real.dtype is not a_imag.dtype and a_real.dtype != a_imag.dtype:
            return p_.mixed(complex_raw, ['real', 'imag'], {'real': real, 'imag': imag})
        r = k_complex_raw(a_real, a_imag)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (real._rg or imag._rg) and mode.grad:
            n0 = (real._fn if real._meta is None else edge(real)) if real._rg else None
            n1 = (imag._fn if imag._meta is None else edge(imag)) if imag._rg else None
            if n0 is not None or n1 is not None or nowhere(real, imag) is not None:
                n = new(ComplexBackward0)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (real._nr, imag._nr,) if real._nr or imag._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.fit = None if a_real.shape == a_imag.shape else (a_real.shape, a_imag.shape,)
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ComplexBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('complex_raw', out, (real, imag,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('complex_raw', out, (real, imag,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (real._rg or imag._rg):
                    p_.cut((real, imag,))
                if events.special:
                    p_.after('complex_raw', out, (real, imag,))
        return out
    except Exception as error:
        return p_.failed(complex_raw, error, {'real': real, 'imag': imag}, {})


def jvp_complex_raw(real: Any, imag: Any, result: Any, real_t: Any, imag_t: Any) -> Any:
    return o_.complex_raw(o_.filled(real_t), o_.filled(imag_t))


class PolarBackward0(Node2):
    __slots__ = ('s_result', 'v_result', 'fit', 'o_storage')
    __new__ = no_instances
    op_name = 'PolarBackward0'
    slots = ('result',)
    outputs_saved = (True,)
    consts = ()

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            st = self.o_storage
            if st is not None and st.version != self.v_result:
                result = unpacked(self, 'result', st)._a
            else:
                result = self.s_result
            gi = f_.inner(k_, g, k_sgn(result))
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[0])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        n = self.n1
        if n is not None:
            st = self.o_storage
            if st is not None and st.version != self.v_result:
                result = unpacked(self, 'result', st)._a
            else:
                result = self.s_result
            gi = f_.inner(k_, g, result * 1j)
            if self.fit is not None:
                gi = k_sum_to(gi, self.fit[1])
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.s_result = self.o_storage = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            st = self.o_storage
            if st is not None and st.version != self.v_result:
                result = unpacked(self, 'result', st)._a
            else:
                result = self.s_result
            g0 = f_.inner(k_, g, k_sgn(result))
            if self.fit is not None:
                g0 = k_sum_to(g0, self.fit[0])
        if self.n1 is not None:
            st = self.o_storage
            if st is not None and st.version != self.v_result:
                result = unpacked(self, 'result', st)._a
            else:
                result = self.s_result
            g1 = f_.inner(k_, g, result * 1j)
            if self.fit is not None:
                g1 = k_sum_to(g1, self.fit[1])
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            st = self.o_storage
            if st is not None and st.version != self.v_result:
                result = unpacked(self, 'result', st)
            else:
                result = o_.output_of(self)
            g0 = f_.inner(o_, g, o_.sgn(result))
            if self.fit is not None:
                g0 = o_.sum_to(g0, self.fit[0])
        if self.n1 is not None:
            st = self.o_storage
            if st is not None and st.version != self.v_result:
                result = unpacked(self, 'result', st)
            else:
                result = o_.output_of(self)
            g1 = f_.inner(o_, g, result * 1j)
            if self.fit is not None:
                g1 = o_.sum_to(g1, self.fit[1])
        return (g0, g1,)

    def release(self, freed):
        self.s_result = self.o_storage = freed

    def output_storage(self, storage):
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def polar_raw(abs: Tensor, angle: Tensor) -> Tensor:
    try:
        a_abs = abs._in
        a_angle = angle._in
        if a_abs.dtype is not a_angle.dtype and a_abs.dtype != a_angle.dtype:
            return p_.mixed(polar_raw, ['abs', 'angle'], {'abs': abs, 'angle': angle})
        r = k_polar_raw(a_abs, a_angle)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (abs._rg or angle._rg) and mode.grad:
            n0 = (abs._fn if abs._meta is None else edge(abs)) if abs._rg else None
            n1 = (angle._fn if angle._meta is None else edge(angle)) if angle._rg else None
            if n0 is not None or n1 is not None or nowhere(abs, angle) is not None:
                n = new(PolarBackward0)
                n.n0 = n0
                n.n1 = n1
                n.nrs = (abs._nr, angle._nr,) if abs._nr or angle._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_result = r
                n.v_result = 0
                n.o_storage = None
                n.fit = None if a_abs.shape == a_angle.shape else (a_abs.shape, a_angle.shape,)
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[PolarBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('polar_raw', out, (abs, angle,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('polar_raw', out, (abs, angle,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (abs._rg or angle._rg):
                    p_.cut((abs, angle,))
                if events.special:
                    p_.after('polar_raw', out, (abs, angle,))
        return out
    except Exception as error:
        return p_.failed(polar_raw, error, {'abs': abs, 'angle': angle}, {})


def jvp_polar_raw(abs: Any, angle: Any, result: Any, abs_t: Any, angle_t: Any) -> Any:
    return f_.polar_tangent(o_, o_.filled(abs_t), o_.filled(angle_t), abs, angle)


class ViewAsRealBackward0(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'ViewAsRealBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_view_as_complex(k_contiguous(g))
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = k_view_as_complex(k_contiguous(g))
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.view_as_complex(o_.contiguous(g))
        return (g0,)


def view_as_real(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_view_as_real(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ViewAsRealBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ViewAsRealBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'view_as_real', lambda b: k_view_as_real(b))
        if events.special:
            p_.after('view_as_real', out, (self,))
        return out
    except Exception as error:
        return p_.failed(view_as_real, error, {'self': self}, {})


def jvp_view_as_real(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.view_as_real, 0, self_t)


class ViewAsComplexBackward0(Node1):
    __slots__ = ()
    __new__ = no_instances
    op_name = 'ViewAsComplexBackward0'
    slots = ()
    outputs_saved = ()
    consts = ()
    keeps = True

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_view_as_real(g)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps and self in shared:
                shared.add(n)

    def grads(self, g):
        g0 = k_view_as_real(g)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.view_as_real(g)
        return (g0,)


def view_as_complex(self: Tensor) -> Tensor:
    try:
        a_self = self._in
        r = k_view_as_complex(a_self)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(ViewAsComplexBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[ViewAsComplexBackward0](n, out)
                        except RecursionError:
                            pass
            else:
                out._fn = None
                out._rg = False
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
        out = as_view(out, self, 'view_as_complex', lambda b: k_view_as_complex(b))
        if events.special:
            p_.after('view_as_complex', out, (self,))
        return out
    except Exception as error:
        return p_.failed(view_as_complex, error, {'self': self}, {})


def jvp_view_as_complex(self_: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.view_as_complex, 0, self_t)


class SelectBackwardBackward0(Node1):
    __slots__ = ('c_dim', 'c_index')
    __new__ = no_instances
    op_name = 'SelectBackwardBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('dim', 'index')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_select(g, self.c_dim, self.c_index)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps:
                shared.add(n)

    def grads(self, g):
        g0 = k_select(g, self.c_dim, self.c_index)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.select(g, self.c_dim, self.c_index)
        return (g0,)


def select_backward(self: Tensor, shape: Any, dim: Any, index: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_select_backward(a_self, shape, dim, index)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SelectBackwardBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_dim = dim
                n.c_index = index
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SelectBackwardBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('select_backward', out, (self, shape, dim, index,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('select_backward', out, (self, shape, dim, index,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('select_backward', out, (self, shape, dim, index,))
        return out
    except Exception as error:
        return p_.failed(select_backward, error, {'self': self}, {'shape': shape, 'dim': dim, 'index': index})


def jvp_select_backward(self_: Any, shape: Any, dim: Any, index: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.select_backward, 0, self_t, shape, dim, index)


class SliceBackwardBackward0(Node1):
    __slots__ = ('c_dim', 'c_end', 'c_start', 'c_step')
    __new__ = no_instances
    op_name = 'SliceBackwardBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('dim', 'end', 'start', 'step')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_slice(g, self.c_dim, self.c_start, self.c_end, self.c_step)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps:
                shared.add(n)

    def grads(self, g):
        g0 = k_slice(g, self.c_dim, self.c_start, self.c_end, self.c_step)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.slice(g, self.c_dim, self.c_start, self.c_end, self.c_step)
        return (g0,)


def slice_backward(self: Tensor, shape: Any, dim: Any, start: Any, end: Any, step: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_slice_backward(a_self, shape, dim, start, end, step)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(SliceBackwardBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_dim = dim
                n.c_end = end
                n.c_start = start
                n.c_step = step
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[SliceBackwardBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('slice_backward', out, (self, shape, dim, start, end, step,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('slice_backward', out, (self, shape, dim, start, end, step,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('slice_backward', out, (self, shape, dim, start, end, step,))
        return out
    except Exception as error:
        return p_.failed(slice_backward, error, {'self': self}, {'shape': shape, 'dim': dim, 'start': start, 'end': end, 'step': step})


def jvp_slice_backward(self_: Any, shape: Any, dim: Any, start: Any, end: Any, step: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.slice_backward, 0, self_t, shape, dim, start, end, step)


class IndexBackward0(Node1):
    __slots__ = ('c_indices', 'c_self_shape')
    __new__ = no_instances
    op_name = 'IndexBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('indices', 'self_shape')
    spent = ('c_indices',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_index_backward(g, self.c_self_shape, self.c_indices)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.c_indices = freed

    def grads(self, g):
        g0 = k_index_backward(g, self.c_self_shape, self.c_indices)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.index_backward(g, self.c_self_shape, self.c_indices)
        return (g0,)

    def release(self, freed):
        self.c_indices = freed


def index(self: Tensor, indices: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_index(a_self, indices)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(IndexBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_indices = p_.own(indices)
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[IndexBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('index', out, (self, indices,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('index', out, (self, indices,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('index', out, (self, indices,))
        return out
    except Exception as error:
        return p_.failed(index, error, {'self': self}, {'indices': indices})


def jvp_index(self_: Any, indices: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.index, 0, self_t, indices)


class IndexBackwardBackward0(Node1):
    __slots__ = ('c_indices',)
    __new__ = no_instances
    op_name = 'IndexBackwardBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('indices',)
    spent = ('c_indices',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = k_index(g, self.c_indices)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.c_indices = freed

    def grads(self, g):
        g0 = k_index(g, self.c_indices)
        return (g0,)

    def grads_graph(self, g):
        g0 = o_.index(g, self.c_indices)
        return (g0,)

    def release(self, freed):
        self.c_indices = freed


def index_backward(self: Tensor, shape: Any, indices: Any) -> Tensor:
    try:
        a_self = self._in
        r = k_index_backward(a_self, shape, indices)
        if type(r) is not ndarray:
            r = p_.as_array(r)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(IndexBackwardBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.c_indices = p_.own(indices)
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[IndexBackwardBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('index_backward', out, (self, shape, indices,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('index_backward', out, (self, shape, indices,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('index_backward', out, (self, shape, indices,))
        return out
    except Exception as error:
        return p_.failed(index_backward, error, {'self': self}, {'shape': shape, 'indices': indices})


def jvp_index_backward(self_: Any, shape: Any, indices: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.index_backward, 0, self_t, shape, indices)


class IndexPutBackward0(Node2):
    __slots__ = ('c_accumulate', 'c_indices', 'c_values_shape')
    __new__ = no_instances
    op_name = 'IndexPutBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('accumulate', 'indices', 'values_shape')
    spent = ('c_indices',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        if n is not None:
            gi = f_.index_put_grad(k_, g, self.c_indices, self.c_accumulate)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
                if n.keeps:
                    shared.add(n)
        n = self.n1
        if n is not None:
            gi = k_sum_to(k_index(g, self.c_indices), self.c_values_shape)
            if n in buffers:
                b_add(buffers, n, gi, shared, summed)
            else:
                buffers[n] = gi
        if freed is not None:
            self.c_indices = freed

    def grads(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = f_.index_put_grad(k_, g, self.c_indices, self.c_accumulate)
        if self.n1 is not None:
            g1 = k_sum_to(k_index(g, self.c_indices), self.c_values_shape)
        return (g0, g1,)

    def grads_graph(self, g):
        g0 = g1 = None
        if self.n0 is not None:
            g0 = f_.index_put_grad(o_, g, self.c_indices, self.c_accumulate)
        if self.n1 is not None:
            g1 = o_.sum_to(o_.index(g, self.c_indices), self.c_values_shape)
        return (g0, g1,)

    def release(self, freed):
        self.c_indices = freed


class IndexPutBackward0_values(Node1):
    __slots__ = ('c_accumulate', 'c_indices')
    __new__ = no_instances
    op_name = 'IndexPutBackward0'
    slots = ()
    outputs_saved = ()
    consts = ('accumulate', 'indices')
    blanks = (1,)
    spent = ('c_indices',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        gi = f_.index_put_grad(k_, g, self.c_indices, self.c_accumulate)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
            if n.keeps:
                shared.add(n)
        if freed is not None:
            self.c_indices = freed

    def grads(self, g):
        g0 = f_.index_put_grad(k_, g, self.c_indices, self.c_accumulate)
        return (g0,)

    def grads_graph(self, g):
        g0 = f_.index_put_grad(o_, g, self.c_indices, self.c_accumulate)
        return (g0,)

    def release(self, freed):
        self.c_indices = freed


def index_put(self: Tensor, indices: Any, values: Any, accumulate: Any = False) -> Tensor:
    try:
        if isinstance(values, Tensor):
            a_self = self._in
            a_values = values._in
            r = k_index_put(a_self, indices, a_values, accumulate)
            if type(r) is not ndarray:
                r = p_.as_array(r, a_self, a_values)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg or values._rg) and mode.grad:
                n0 = (self._fn if self._meta is None else edge(self)) if self._rg else None
                n1 = (values._fn if values._meta is None else edge(values)) if values._rg else None
                if n0 is not None or n1 is not None or nowhere(self, values) is not None:
                    n = new(IndexPutBackward0)
                    n.n0 = n0
                    n.n1 = n1
                    n.nrs = (self._nr, values._nr,) if self._nr or values._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.c_accumulate = accumulate
                    n.c_indices = p_.own(indices)
                    n.c_values_shape = a_values.shape
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[IndexPutBackward0](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('index_put', out, (self, indices, values, accumulate,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('index_put', out, (self, indices, values, accumulate,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg or values._rg):
                        p_.cut((self, values,))
                    if events.special:
                        p_.after('index_put', out, (self, indices, values, accumulate,))
            return out
        if type(values) in NUMBERS:
            a_self = self._in
            cls = IndexPutBackward0_values
            if a_self.dtype.char in 'fdFD':
                r = k_index_put(a_self, indices, values, accumulate)
            else:
                r, cls = p_.beside_number('index_put', lambda a_self, indices, values, accumulate: k_index_put(a_self, indices, values, accumulate), (a_self, indices, values, accumulate,), a_self, cls)
            if type(r) is not ndarray:
                r = p_.as_array(r)
            out = new(Tensor)
            out._a = r
            out._storage = out._gradient = out._meta = None
            out._nr = 0
            if (self._rg) and mode.grad:
                n0 = self._fn if self._meta is None else edge(self)
                if n0 is not None or (n0 := nowhere(self)) is not None:
                    n = new(cls)
                    n.n0 = n0
                    n.nrs = (self._nr,) if self._nr else None
                    n.seq = next_seq()
                    frame = _getframe(1)
                    code = frame.f_code
                    if code.co_filename in INTERNAL:
                        frame = user_frame(frame)
                        code = frame.f_code
                    n.code = code
                    n.lasti = frame.f_lasti
                    n.hooks = None
                    n.c_accumulate = accumulate
                    n.c_indices = p_.own(indices)
                    out._fn = n
                    out._rg = True
                    if events.on:
                        if events.sink is not None:
                            try:
                                events.births[IndexPutBackward0_values](n, out)
                            except RecursionError:
                                pass
                        if events.special:
                            p_.after('index_put', out, (self, indices, values, accumulate,))
                else:
                    out._fn = None
                    out._rg = False
                    if events.special:
                        p_.after('index_put', out, (self, indices, values, accumulate,))
            else:
                out._fn = None
                out._rg = False
                if events.on:
                    if events.sink is not None and (self._rg):
                        p_.cut((self,))
                    if events.special:
                        p_.after('index_put', out, (self, indices, values, accumulate,))
            return out
        return p_.converted(index_put, ('values',), {'self': self, 'indices': indices, 'values': values, 'accumulate': accumulate})
    except Exception as error:
        return p_.failed(index_put, error, {'self': self, 'values': values}, {'indices': indices, 'accumulate': accumulate})


def jvp_index_put(self_: Any, indices: Any, values: Any, accumulate: Any, result: Any, self_t: Any, values_t: Any) -> Any:
    return o_.index_put(o_.filled(self_t), indices, o_.filled(values_t), accumulate)


class GatherBackward0(Node1):
    __slots__ = ('s_index', 'v_index', 'c_dim', 'c_self_shape')
    __new__ = no_instances
    op_name = 'GatherBackward0'
    slots = ('index',)
    outputs_saved = (False,)
    consts = ('dim', 'self_shape')

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        index = self.s_index
        st = index._storage
        if st is not None and st.version != self.v_index:
            index = unpacked(self, 'index', st)
        index = index._a
        gi = k_gather_backward(g, self.c_self_shape, self.c_dim, index)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_index = freed

    def grads(self, g):
        index = self.s_index
        st = index._storage
        if st is not None and st.version != self.v_index:
            index = unpacked(self, 'index', st)
        index = index._a
        if index.dtype.kind == 'c':
            index = k_conj_raw(index)
        g0 = k_gather_backward(g, self.c_self_shape, self.c_dim, index)
        return (g0,)

    def grads_graph(self, g):
        index = self.s_index
        st = index._storage
        if st is not None and st.version != self.v_index:
            index = unpacked(self, 'index', st)
        if index._a.dtype.kind == 'c':
            index = o_.conj_raw(index)
        g0 = o_.gather_backward(g, self.c_self_shape, self.c_dim, index)
        return (g0,)

    def release(self, freed):
        self.s_index = freed


def gather(self: Tensor, dim: Any, index: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_index = index._in
        r = k_gather(a_self, dim, a_index)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_index)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(GatherBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_index = index
                st = index._storage
                n.v_index = 0 if st is None else st.version
                n.c_dim = dim
                n.c_self_shape = a_self.shape
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[GatherBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('gather', out, (self, dim, index,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('gather', out, (self, dim, index,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('gather', out, (self, dim, index,))
        return out
    except Exception as error:
        return p_.failed(gather, error, {'self': self, 'index': index}, {'dim': dim})


def jvp_gather(self_: Any, dim: Any, index: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.gather, 0, self_t, dim, index)


class GatherBackwardBackward0(Node1):
    __slots__ = ('s_index', 'v_index', 'c_dim')
    __new__ = no_instances
    op_name = 'GatherBackwardBackward0'
    slots = ('index',)
    outputs_saved = (False,)
    consts = ('dim',)

    def run(self, g, buffers, shared, summed, freed):
        if self.nrs is not None:
            return b_route_run(self, g, buffers, shared, summed, freed)
        n = self.n0
        index = self.s_index
        st = index._storage
        if st is not None and st.version != self.v_index:
            index = unpacked(self, 'index', st)
        index = index._a
        gi = k_gather(g, self.c_dim, index)
        if n in buffers:
            b_add(buffers, n, gi, shared, summed)
        else:
            buffers[n] = gi
        if freed is not None:
            self.s_index = freed

    def grads(self, g):
        index = self.s_index
        st = index._storage
        if st is not None and st.version != self.v_index:
            index = unpacked(self, 'index', st)
        index = index._a
        if index.dtype.kind == 'c':
            index = k_conj_raw(index)
        g0 = k_gather(g, self.c_dim, index)
        return (g0,)

    def grads_graph(self, g):
        index = self.s_index
        st = index._storage
        if st is not None and st.version != self.v_index:
            index = unpacked(self, 'index', st)
        if index._a.dtype.kind == 'c':
            index = o_.conj_raw(index)
        g0 = o_.gather(g, self.c_dim, index)
        return (g0,)

    def release(self, freed):
        self.s_index = freed


def gather_backward(self: Tensor, shape: Any, dim: Any, index: Tensor) -> Tensor:
    try:
        a_self = self._in
        a_index = index._in
        r = k_gather_backward(a_self, shape, dim, a_index)
        if type(r) is not ndarray:
            r = p_.as_array(r, a_self, a_index)
        out = new(Tensor)
        out._a = r
        out._storage = out._gradient = out._meta = None
        out._nr = 0
        if (self._rg) and mode.grad:
            n0 = self._fn if self._meta is None else edge(self)
            if n0 is not None or (n0 := nowhere(self)) is not None:
                n = new(GatherBackwardBackward0)
                n.n0 = n0
                n.nrs = (self._nr,) if self._nr else None
                n.seq = next_seq()
                frame = _getframe(1)
                code = frame.f_code
                if code.co_filename in INTERNAL:
                    frame = user_frame(frame)
                    code = frame.f_code
                n.code = code
                n.lasti = frame.f_lasti
                n.hooks = None
                n.s_index = index
                st = index._storage
                n.v_index = 0 if st is None else st.version
                n.c_dim = dim
                out._fn = n
                out._rg = True
                if events.on:
                    if events.sink is not None:
                        try:
                            events.births[GatherBackwardBackward0](n, out)
                        except RecursionError:
                            pass
                    if events.special:
                        p_.after('gather_backward', out, (self, shape, dim, index,))
            else:
                out._fn = None
                out._rg = False
                if events.special:
                    p_.after('gather_backward', out, (self, shape, dim, index,))
        else:
            out._fn = None
            out._rg = False
            if events.on:
                if events.sink is not None and (self._rg):
                    p_.cut((self,))
                if events.special:
                    p_.after('gather_backward', out, (self, shape, dim, index,))
        return out
    except Exception as error:
        return p_.failed(gather_backward, error, {'self': self, 'index': index}, {'shape': shape, 'dim': dim})


def jvp_gather_backward(self_: Any, shape: Any, dim: Any, index: Any, result: Any, self_t: Any) -> Any:
    return o_.linear(o_.gather_backward, 0, self_t, shape, dim, index)


for _cls in (
    AddBackward0_other,
    SubBackward0_other,
    RsubBackward1_other,
    MulBackward0_other,
    DivBackward0_other,
    PowBackward0_exponent,
    PowBackward2_self,
    WhereBackward0_self,
    WhereBackward0_other,
    MaskedFillBackward0_value,
    FillBackward2_value,
    IndexPutBackward0_values,
):
    _cls.__name__ = _cls.__qualname__ = _cls.op_name  # as PyTorch's node is called

JVPS = {
    'add': (jvp_add, (0, 1)),
    'sub': (jvp_sub, (0, 1)),
    'rsub': (jvp_rsub, (0, 1)),
    'mul': (jvp_mul, (0, 1)),
    'div': (jvp_div, (0, 1)),
    'pow': (jvp_pow, (0, 1)),
    'maximum': (jvp_maximum, (0, 1)),
    'minimum': (jvp_minimum, (0, 1)),
    'neg': (jvp_neg, (0,)),
    'exp': (jvp_exp, (0,)),
    'expm1': (jvp_expm1, (0,)),
    'log': (jvp_log, (0,)),
    'log1p': (jvp_log1p, (0,)),
    'sqrt': (jvp_sqrt, (0,)),
    'rsqrt': (jvp_rsqrt, (0,)),
    'reciprocal': (jvp_reciprocal, (0,)),
    'abs': (jvp_abs, (0,)),
    'sgn': (jvp_sgn, (0,)),
    'angle': (jvp_angle, (0,)),
    'sign': (jvp_sign, (0,)),
    'floor': (jvp_floor, (0,)),
    'ceil': (jvp_ceil, (0,)),
    'round': (jvp_round, (0,)),
    'trunc': (jvp_trunc, (0,)),
    'sin': (jvp_sin, (0,)),
    'cos': (jvp_cos, (0,)),
    'tanh': (jvp_tanh, (0,)),
    'sigmoid': (jvp_sigmoid, (0,)),
    'relu': (jvp_relu, (0,)),
    'leaky_relu': (jvp_leaky_relu, (0,)),
    'threshold_backward': (jvp_threshold_backward, (0, 1)),
    'leaky_relu_backward': (jvp_leaky_relu_backward, (0, 1)),
    'softplus': (jvp_softplus, (0,)),
    'silu': (jvp_silu, (0,)),
    'gelu_tanh': (jvp_gelu_tanh, (0,)),
    'clamp': (jvp_clamp, (0,)),
    'clamp_min': (jvp_clamp_min, (0,)),
    'clamp_max': (jvp_clamp_max, (0,)),
    'clamp_min_tensor': (jvp_clamp_min_tensor, (0, 1)),
    'clamp_max_tensor': (jvp_clamp_max_tensor, (0, 1)),
    'where': (jvp_where, (1, 2)),
    'masked_fill': (jvp_masked_fill, (0, 2)),
    'copy': (jvp_copy, (0, 1)),
    'fill': (jvp_fill, (0, 1)),
    'zero': (jvp_zero, (0,)),
    'clone': (jvp_clone, (0,)),
    'to_copy': (jvp_to_copy, (0,)),
    'sum_all': (jvp_sum_all, (0,)),
    'sum_dim': (jvp_sum_dim, (0,)),
    'mean_all': (jvp_mean_all, (0,)),
    'mean_dim': (jvp_mean_dim, (0,)),
    'amax': (jvp_amax, (0,)),
    'amin': (jvp_amin, (0,)),
    'max_all': (jvp_max_all, (0,)),
    'min_all': (jvp_min_all, (0,)),
    'max_dim': (jvp_max_dim, (0,)),
    'min_dim': (jvp_min_dim, (0,)),
    'var_dim': (jvp_var_dim, (0,)),
    'std_dim': (jvp_std_dim, (0,)),
    'norm_dim': (jvp_norm_dim, (0,)),
    'logsumexp': (jvp_logsumexp, (0,)),
    'softmax_dim': (jvp_softmax_dim, (0,)),
    'log_softmax_dim': (jvp_log_softmax_dim, (0,)),
    'nll_loss_raw': (jvp_nll_loss_raw, (0,)),
    'nll_loss_raw_backward': (jvp_nll_loss_raw_backward, (0,)),
    'mse_loss_raw': (jvp_mse_loss_raw, (0, 1)),
    'mm': (jvp_mm, (0, 1)),
    'mv': (jvp_mv, (0, 1)),
    'dot': (jvp_dot, (0, 1)),
    'bmm': (jvp_bmm, (0, 1)),
    'addmm': (jvp_addmm, (0, 1, 2)),
    'alias': (jvp_alias, (0,)),
    'fw_primal': (jvp_fw_primal, (0,)),
    'view': (jvp_view, (0,)),
    'reshape_alias': (jvp_reshape_alias, (0,)),
    'unsafe_view': (jvp_unsafe_view, (0,)),
    'expand': (jvp_expand, (0,)),
    't': (jvp_t, (0,)),
    'transpose': (jvp_transpose, (0,)),
    'permute_to': (jvp_permute_to, (0,)),
    'unsqueeze': (jvp_unsqueeze, (0,)),
    'squeeze_all': (jvp_squeeze_all, (0,)),
    'squeeze_dim': (jvp_squeeze_dim, (0,)),
    'select': (jvp_select, (0,)),
    'slice': (jvp_slice, (0,)),
    'conj_raw': (jvp_conj_raw, (0,)),
    'conj_copy': (jvp_conj_copy, (0,)),
    'complex_raw': (jvp_complex_raw, (0, 1)),
    'polar_raw': (jvp_polar_raw, (0, 1)),
    'view_as_real': (jvp_view_as_real, (0,)),
    'view_as_complex': (jvp_view_as_complex, (0,)),
    'select_backward': (jvp_select_backward, (0,)),
    'slice_backward': (jvp_slice_backward, (0,)),
    'index': (jvp_index, (0,)),
    'index_backward': (jvp_index_backward, (0,)),
    'index_put': (jvp_index_put, (0, 2)),
    'gather': (jvp_gather, (0,)),
    'gather_backward': (jvp_gather_backward, (0,)),
}
"""For every op its tangent formula and the positions of its differentiable arguments."""
