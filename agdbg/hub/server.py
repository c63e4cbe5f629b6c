"""The hub's sockets: clients and agents come in here, and every request goes to its handler."""

import hmac
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from agdbg.errors import InputError
from agdbg.hub import listening
from agdbg.hub.agents import AgentLink
from agdbg.hub.call import HANDLERS, Call
from agdbg.hub.connection import Connection, Unreadable
from agdbg.hub.in_control import MOVES
from agdbg.hub.log import log, log_error
from agdbg.hub.loop import Loop
from agdbg.hub.place import Runtime
from agdbg.hub.program import Program
from agdbg.hub.session import MakeProgram, Session
from agdbg.protocol.check import check_arguments, check_request
from agdbg.protocol.messages import failure
from agdbg.protocol.wire import ProtocolError

#: What a client may do before it has shown the token.
_OPEN = frozenset({"initialize", "launch", "attach", "disconnect"})
_WITH_TOKEN = frozenset({"launch", "attach"})
#: How long a hub in which nothing was launched waits for a client, in seconds.
PATIENCE_S = 60.0
#: Connections over the network that have not shown the token yet: so many at once, for so many seconds each.
STRANGERS = 16
STRANGER_S = 30.0


class Server:
    """A hub: serves until its last client is gone and there is nothing left to watch.

    Args:
        runtime: where the sockets are made.
        listen: the host and port of a second socket for clients, or that socket; they must show the token there.
            None: none.
        token: what they must show.
        socket_path: of another socket for clients of this user; empty: none.
        make: makes programs.
        patience: how long to wait, without a client that may launch something, until one does; in seconds.
        stranger_s: how long a client over the network may take to show the token, in seconds.

    Raises:
        InputError: a socket cannot be had, or one at a port is to be open without a token.
    """

    def __init__(
        self,
        runtime: Runtime,
        listen: tuple[str, int] | socket.socket | None = None,
        token: str = "",
        socket_path: str = "",
        make: MakeProgram = Program,
        patience: float = PATIENCE_S,
        stranger_s: float = STRANGER_S,
    ) -> None:
        import agdbg.hub.handlers

        assert agdbg.hub.handlers
        if listen is not None and not token:
            raise InputError("a hub at a port wants a token that is not empty")
        self.loop = Loop()
        self.address = ""
        self._runtime, self._token, self._stranger_s = runtime, token, stranger_s
        self._sockets: list[socket.socket] = []
        self._links: set[AgentLink] = set()
        self._patience = patience
        self.session = Session(self.loop, runtime, self.loop.stop, make)
        self.session.has_starter = listen is None
        self._socket_path = ""
        self._listen(listening.at(runtime.client_socket), lambda found: self._client(found, True))
        self._listen(listening.at(runtime.agent_socket), self._agent)
        if socket_path:
            self._listen(listening.at_named(socket_path), lambda found: self._client(found, True))
            self._socket_path = socket_path
        if listen is not None:
            tcp = listening.at_port(*listen) if isinstance(listen, tuple) else listen
            self._listen(tcp, lambda found: self._client(found, False))
            self.address = listening.address_of(tcp)
        self._waits = self.loop.after(patience, self._give_up)

    def depend_on(self, lifeline: int) -> None:
        """Without whoever has started the hub nobody knows of it: while it serves nothing it ends with that process.

        Args:
            lifeline: the end of a pipe, whose other one that process has and writes nothing to.
        """

        def is_over() -> None:
            self.loop.unwatch(lifeline)
            os.close(lifeline)
            self._patience = 0.0
            self._give_up()

        os.set_inheritable(lifeline, False)
        self.loop.watch(lifeline, is_over)

    def serve(self) -> None:
        """Serve until all is over, and clean up."""
        try:
            self.loop.run()
        finally:
            self.close()

    def close(self) -> None:
        """Close all sockets and remove the runtime directory. A program that runs goes on."""
        try:
            self.session.close()
        except Exception:
            log_error("the hub could not end cleanly")
        closing: list[AgentLink | Connection | socket.socket] = [*self._links, *self.session.clients, *self._sockets]
        for each in closing:
            each.close()
        if self._socket_path:
            with suppress(OSError):
                os.unlink(self._socket_path)
        self.loop.close()
        self._runtime.remove()

    # ----- who comes in -----

    def _listen(self, at: socket.socket, accept: Callable[[socket.socket], object]) -> None:
        at.setblocking(False)
        at.listen(listening.BACKLOG)
        self._sockets.append(at)

        def ready() -> None:
            try:
                accepted, _ = at.accept()
            except OSError as error:  # it is gone again, or there are too many files open
                log(f"a connection was lost: {error}")
                return
            accept(accepted)

        self.loop.watch(at.fileno(), ready)

    def _client(self, accepted: socket.socket, trusted: bool) -> None:
        if not trusted:
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = Connection(accepted, self.loop, trusted, self._asked, _refuse_stream, self._client_gone)
        client.on_drained = self._drained
        self.session.clients.append(client)
        if not trusted:
            self._limit(client)

    def _limit(self, stranger: Connection) -> None:
        """Drop one that came over the network and does not show the token in time, and the oldest of too many."""

        def is_late() -> None:
            if not stranger.trusted:
                log(f"a client that did not show the token in {self._stranger_s:g} seconds was dropped")
                stranger.close()

        timer = self.loop.after(self._stranger_s, is_late)
        stranger.on_trusted = timer.cancel
        strangers = [client for client in self.session.clients if not client.trusted]
        if len(strangers) > STRANGERS:
            log(f"the oldest of more than {STRANGERS} clients that have not shown the token was dropped")
            strangers[0].close()

    def _agent(self, accepted: socket.socket) -> None:
        self._links.add(AgentLink(accepted, self.loop, self._agent_said, self._agent_gone))

    def _agent_said(self, link: AgentLink, what: str, value: Any) -> None:
        if what == "waits":
            self.session.hold(link)
        else:
            self.session.stops.agent_said(link, what, value)

    def _agent_gone(self, link: AgentLink) -> None:
        self._links.discard(link)
        self.session.stops.agent_gone(link)

    def _drained(self, client: Connection) -> None:
        if self.session.outlet is not None:
            self.session.outlet.drained(client)

    def _client_gone(self, client: Connection) -> None:
        """A connection is closed; after one that could have launched something, the wait for another begins anew."""
        self.session.client_gone(client)
        if client.trusted:
            self._waits.cancel()
            self._waits = self.loop.after(self._patience, self._give_up)

    def _give_up(self) -> None:
        """Nobody has come for whom the hub was started, or none of those who came had use for it."""
        if self.session.trace is None and not any(self.session.trusted):
            log("no client, and nothing to serve")
            self.loop.stop()

    # ----- what they want -----

    def _asked(self, client: Connection, message: dict[str, Any]) -> None:
        """Answer a request, whatever it is."""
        if isinstance(message, Unreadable):
            _refuse_message(client, message.problem)
            return
        try:
            request = check_request(message)
        except ProtocolError as error:
            client.send(failure(client.next_seq(), _as_request(message), str(error)))
            return
        command = request["command"]
        call = Call(self.session, client, request, {})
        try:
            call.arguments = check_arguments(command, message.get("arguments"))
            self._authorise(client, command, call.arguments)
        except (ProtocolError, PermissionError) as error:
            call.fail(str(error))
            if isinstance(error, PermissionError) and command in _WITH_TOKEN:
                log(f"{client.peer} did not show the token and was cut off")
                client.leave()
            return
        call.run(lambda: self._answer(call, command))

    def _answer(self, call: Call, command: str) -> Any:
        """Let the handler answer, if the client may ask for this now."""
        if command in MOVES and call.client.joined:
            self.session.in_control.claim(call.client, command)
        return HANDLERS[command](call)

    def _authorise(self, client: Connection, command: str, arguments: dict[str, Any]) -> None:
        """A client that came over the network may do nothing until it has shown the token.

        Raises:
            PermissionError: it has not.
        """
        if client.trusted or command not in _OPEN:
            if not client.trusted:
                raise PermissionError(
                    f"{command}: this hub wants its token first, in the arguments of attach or launch"
                )
            return
        if command in _WITH_TOKEN:
            shown = str(arguments.get("token") or "")
            if not shown:
                raise PermissionError(
                    f"{command}: this hub wants its token first, in the arguments of attach or launch"
                )
            if not hmac.compare_digest(shown.encode(errors="replace"), self._token.encode()):
                raise PermissionError(f"{command}: the token is not the one that this hub has printed at its start")
            client.trusted = True
            client.on_trusted()


def _refuse_message(client: Connection, problem: str) -> None:
    """A message cannot be read: say so, and go on with the next one; a stranger is not listened to any longer."""
    if not client.trusted:
        _refuse_stream(client, problem)
        return
    client.send(failure(client.next_seq(), _as_request({}), problem))


def _refuse_stream(client: Connection, problem: str) -> None:
    """The stream cannot be understood from here on: say so, and close it."""
    client.send(failure(client.next_seq(), _as_request({}), problem))
    client.leave()


def _as_request(message: dict[str, Any]) -> Any:
    """What is enough of a request to answer it."""
    number, command = message.get("seq"), message.get("command")
    return {
        "seq": number if type(number) is int else 0,
        "command": command if isinstance(command, str) else "",
    }
