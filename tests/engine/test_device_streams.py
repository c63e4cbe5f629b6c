"""Streams and events on the strict device, which notes what waits for what."""

import mmap
import pathlib
import threading

import agdbg_tests_strict_device as strict
import pytest

import agdbg_engine as ag
from agdbg_engine import cuda, events, several, stream_memory, stream_mismatch, streams
from agdbg_engine.backward import BackwardPass
from agdbg_engine.cuda.devices import Devices

BACKEND = strict.BACKEND
CUDA = Devices(BACKEND)
"""What ``agdbg_engine.cuda`` has, for the strict device."""


@pytest.fixture(autouse=True)
def unwarned():
    """What is said once in a process is said by the tests that ask for it."""
    stream_mismatch._state.told = True
    yield
    stream_mismatch._state.told = False


@pytest.fixture(autouse=True)
def quiet():
    """Streams are noted from their first use on, for good: for these tests only, unless others have begun with it before.

    A second device begins with it too, once in a process: it must not be ended then.
    """
    before = events._kept & events.STREAMS
    yield
    if events._kept & events.STREAMS and not before and not several.active:
        events.use(events.STREAMS, -1)
        events._kept &= ~events.STREAMS


def ran_on(function):
    """The stream on which a function of the array library ran last."""
    return streams.Stream(BACKEND, strict.Stream.work[function])


def leaf(*values):
    return ag.tensor(values, dtype=ag.float64, device="strict", requires_grad=True)


def test_a_stream_is_current_inside_only():
    main, side = streams.default(BACKEND), streams.Stream(BACKEND)
    assert streams.current(BACKEND) == main
    with side:
        assert streams.current(BACKEND) == side
        with main:
            assert streams.current(BACKEND) == main
        assert streams.current(BACKEND) == side
    assert streams.current(BACKEND) == main
    assert side != main
    assert len({side, streams.Stream(BACKEND, side.raw)}) == 1
    assert side.query()
    side.synchronize()


def test_current_is_the_threads_own():
    found = []
    with streams.Stream(BACKEND):
        thread = threading.Thread(target=lambda: found.append(streams.current(BACKEND)))
        thread.start()
        thread.join()
    assert found == [streams.default(BACKEND)]


def test_waiting():
    main, side = streams.default(BACKEND), streams.Stream(BACKEND)
    with side:
        pass
    strict.Stream.waits.clear()
    side.wait_stream(main)
    main.wait_event(side.record_event())
    main.wait_stream(main)
    assert strict.Stream.waits == [(side.raw, main.raw), (main.raw, side.raw)]


def test_a_node_runs_on_the_stream_of_its_forward_op():
    side = streams.Stream(BACKEND)
    main = streams.default(BACKEND)
    with side:
        x = leaf(1.0, 2.0)
        y = x.sin()  # whose backward takes a cosine
    z = y.cos().sum()  # and this one's a sine
    strict.Stream.waits.clear()
    z.backward()
    assert ran_on("sin") == main
    assert ran_on("cos") == side
    assert streams.current(BACKEND) == main
    assert strict.Stream.waits == [(side.raw, main.raw), (main.raw, side.raw)]  # for the gradient; and who reads x.grad


def test_the_gradient_of_a_leaf_is_added_on_the_stream_of_its_first_use():
    """As in PyTorch, whichever stream it was made on and backward is called on."""
    first, second = streams.Stream(BACKEND), streams.Stream(BACKEND)
    with first:
        pass
    x = leaf(1.0, 2.0)
    found = []
    x.register_hook(lambda g: found.append(streams.current(BACKEND)))
    with first:
        y = x.exp()
    with second:
        z = x.sin()  # the same AccumulateGrad, as y is alive
        (y.sum() + z.sum()).backward()
        assert streams.current(BACKEND) == second
    assert found == [first]
    del y, z
    with second:
        x.exp().sum().backward()  # a new one
    assert found == [first, second]


class Doubled(ag.autograd.Function):
    """Doubles in place."""

    @staticmethod
    def forward(ctx, x):
        x._a *= 2
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        Doubled.seen = streams.current(BACKEND)
        return g * 2


def put_at(base):
    base[0] = 1


WRITES = {"method": lambda b: b[0:2].mul_(2), "at an index": put_at, "custom": lambda b: Doubled.apply(b[0:2])}
"""What is written through a view."""


def running_on(node):
    """A list of the streams that are current when ``node`` is about to run, which grows."""
    found = []
    node.register_prehook(lambda g: found.append(streams.current(BACKEND)))
    return found


@pytest.mark.parametrize("way", WRITES)
def test_a_write_through_a_view_runs_on_the_stream_on_which_it_was_asked_for(way):
    side = streams.Stream(BACKEND)
    with side:
        pass
    b = leaf(1.0, 2.0, 3.0) * 1
    with side:
        WRITES[way](b)
    found = running_on(b.grad_fn)
    assert b.grad_fn.name().endswith("CopySlices")
    b.sum().backward()
    assert found == [side]
    assert way != "custom" or Doubled.seen == side


def test_a_view_that_is_made_anew_runs_on_the_stream_on_which_that_was():
    side = streams.Stream(BACKEND)
    b = leaf(1.0, 2.0, 3.0) * 1
    view = b[0:2]
    b.mul_(2)
    with side:
        node = view.grad_fn
    assert node.name() == "AsStridedBackward0"
    found = running_on(node)
    view.sum().backward()
    assert found == [side]


def test_backward_on_another_stream_than_forward():
    main, side = streams.default(BACKEND), streams.Stream(BACKEND)
    with side:
        pass
    x = leaf(1.0)
    y = x.sin()
    with side:
        strict.Stream.waits.clear()
        y.backward()
        assert streams.current(BACKEND) == side
    assert ran_on("cos") == main
    assert strict.Stream.waits == [(main.raw, side.raw), (side.raw, main.raw)]


def test_nodes_older_than_streams_run_where_backward_is_called():
    x = leaf(1.0)
    y = x.exp()
    with streams.Stream(BACKEND):
        y.backward()
    assert strict.host(x.grad._a)[0] == pytest.approx(2.718281828)


@pytest.mark.parametrize("way", ["hooks", "several outputs", "create_graph", "grad", "in parts"])
def test_the_general_way_turns_too(way):
    side = streams.Stream(BACKEND)
    with side:
        x = leaf(1.0, 2.0)
        y = x.sin() if way != "several outputs" else x.unbind(0)[1]
        if way == "hooks":
            y.register_hook(lambda g: g * 2)
    z = y.cos().sum()
    strict.Stream.work.clear()
    if way == "grad":
        ag.autograd.grad(z, x)
    elif way == "in parts":
        parts = []
        bp = started(z)
        while bp.position < len(bp.order):
            bp.advance(1, lambda node: bp.run_in_parts(node, parts.append))
        bp.finish(None)
        assert parts.count("apply") == 3
    else:
        z.backward(create_graph=way == "create_graph")
    assert ran_on("stack" if way == "several outputs" else "cos") == side
    assert ran_on("sin") == streams.default(BACKEND)


def started(z):
    code = started.__code__
    bp = BackwardPass("backward", False, False, code, 0)
    bp.start([(z.grad_fn, 0, ag.ones_like(z)._a)])
    return bp


def test_an_error_leaves_the_stream_as_it_was():
    side = streams.Stream(BACKEND)

    def fail(g):
        raise ZeroDivisionError

    with side:
        y = leaf(1.0).exp()
        y.register_hook(fail)
    with pytest.raises(ZeroDivisionError):
        y.sin().backward()
    assert streams.current(BACKEND) == streams.default(BACKEND)


def test_the_cpu_has_no_streams():
    with streams.Stream(BACKEND):
        x = ag.ones(2, requires_grad=True)
        x.exp().sum().backward()
    assert x.grad.tolist() == pytest.approx([2.718281828] * 2)


def test_gradients_are_the_same_as_without_streams():
    def gradient():
        x = leaf(1.0, 2.0)
        with streams.Stream(BACKEND):
            a = x * 2
        b = x.sin()
        with streams.Stream(BACKEND):
            c = a * b
        (c + a).sum().backward()
        return strict.host(x.grad._a).tolist()

    x = leaf(1.0, 2.0)
    a = x * 2
    (a * x.sin() + a).sum().backward()
    assert gradient() == strict.host(x.grad._a).tolist()


# ----- the warning about an AccumulateGrad on another stream -----


def kept_on_another(side):
    """The AccumulateGrad is of the default stream, as the first graph is alive."""
    x = leaf(1.0)
    kept = x.exp()
    with side:
        x.sin().backward()
    return kept


def let_go(side):
    """The AccumulateGrad is a new one."""
    x = leaf(1.0)
    x.exp()
    with side:
        x.sin().backward()


def on_one(side):
    """As the producer; backward is called on another."""
    x = leaf(1.0)
    with side:
        y = x.exp()
    y.backward()


def root(side):
    """The caller of backward sends the gradient."""
    x = leaf(1.0)
    kept = x.exp()
    with side:
        x.backward()
    return kept


def by_way_of_the_host(side):
    """The copy's node has no stream: the gradient comes from the caller's."""
    x = leaf(1.0)
    with side:
        y = x.to("cpu")
    y.backward()


def on_the_host(side):
    """A leaf of the CPU has no stream."""
    x = ag.ones(1, requires_grad=True)
    with side:
        y = x.to("strict") * 2
    y.backward()


def older_than_streams(side):
    """Neither noted a stream: both are on the default one."""
    x = leaf(1.0)
    events.use(events.STREAMS, -1)
    try:
        y = x.exp()
    finally:
        events.use(events.STREAMS, 1)
    with side:
        y.backward()


def nothing_sent(side):
    """No gradient arrives by that edge."""

    class Nothing(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    x = leaf(1.0)
    kept = x.exp()
    with side:
        Nothing.apply(x).backward()
    return kept


MISMATCHES = {kept_on_another: 1, let_go: 0, on_one: 0, root: 1, by_way_of_the_host: 1, on_the_host: 0, older_than_streams: 0, nothing_sent: 0}  # fmt: skip
"""How often PyTorch's engine finds the streams of producer and consumer different there."""


@pytest.mark.parametrize("program", MISMATCHES, ids=lambda p: p.__name__)
@pytest.mark.filterwarnings("always")
def test_a_leaf_on_another_stream_than_what_sends_to_it_is_told(program, recwarn):
    side = streams.Stream(BACKEND)
    with side:
        pass
    stream_mismatch._state.told = False
    with strict.allowed_host_reads():
        _ = program(side), program(side)  # the second time nothing is said
    assert [str(w.message) for w in recwarn] == [stream_mismatch.TEXT] * MISMATCHES[program]
    assert all(w.category is UserWarning and w.filename == __file__ for w in recwarn)


def test_the_warning_can_be_left_out():
    stream_mismatch._state.told = False
    with pytest.raises(RuntimeError, match=r"^enabled must be a bool, but got int$"):
        ag.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(1)
    ag.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    try:
        _ = kept_on_another(streams.Stream(BACKEND))
    finally:
        ag.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True)


def test_the_words_of_the_warning_are_those_of_pytorchs_library():
    torch = pytest.importorskip("torch", reason="the text is looked for in its library")
    library = pathlib.Path(torch.__file__).parent / "lib/libtorch_cpu.so"
    if not library.exists():
        pytest.skip("that library has another name here")
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        assert content.find(stream_mismatch.TEXT.encode()) >= 0


# ----- PyTorch's names -----


def test_streams_and_events_are_classes():
    side = CUDA.Stream(priority=-1)
    for stream in (side, CUDA.current_stream(), CUDA.default_stream(), CUDA.ExternalStream(side.cuda_stream)):
        assert isinstance(stream, CUDA.Stream)
        assert not isinstance(stream, cuda.Stream)
    assert side.priority == -1
    assert CUDA.default_stream().priority == 0
    assert CUDA.Stream.priority_range() == (0, -5)
    assert side.stream_id == side.cuda_stream
    assert CUDA.default_stream().stream_id == 0
    assert isinstance(side.record_event(), CUDA.Event)
    assert not isinstance(side.record_event(), cuda.Event)
    assert cuda.Stream | None  # in annotations
    assert isinstance(CUDA.ExternalStream(5), CUDA.ExternalStream)
    assert not isinstance(side, CUDA.ExternalStream)
    assert CUDA.ExternalStream(5).cuda_stream == 5
    assert side.__cuda_stream__() == (0, side.cuda_stream)


def test_a_stream_that_is_set_stays():
    side, before = CUDA.Stream(), CUDA.current_stream()
    CUDA.set_stream(side)
    try:
        CUDA.set_stream(None)
        assert CUDA.current_stream() == side
        with CUDA.stream(before) as entered:
            assert entered is None
            assert CUDA.current_stream() == before
        with CUDA.stream(None):
            assert CUDA.current_stream() == side
        (leaf(1.0).sin() * 2).sum().backward()
        assert ran_on("cos") == side
    finally:
        CUDA.set_stream(before)
    assert CUDA.current_stream() == before
    assert isinstance(CUDA.stream(side), cuda.StreamContext)


@pytest.fixture
def unfinished(monkeypatch):
    """Events that do not happen before they are waited for."""

    def record(event, stream=None):
        event.stream, event.done = stream or strict.get_current_stream(), False

    def synchronize(event):
        event.done = True

    stream_memory._waiting.clear()
    monkeypatch.setattr(strict.Event, "record", record)
    monkeypatch.setattr(strict.Event, "synchronize", synchronize)
    yield
    stream_memory.release(wait=True)


def test_memory_that_another_stream_uses_is_kept_until_that_is_done(unfinished):
    side = CUDA.Stream()
    x = leaf(1.0, 2.0)
    x.record_stream(side)
    view = x.detach()[1:]
    del x
    assert len(stream_memory._waiting) == 0
    del view
    ((event, memory),) = stream_memory._waiting
    assert event.stream == side.raw
    assert memory.array.tolist() == [1.0, 2.0]
    assert not stream_memory.release()
    event.done = True
    assert stream_memory.release()
    assert not stream_memory._waiting


def test_memory_of_the_cpu_belongs_to_no_stream():
    with pytest.raises(
        NotImplementedError, match=r"^Could not run 'aten::record_stream' with arguments from the 'CPU' backend"
    ):
        ag.ones(2).record_stream(CUDA.Stream())


# ----- copies that nobody waits for -----


@pytest.fixture
def asked(monkeypatch):
    """Whether copies to the device and to the host wait, in order."""
    found = []
    to_device, to_host = BACKEND.to_device, BACKEND.to_host

    def noted(copy):
        def run(array, *args):
            found.append(args[-1] if isinstance(args[-1], bool) else True)
            return copy(array, *args)

        return run

    def fetch(target, array):
        found.append(False)
        target[...] = to_host(array)

    monkeypatch.setattr(BACKEND, "fetch", fetch)
    monkeypatch.setattr(BACKEND, "to_device", noted(to_device))
    monkeypatch.setattr(BACKEND, "to_host", noted(lambda array, blocking=True: BACKEND.pinned(to_host(array))))
    monkeypatch.setattr(BACKEND, "pins", True)
    yield found
    BACKEND.locked.clear()


COPIES = {
    "to": (lambda x, there: x.to("strict", non_blocking=True), False), "to, by place": (lambda x, there: x.to("strict", ag.float32, True), False),
    "to another": (lambda x, there: x.to(there, non_blocking=True), False), "waiting": (lambda x, there: x.to("strict"), True),
    "copy_": (lambda x, there: there.copy_(x, non_blocking=True), False), "copy_, by place": (lambda x, there: there.copy_(x, True), False),
    "copy_, waiting": (lambda x, there: there.copy_(x), True), "copy_ of another dtype": (lambda x, there: there.copy_(x.double(), non_blocking=True), False),
    "back": (lambda x, there: there.to("cpu", non_blocking=True), False), "back, waiting": (lambda x, there: there.cpu(), True),
    "copy_ back": (lambda x, there: x.copy_(there, non_blocking=True), False), "copy_ back, by place": (lambda x, there: x.copy_(there, True), False),
    "copy_ back of another dtype": (lambda x, there: x.copy_(there.double(), non_blocking=True), False), "copy_ back of one number": (lambda x, there: x.copy_(there[0], non_blocking=True), False),
    "copy_ back to a part": (lambda x, there: x[1:].copy_(there[1:], non_blocking=True), False), "copy_ back, waiting": (lambda x, there: x.copy_(there), True),
    "copy_ back to memory that is not pinned": (lambda x, there: ag.ones(2).copy_(there, non_blocking=True), True),
    "copy_ back to every other": (lambda x, there: x.repeat(2).pin_memory()[::2].copy_(there, non_blocking=True), True),
    "copy_ back, recorded": (lambda x, there: x.copy_(there.requires_grad_(), non_blocking=True), True),
    "copy_ back from another device": (lambda x, there: x.copy_(ag.zeros(2, device=strict.PLACE), non_blocking=True), False),
    "a module": (lambda x, there: ag.nn.PReLU().to("strict", non_blocking=True), False), "a module, by place": (lambda x, there: ag.nn.PReLU().to("strict", ag.float32, True), False),
    "packed": (lambda x, there: ag.nn.utils.rnn.pack_sequence([x]).to("strict", non_blocking=True), False),
}  # fmt: skip


@pytest.mark.parametrize("name", COPIES)
def test_what_waits(name, asked):
    run, waits = COPIES[name]
    x, there = ag.ones(2).pin_memory(), ag.zeros(2, device="strict")
    asked.clear()
    with strict.allowed_host_reads():
        run(x, there)
    assert asked == [waits]


def test_what_arrives_later_is_written_as_by_any_copy(asked):
    x, whole = ag.ones(2, 3).pin_memory(), ag.ones(2, 3).pin_memory()
    there = ag.tensor([1.5, 2.5, 3.5], dtype=ag.float64, device="strict")
    y = (whole * ag.ones(2, 3, requires_grad=True)).sum()  # saves it
    version = x._version
    with strict.allowed_host_reads():
        assert x.copy_(there, non_blocking=True) is x
        whole[0].copy_(there, non_blocking=True)
    assert x.tolist() == [[1.5, 2.5, 3.5]] * 2
    assert x._version == version + 1
    assert whole.tolist() == [[1.5, 2.5, 3.5], [1, 1, 1]]
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.backward()
    with strict.allowed_host_reads(), pytest.raises(RuntimeError, match=r"^The size of tensor a"):
        x.copy_(ag.ones(4, device="strict"), non_blocking=True)


def test_memory_that_is_written_later_is_kept_until_then(asked, unfinished):
    x = ag.ones(2).pin_memory()
    with strict.allowed_host_reads():
        x.copy_(ag.zeros(2, device="strict"), non_blocking=True)
    ((_, memory),) = stream_memory._waiting
    assert memory is x._a


def test_pinned_memory_is_kept_while_it_is_copied(asked, unfinished):
    x = ag.ones(2).pin_memory()
    x.to("strict", non_blocking=True)
    ((_, memory),) = stream_memory._waiting
    assert memory is x._a
    with strict.allowed_host_reads():
        found = ag.zeros(2, device="strict").to("cpu", non_blocking=True)
    assert [m is found._a for _, m in stream_memory._waiting] == [False, True]
    ag.ones(2).to("strict", non_blocking=True)  # not pinned: the library has read it
    assert len(stream_memory._waiting) == 2
