"""The breakpoints this client has set."""

from collections import defaultdict

from agdbg_ui.backend import Backend


class Breakpoints:
    """Lines and names to stop at. The protocol replaces all of a file's, or all names, at once."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.lines: defaultdict[str, set[int]] = defaultdict(set)
        self.names: list[str] = []

    async def toggle_line(self, file: str, line: int, is_set: bool) -> bool:
        """Set a breakpoint on a line, or remove it where there is one; say whether there is one now.

        Args:
            file: absolute path.
            line: counts from 1.
            is_set: whether the hub shows one there: it may be another client's, unless it may be one on a name.
        """
        lines = set(self.lines[file])
        remove = line in lines or (is_set and not self.names)
        lines = lines - {line} if remove else lines | {line}
        wanted = [{"line": each} for each in sorted(lines)]
        await self._backend.request("setBreakpoints", source={"path": file}, breakpoints=wanted)
        self.lines[file] = lines
        return not remove

    async def toggle_name(self, name: str) -> bool:
        """The same for the name of an op, a node or a parameter."""
        names = [each for each in self.names if each != name]
        added = len(names) == len(self.names)
        if added:
            names.append(name)
        await self._backend.request("setFunctionBreakpoints", breakpoints=[{"name": each} for each in names])
        self.names = names
        return added
