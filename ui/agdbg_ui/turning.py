"""The other processes of a parallel program: one is seen at a time, and the hubs of those that were seen stay connected."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from textual.message import Message

from agdbg_ui.backend import Backend

if TYPE_CHECKING:
    from agdbg_ui.app import AgdbgApp
    from agdbg_ui.session import Session

Body = dict[str, Any]
#: Makes the connection to the hub at an address; without one to a new hub, which shows a recording.
Reach = Callable[[str], Awaitable[Backend]]
ALONE = "this is no process of a parallel program: RANK is not set where it was started"
NO_OTHER = "no other process of this program runs, and none has left a recording beside this one"
FAR = "it is on the machine of its hub, and not to be reached from here: there, agdbg attach or agdbg open shows it"


class Turning:
    """Which process is seen.

    Args:
        app: shows it.
        reach: None: the hub is on another machine, where this process can reach no other one.

    Attributes:
        home: the process that this screen was started for, whose end it tells; the others are only looked at.
    """

    def __init__(self, app: AgdbgApp, reach: Reach | None) -> None:
        self._app, self._reach = app, reach
        self.home: Session | None = None
        self._known: dict[str, Session] = {}

    def session_on(self, backend: Backend) -> Session:
        """A session on a connection; while another one is seen the screen does not hear of it."""
        from agdbg_ui.session import Session

        session = Session(backend, lambda message: self._hear(session, message), self._app.clock)
        self.home = self.home or session
        return session

    def _hear(self, session: Session, message: Message) -> None:
        if self._app.session is session:
            self._app.post_message(message)

    async def next(self) -> None:
        """Turn to the process behind this one, by their ranks and round the end."""
        session = self._app.session
        if session is None:
            return
        there = await session.ask.processes()
        at = next(at for at, each in enumerate(there) if each["isHere"])
        if len(there) < 2:
            self._app.say(ALONE if there[at]["rank"] is None else NO_OTHER)
        else:
            await self.to(there[(at + 1) % len(there)])

    async def to(self, process: Body) -> None:
        """Turn to a process; raises what its hub says against it."""
        here = self._app.session
        if here is None or process["isHere"]:
            return
        if self._reach is None:
            self._app.say(FAR)
            return
        self._known.setdefault(here.view.trace, here)
        session = self._known.get(process["trace"])
        if session is None or (not session.connected and session is not self.home):
            session = self._known[process["trace"]] = await self._join(process)
        await self._app.see(session)
        self._app.say(f"{name_of(process)}; P turns to the next one")

    async def _join(self, process: Body) -> Session:
        assert self._reach is not None
        session = self.session_on(await self._reach(process["address"]))
        try:
            await session.attach({} if process["address"] else {"trace": process["trace"]})
        except BaseException:
            session.close()
            raise
        return session

    def begun(self, session: Session) -> None:
        """Its program was started anew: its recording until now is one that has to be opened."""
        self._known = {trace: each for trace, each in self._known.items() if each is not session}

    async def part(self, patience: float) -> None:
        """Leave all that were only looked at: their programs go on."""
        for session in self._known.values():
            if session is not self.home:
                if session.connected:
                    await session.part(False, patience)
                session.close()


def name_of(process: Body) -> str:
    """``rank 1 of 4  train.py``."""
    world = f" of {process['world']}" if process["world"] else ""
    rank = "" if process["rank"] is None else f"rank {process['rank']}{world}  "
    return f"{rank}{os.path.basename(process['argv'][0] if process['argv'] else process['trace'])}"


def told_of(process: Body, ending: str) -> str:
    """What is said of a process in the list; `ending` is how that of this screen has ended, or ""."""
    if process["isHere"]:
        return f"this one{', ' if ending else ''}{ending}"
    state = "its recording" if not process["pid"] else "stopped" if process["stopped"] else "runs"
    return f"{state}; Enter turns to it"
