"""Who looks at one stop after the other finds the values of the next one on their way."""

import pytest

VALUE = {"summary": "float64 [2]", "shape": [2], "dtype": "float64", "size": 2, "finite": True, "norm": 1.5}
PLAIN = {"known": True, "in": [VALUE], "out": [], "saved": {}, "grad": None, "hooks": [], "editable": True}


def asked(client, agent, do, body, command, /, **arguments):
    """The answer to a request for which the hub asks the agent."""
    number = client.send(command, **arguments)
    request = agent.answer(do, body)
    return client.answer(number), request


@pytest.fixture
def steps(at_stop):
    """Goes on to the next stop, at another node than before."""
    client, agent, nodes = at_stop

    def step(label):
        client.request("next", threadId=1)
        agent.answer("resume")
        agent.stop(node=nodes[label])
        client.wait_for("stopped")

    return client, agent, nodes, step


def values_of(summary):
    return {**PLAIN, "in": [{**VALUE, "summary": summary}]}


def shown(client, scopes):
    reference = next(each for each in scopes["scopes"] if each["name"] == "Gradients in")["variablesReference"]
    return client.request("variables", variablesReference=reference)["variables"][0]["value"]


def test_values_are_asked_for_before_anybody_asks(steps):
    client, agent, nodes, step = steps
    asked(client, agent, "values", PLAIN, "scopes", frameId=10_000)
    step("h")
    request = agent.answer("values", values_of("ahead"))
    assert request["node"] == nodes["h"]
    assert shown(client, client.request("scopes", frameId=10_000)) == "ahead"


def test_they_are_waited_for(steps):
    client, agent, _, step = steps
    asked(client, agent, "values", PLAIN, "scopes", frameId=10_000)
    step("h")
    scopes, _ = asked(client, agent, "values", values_of("late"), "scopes", frameId=10_000)
    assert shown(client, scopes) == "late"


def evaluates(client, agent):
    asked(client, agent, "evaluate", {"result": "1"}, "evaluate", expression="grad.mul_(2)")


@pytest.mark.parametrize(
    "meanwhile",
    [lambda client, agent: client.request("scopes", frameId=10_000), evaluates],
    ids=["they were given", "the thread was asked anything else"],
)
def test_they_are_given_once_and_while_they_hold(steps, meanwhile):
    client, agent, _, step = steps
    asked(client, agent, "values", PLAIN, "scopes", frameId=10_000)
    step("h")
    agent.answer("values", values_of("ahead"))
    meanwhile(client, agent)
    scopes, _ = asked(client, agent, "values", values_of("anew"), "scopes", frameId=10_000)
    assert shown(client, scopes) == "anew"


def test_they_are_out_of_date_at_the_next_stop(steps):
    client, agent, nodes, step = steps
    asked(client, agent, "values", PLAIN, "scopes", frameId=10_000)
    step("h")
    agent.answer("values", values_of("ahead"))
    step("y")
    scopes, request = asked(client, agent, "values", values_of("anew"), "scopes", frameId=10_000)
    assert (shown(client, scopes), request["node"]) == ("anew", nodes["y"])


def test_who_does_not_look_does_not_wait_for_them(steps):
    client, agent, _, step = steps
    asked(client, agent, "values", PLAIN, "scopes", frameId=10_000)
    step("h")
    agent.answer("values", PLAIN)
    step("y")
    asked(client, agent, "evaluate", {"result": "1"}, "evaluate", expression="1")  # the first request that comes


def test_a_thread_that_is_gone_meanwhile(steps):
    client, agent, _, step = steps
    asked(client, agent, "values", PLAIN, "scopes", frameId=10_000)
    step("h")
    agent.close()
    client.wait_for("thread", predicate=lambda body: body["reason"] == "exited")
    assert client.request("threads")["threads"] == []
