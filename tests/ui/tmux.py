"""A terminal for tests: a tmux server of its own, keys that are sent, and what stands on the screen."""

import os
import select
import shutil
import subprocess
import uuid
from pathlib import Path
from time import monotonic

PATIENCE = 60.0
AVAILABLE = shutil.which("tmux") is not None


class Tmux:
    """One terminal with a shell in it."""

    def __init__(self, folder, columns=80, rows=24):
        self._server = f"agdbg-test-{uuid.uuid4().hex[:12]}"
        self.folder = folder
        runtime = folder / "run"
        runtime.mkdir(mode=0o700, exist_ok=True)
        environment = {**os.environ, "PS1": "ready> ", "XDG_RUNTIME_DIR": str(runtime), "TERM": "xterm-256color"}
        environment |= {"XDG_STATE_HOME": str(folder / "state"), "EDITOR": f"sh {folder}/editor"}
        for name in ("TMUX", "COLUMNS", "LINES"):
            environment.pop(name, None)
        environment.pop("NO_COLOR", None)
        self._environment = environment
        size = ["-x", str(columns), "-y", str(rows)]
        self._call("-f", "/dev/null", "new-session", "-d", *size, "-c", str(folder), "sh", "-i")
        self._call("set-option", "-g", "escape-time", "10")
        try:
            self.wait("ready>")
        except BaseException:
            self.close()
            raise

    def _call(self, *words):
        command = ["tmux", "-L", self._server, *words]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def keys(self, *names):
        """Press keys, by tmux's names of them."""
        self._call("send-keys", *names)

    def type(self, text):
        """Type a text as it is."""
        self._call("send-keys", "-l", text)

    def enter(self, text):
        self.type(text)
        self.keys("Enter")

    def screen(self):
        return self._call("capture-pane", "-p")

    def fact(self, name):
        return self._call("display-message", "-p", f"#{{{name}}}").strip()

    def resize(self, columns, rows):
        self._call("resize-window", "-x", str(columns), "-y", str(rows))

    def wait(self, *texts, gone=()):
        """Wait until all ``texts`` stand on the screen and none of ``gone`` does; return the screen."""
        end = monotonic() + PATIENCE
        while True:
            screen = self.screen()
            if all(text in screen for text in texts) and not any(text in screen for text in gone):
                return screen
            assert monotonic() < end, f"no {texts} (or still {gone}) on the screen:\n{screen}"
            select.select([], [], [], 0.02)

    def close(self):
        subprocess.run(["tmux", "-L", self._server, "kill-server"], env=self._environment, capture_output=True)


def hubs(folder):
    """The process numbers of the hubs that live in ``folder``."""
    base = folder / "run" / "agdbg"
    return (
        [int(p.name) for p in base.iterdir() if p.name.isdecimal() and is_alive(int(p.name))] if base.is_dir() else []
    )


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False
