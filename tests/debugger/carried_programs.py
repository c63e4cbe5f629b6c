"""Programs that carry something from one iteration to the next: what `agdbg lint` says of them, and the programs as its fix has them."""

import re


class Carried:
    """Runs the text of a program below a head, which is the same for all of a test file."""

    def __init__(self, programs, head):
        self._programs, self.head = programs, head

    def run(self, text):
        """What `agdbg lint` says of a program."""
        self._programs.write({"train.py": self.head + text})
        return self._programs.run(self._programs.command("lint", "train.py"))

    def fix(self, text):
        """The fix of the first finding."""
        return self.fix_in(self.run(text).stdout)

    def fix_in(self, said):
        """The same of what was said: without the way for those who want to train through several iterations."""
        return re.search(r"(?m)^   fix +(.*)$", said)[1].partition(" To train through")[0]

    def applied(self, text, fix):
        """The program with what the fix says, each statement where it says."""
        lines = (self.head + text).splitlines()
        fix, _, _ = fix.partition("; or, since")
        old = re.search(r"`([^`]+)` in place of `([^`]+)` at line (\d+)", fix)
        if old is not None:
            at = int(old[3]) - 1
            assert old[2] in lines[at]
            lines[at] = lines[at].replace(old[2], old[1])
        else:
            new = "; ".join(
                re.findall(
                    r"`([^`=]+ = [^`]+|[\w.\[\]']+\.(?:update\([^`]+|(?:cache_)?clear\()\))`",
                    fix.partition(". Not inside")[0],
                )
            )
            assert new, fix
            at = int(re.search(r"after `[^`]+` at line (\d+)", fix)[1]) - 1
            lines[at] = f"{lines[at]}; {new}"
        return "\n".join(lines).removeprefix(self.head) + "\n"


def at_beginning(text, fix, function):
    """The program with what the fix says of the beginning of a function; None when it says nothing of it."""
    inside = re.search(r"at its beginning(?:, behind `(if [^`]+:)`, since it begins as None)?: `([^`]+)`", fix)
    if inside is None:
        return None
    first = re.search(rf"( *)def {function}\(.*\):\n", text)
    return f"{text[: first.end()]}{first[1]}    {inside[1] or 'if True:'} {inside[2]}\n{text[first.end() :]}"
