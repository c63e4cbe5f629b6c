"""How tests run a script on the app, or on one pane in an app of its own."""

import asyncio

from textual.app import App


def drive(shown, script, **how):
    """Run ``script(screen)`` on the app that ``shown(**how)`` shows; return what the app returned."""

    async def main():
        async with shown(**how) as screen:
            await script(screen)
        return screen.app.return_value

    return asyncio.run(main())


class PaneHost(App[None]):
    """An app with nothing but one pane; subclasses put what it says into ``got``."""

    def __init__(self, pane):
        super().__init__()
        self.pane = pane
        self.got = []

    def compose(self):
        yield self.pane


def drive_pane(host, script, size=(60, 20)):
    """Run ``script(app, pilot)`` on the pane of a host, which has the focus."""

    async def main():
        async with host.run_test(size=size) as pilot:
            host.pane.focus()
            await pilot.pause()
            await script(host, pilot)

    asyncio.run(main())


def seen(pane):
    """The lines of a pane as they are drawn."""
    return [pane.render_line(y).text.rstrip() for y in range(pane.size.height)]
