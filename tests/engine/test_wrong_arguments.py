"""Wrong arguments, numbers that do not fit, PyTorch's names of arguments: the result or the error is that of PyTorch."""

import warnings

import numpy as np
import pytest
from agdbg_tests_differential import of_the_cpu, same

NUMBERS = """
t.tensor(300,dtype=t.uint8)
t.tensor(-1,dtype=t.uint8)
t.tensor(-300,dtype=t.uint8)
t.tensor([1,300],dtype=t.uint8)
t.tensor([1e30],dtype=t.int32)
t.tensor(1.5,dtype=t.uint8)
t.tensor(float('nan'),dtype=t.int32)
t.tensor(float('inf'),dtype=t.int64)
t.tensor(float('inf'),dtype=t.float32)
t.tensor(1e300,dtype=t.float32)
t.tensor(1e300)
t.tensor(1e30,dtype=t.float16)
t.tensor(2**70)
t.tensor(2**63)
t.tensor(2**70,dtype=t.float32)
t.tensor(2**63,dtype=t.int64)
t.tensor(1+1j,dtype=t.float32)
t.tensor(1+0j,dtype=t.float32)
t.tensor([1+1j],dtype=t.int32)
t.tensor([2,0],dtype=t.bool)
t.tensor(float('nan'),dtype=t.bool)
t.tensor(1+1j,dtype=t.bool)
t.full((2,),300,dtype=t.uint8)
t.full((2,),-1,dtype=t.uint8)
t.full((2,),1e30,dtype=t.int32)
t.full((2,),1.5,dtype=t.int32)
t.full((2,),1+1j,dtype=t.float32)
t.full((2,),300,dtype=t.bool)
t.full_like(t.zeros(2,dtype=t.uint8),300)
t.full_like(t.zeros(2),1+1j)
t.full_like(t.zeros(2,dtype=t.int32),1.5)
t.full((2,),'a')
t.tensor([1,2],dtype=t.uint8)*300
t.tensor([1,2],dtype=t.uint8)+300
t.tensor([1,2],dtype=t.uint8)-300
t.tensor([1,2],dtype=t.uint8)*-1
t.tensor([1,2],dtype=t.int32)+2**40
2**40+t.tensor([1,2],dtype=t.int32)
2**40-t.tensor([1,2],dtype=t.int32)
t.tensor([1,2],dtype=t.int64)+2**70
t.tensor([1,2])*2**64
t.tensor([1,2],dtype=t.uint8)/300
t.tensor([1,2],dtype=t.uint8)>300
t.tensor([1,2],dtype=t.uint8)==300
t.tensor([1,2],dtype=t.uint8)>-1
t.tensor([1,2],dtype=t.int32)<2**40
t.tensor([1,2],dtype=t.uint8).fill_(-1)
t.tensor([1,2],dtype=t.uint8).fill_(300)
t.tensor([1,2],dtype=t.int32).fill_(1e30)
t.tensor([1,2],dtype=t.int32).fill_(1.5)
t.tensor([1.,2]).fill_(1j)
t.tensor([1,2],dtype=t.uint8).mul_(300)
t.tensor([1,2],dtype=t.uint8).add_(300)
t.tensor([1,2],dtype=t.uint8).masked_fill(t.tensor([True,False]),300)
t.tensor([1,2],dtype=t.uint8).clamp(0,300)
t.tensor([1,2],dtype=t.uint8).clamp(-1,1)
t.tensor([1,2],dtype=t.uint8).clamp_min(-1)
t.tensor([1,2],dtype=t.uint8)**300
t.tensor([1,2],dtype=t.uint8).__setitem__(0,300)
t.tensor([1,2],dtype=t.uint8).__setitem__(0,-1)
t.tensor([1,2],dtype=t.uint8).__setitem__(slice(None),300)
t.tensor([1,2],dtype=t.int32).__setitem__(0,1e30)
t.where(t.tensor([True,False]),t.tensor([1,2],dtype=t.uint8),300)
t.tensor([1,2],dtype=t.uint8)&300
t.tensor([300,-1]).to(t.uint8)
t.tensor([1.]).sum(dtype=t.int64)
t.tensor([1.],requires_grad=True).sum(dtype=t.int64)
t.tensor([[1.]],requires_grad=True).sum(0,dtype=t.int64)
t.tensor([1.],requires_grad=True).mean(dtype=t.int64)
t.tensor([1.],requires_grad=True).softmax(0,dtype=t.int64)
"""
"""Numbers in and beside tensors whose dtype cannot hold them."""

WRONG = """
t.zeros_like(3)
t.ones_like("a")
t.full_like(3,2)
t.empty_like(None)
t.rand_like(None)
t.randn_like(3)
t.device(None)
t.device(3)
t.device(1.5)
t.tensor(1,device=3)
t.tensor(1.).expand_as(None)
t.tensor(1.).view_as(3)
t.tensor(1.).equal(3)
t.equal(t.tensor(1.),3)
t.equal(3,3)
t.tensor(1.).type_as(3)
t.allclose(t.tensor(1.),3)
t.tensor([1.]).gather(0,None)
t.nn.Linear(2,2)(None)
t.nn.Linear(2,2)(3)
t.tensor(1.,requires_grad='no')
t.zeros(2,requires_grad='no')
t.tensor([1.]).sum(0,keepdim='a')
t.tensor([1.]).mean(0,keepdim='a')
t.tensor([1.]).amax(0,keepdim='a')
t.tensor([1.]).max(0,keepdim='a')
t.manual_seed("a")
t.manual_seed(None)
t.linspace("a",1,2)
t.arange("a")
t.eye("a")
t.zeros(2,dtype=3)
t.zeros(2,dtype='float32')
t.tensor(1,dtype=3)
t.tensor(1,dtype='float32')
t.ones(2,dtype=float)
t.tensor(1,dtype=float)
t.tensor(1.).to(None)
t.tensor(1.).to(3)
t.tensor(1.).softmax("a")
t.tensor([1.]).softmax("a")
t.tensor([1.]).log_softmax(None)
t.tensor([1.]).clamp("a")
t.tensor([1.]).clamp(0,'a')
t.tensor([1.])['a']
t.tensor([1.])[1.5]
t.tensor([1.])[{}]
t.tensor([1.]).__setitem__("a",1)
t.tensor([1.]).__setitem__(0,'a')
t.tensor([1.]).__setitem__(0,None)
t.tensor([1.]).copy_(3)
t.tensor([1.,2]).copy_(3.5)
t.tensor([1.]).copy_("a")
t.tensor([1.]).copy_(None)
t.tensor([1.])+'a'
t.tensor([1.])+None
t.exp(3)
t.exp("a")
t.sum(3)
t.mean(None)
t.softmax(3,0)
t.matmul(t.tensor([1.]),3)
t.mm(3,4)
t.cat(3)
t.cat([3])
t.cat([t.tensor([1.]),3])
t.stack([t.tensor(1.),None])
t.stack(None)
t.reshape(3,(1,))
t.tensor([1.]).view("a")
t.tensor([1.]).view(1.5)
t.tensor([1.]).unsqueeze("a")
t.tensor([1.]).unsqueeze(None)
t.tensor([1.]).flatten("a")
t.tensor([1.]).select("a",0)
t.tensor([1.]).select(0,'a')
t.tensor([1.]).chunk("a")
t.tensor([1.]).unbind("a")
t.tensor([1.]).dot(3)
t.tensor([1.]).gather("a",t.tensor([0]))
t.tensor([1.]).gather(0,3)
t.tensor([1.]).argmax("a")
t.tensor([1.]).backward("a")
t.tensor([1.]).requires_grad_("a")
t.randn("a")
t.rand(None)
t.randperm("a")
t.zeros("a")
t.zeros(None)
t.zeros(1.5)
t.ones("a")
t.full(3,2)
t.nn.functional.relu(3)
t.nn.functional.cross_entropy(t.tensor([[1.]]),None)
t.nn.Parameter(3)
t.from_numpy(3)
t.as_tensor("a")
t.set_default_dtype(3)
"""
"""Arguments of a type that makes no sense; the wrong keyword is named as the wrong position is."""

NAMES = """
t.tensor([[1.,2]]).sum(axis=1)
t.tensor([[1.,2]]).mean(axis=1)
t.sum(input=t.tensor([[1.,2]]),dim=1)
t.sum(input=t.tensor([[1.,2]]))
t.add(input=t.tensor([1.]),other=2)
t.mul(t.tensor([1.]),other=2)
t.matmul(input=t.tensor([1.]),other=t.tensor([1.]))
t.cat(tensors=[t.tensor([1.])],axis=0)
t.cat([t.tensor([1.])],axis=0)
t.stack([t.tensor([1.])],axis=0)
t.where(condition=t.tensor([True]),input=t.tensor([1.]),other=t.tensor([2.]))
t.tensor([1.]).clone(memory_format=None)
t.clone(input=t.tensor([1.]))
t.zeros(size=(2,))
t.ones(size=(2,))
t.empty(size=(2,)).zero_()
t.full(size=(2,),fill_value=3)
t.tensor([1.]).view(size=(1,1))
t.tensor([1.]).reshape(shape=(1,1))
t.reshape(input=t.tensor([1.]),shape=(1,1))
t.tensor([1.]).expand(size=(2,1))
t.tensor([1.]).permute(dims=(0,))
t.permute(input=t.tensor([1.]),dims=(0,))
t.arange(end=3)
t.arange(0,end=3)
t.arange(start=0,end=3,step=1)
t.randn(2,generator=None).shape
t.rand(2,generator=None).shape
t.randn(size=(2,)).shape
t.rand(size=(2,)).shape
t.randint(0,3,(2,),generator=None).shape
t.randperm(3,generator=None).shape
t.addmm(t.ones(2,2),t.ones(2,2),t.ones(2,2))
t.addmm(input=t.ones(2,2),mat1=t.ones(2,2),mat2=t.ones(2,2))
t.zeros_like(input=t.ones(2))
t.zeros_like(t.ones(2),device='cpu')
t.zeros_like(t.ones(2),memory_format=None)
t.full_like(input=t.ones(2),fill_value=3)
t.ones(2).max(axis=0)
t.ones(2).argmax(axis=0)
t.ones(2).amax(axis=0)
t.ones(2).norm(dim=0,p=2)
t.ones(2).all(axis=0)
t.ones(2).squeeze(axis=0)
t.unsqueeze(input=t.ones(2),dim=0)
t.ones(2).unsqueeze(axis=0)
t.transpose(input=t.ones(2,2),dim0=0,dim1=1)
t.gather(input=t.ones(2),dim=0,index=t.tensor([0]))
t.gather(t.ones(2),axis=0,index=t.tensor([0]))
t.clamp(input=t.ones(2),max=0)
t.pow(input=t.ones(2),exponent=2)
t.div(input=t.ones(2),other=2)
t.maximum(input=t.ones(2),other=t.ones(2))
t.eq(input=t.ones(2),other=1)
t.ones(2).foo()
t.ones(2,foo=1)
t.allclose(input=t.ones(2),other=t.ones(2))
t.equal(input=t.ones(2),other=t.ones(2))
t.eye(n=2)
t.linspace(start=0,end=1,steps=3)
t.zeros(2,pin_memory=False)
t.zeros(2,device=None,dtype=None)
t.ones(2).to(t.float64,non_blocking=True)
t.ones(2).to(dtype=t.float64,memory_format=None)
t.ones(2).detach_().sum(dim=0,keepdim=True)
t.exp(input=t.tensor([[0.]]))
t.tensor([[1.,1]]).softmax(axis=1)
"""
"""Names that PyTorch has for arguments beside those in the signature."""


def lines(text):
    return text.strip().splitlines()


OF_A_DEVICE = ("t.device(3)", "t.tensor(1,device=3)", "t.tensor(1.).to(3)")


@pytest.mark.parametrize("source", [*lines(NUMBERS), *lines(WRONG), *lines(NAMES)])
def test_same_as_torch(source):
    torch = pytest.importorskip("torch")
    if source in OF_A_DEVICE:
        of_the_cpu(torch)
    code = compile(source, source, "eval")

    def program(t):
        found = eval(code, {"t": t, "np": np})
        return found if not isinstance(found, np.dtype) else str(found)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(program)


@pytest.mark.parametrize("value", [-1, 300, 1e30, 2**40, 1.5])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "bool"])
@pytest.mark.parametrize(
    "write", ["x[0] = v", "x[i] = v", "x.fill_(v)", "x[:] = v", "x.masked_fill_(i, v)", "x.copy_(v)"]
)
def test_numbers_that_are_written(write, dtype, value):
    pytest.importorskip("torch")

    def program(t):
        names = {"x": t.ones(2, dtype=getattr(t, dtype)), "i": t.tensor([True, False]), "v": value}
        exec(write, names)
        return names["x"]

    same(program)
