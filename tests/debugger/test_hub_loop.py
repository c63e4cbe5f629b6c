"""The event loop of the hub: what is put off until there is nothing else to do."""

import os

import pytest

from agdbg.hub.loop import Loop


@pytest.fixture
def loop():
    made = Loop()
    yield made
    made.close()


@pytest.fixture
def letters(loop):
    """A pipe into which one letter is written, for others to come, and the letters that were read from it."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    found = []
    loop.watch(read, lambda: found.append(os.read(read, 1).decode()))
    yield write, found
    loop.unwatch(read)
    os.close(read)
    os.close(write)


def test_what_came_meanwhile_is_read_before(loop, letters):
    write, found = letters

    def begin():
        loop.at_rest(lambda: (found.append("rest"), loop.stop()))
        os.write(write, b"a")

    loop.post(begin)
    loop.run()
    assert found == ["a", "rest"]


def test_what_comes_and_comes_does_not_put_it_off_for_ever(loop, letters):
    write, found = letters
    os.write(write, b"abcdefgh")
    loop.at_rest(lambda: (found.append("rest"), loop.stop()))
    loop.run()
    assert found == ["a", "b", "rest"]


def test_one_after_the_other_and_all_before_the_loop_ends(loop):
    done = []
    for name in "abc":
        loop.at_rest(lambda name=name: done.append(name))
    loop.post(loop.stop)
    loop.run()
    assert done == ["a", "b", "c"]


def test_one_that_fails_is_no_end(loop):
    done = []
    loop.at_rest(lambda: 1 / 0)
    loop.at_rest(lambda: (done.append("rest"), loop.stop()))
    loop.run()
    assert done == ["rest"]
