"""The program's output is kept in full, whoever is killed."""

import os
import re
import resource
import select
import signal
import subprocess
import sys

import pytest

from agdbg.hub.program import Exit

LINES = 600_000  # of 35 bytes: 21 MB
FLOOD = f"""\
import sys
for start in range(0, {LINES}, 1000):
    sys.stdout.write("".join(f"line {{i:07}} abcdefghijklmnopqrst\\n" for i in range(start, start + 1000)))
"""


def flood():
    return b"".join(b"line %07d abcdefghijklmnopqrst\r\n" % i for i in range(LINES))


def test_all_of_much_output_is_kept_though_the_hub_does_not_listen(stage, hub_process):
    program = stage.program(FLOOD)
    hub_process.until_ended(program.pid)
    hub_process.until_ended(program.keeper_pid)
    assert program.exit() == Exit(0, None)
    assert hub_process.log(program) == flood()


def test_the_hub_hears_of_output_and_of_its_end(stage, hub_process):
    program = stage.program("print(input())")
    program.send(b"x\n")
    assert select.select([program.wakeup], [], [], hub_process.PATIENCE_S)[0]
    assert hub_process.until_over(program) == Exit(0, None)
    while os.read(program.wakeup, 4096):
        pass
    assert not program.mend_keeper()
    assert hub_process.log(program) == b"x\r\nx\r\n"


def test_nothing_is_mended_while_all_is_well(stage, hub_process):
    program = stage.program("input()")
    keeper = program.keeper_pid
    assert not program.mend_keeper()
    assert program.keeper_pid == keeper


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGPIPE])
def test_signals_that_are_meant_for_others_do_not_end_it(stage, hub_process, number):
    program = stage.program("print(input('? '))")
    hub_process.until_printed(program, b"? ")  # the keeper is there
    keeper = program.keeper_pid
    os.kill(keeper, number)
    program.send(b"on\n")
    assert hub_process.until_over(program) == Exit(0, None)
    assert program.keeper_pid == keeper
    assert hub_process.log(program) == b"? on\r\non\r\n"


def test_another_keeper_goes_on_where_one_was_killed(stage, hub_process):
    program = stage.program("while line := input(): print(line.upper())")
    keepers = []
    for word in (b"one", b"two", b"three"):
        program.send(word + b"\n")
        hub_process.until_printed(program, word.upper() + b"\r\n")
        keepers.append(program.keeper_pid)
        os.kill(keepers[-1], signal.SIGKILL)
        hub_process.until_ended(keepers[-1])
        program.send(word[::-1] + b"\n")  # answered while no keeper is there
        hub_process.until_printed(program, word[::-1].upper() + b"\r\n")
    program.send(b"\n")
    assert hub_process.until_over(program) == Exit(0, None)
    assert len({*keepers, program.keeper_pid}) == 4
    typed = b"one ONE eno ENO two TWO owt OWT three THREE eerht EERHT".split()
    assert hub_process.log(program).split() == typed


def test_what_a_program_wrote_before_its_end_is_kept_by_the_next_keeper(stage, hub_process):
    program = stage.program("import os; print(input('? ')); os._exit(3)")
    hub_process.until_printed(program, b"? ")
    os.kill(program.keeper_pid, signal.SIGKILL)
    hub_process.until_ended(program.keeper_pid)
    program.send(b"late\n")
    hub_process.until_ended(program.pid)
    assert hub_process.log(program) == b"? "
    assert program.mend_keeper()
    assert hub_process.until_over(program) == Exit(3, None)
    assert hub_process.log(program) == b"? late\r\nlate\r\n"


OWNER = """\
import signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import hub_process
from agdbg.hub.program import LaunchSpec, Program
program = Program(LaunchSpec(sys.argv[2], args=sys.argv[4:]), None, Path(sys.argv[3]), hub_process.plain)
program.start()
print(program.pid, program.keeper_pid, flush=True)
signal.pause()
"""


def test_a_killed_hub_costs_the_program_nothing(stage, hub_process, tmp_path):
    gate, trace = stage.gate(), tmp_path / "trace"
    trace.mkdir()
    script = stage.script(f"import sys\nprint('before')\nopen(sys.argv[1]).readline()\n{FLOOD}")
    here = os.path.dirname(hub_process.__file__)
    words = [sys.executable, "-c", OWNER, here, script, str(trace), str(gate)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as hub:
        pid, keeper = map(int, hub.stdout.readline().split())
        hub.kill()
    assert hub.returncode == -signal.SIGKILL
    os.kill(pid, 0)  # it runs
    gate.open()
    hub_process.until_ended(pid)
    hub_process.until_ended(keeper)
    assert (trace / "output.log").read_bytes() == b"before\r\n" + flood()


ASKS_TWICE = """\
import sys
for _ in range(2):
    try:
        input("who? ")
    except EOFError:
        print("nobody")
try:
    breakpoint()
except BaseException as error:
    print(type(error).__name__)
"""


def test_nobody_types_to_a_program_whose_hub_was_killed(stage, hub_process, tmp_path):
    trace = tmp_path / "trace"
    trace.mkdir()
    here = os.path.dirname(hub_process.__file__)
    words = [sys.executable, "-c", OWNER, here, stage.script(ASKS_TWICE), str(trace)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as hub:
        pid, keeper = map(int, hub.stdout.readline().split())
        hub.kill()
    hub_process.until_ended(pid)
    hub_process.until_ended(keeper)
    log = (trace / "output.log").read_bytes()
    assert log.count(b"nobody\r\n") == 2
    assert b"BdbQuit" in log


@pytest.mark.parametrize("script", ["", "import os; os._exit(0)", "import os; os.write(1, b'x'); os._exit(0)"])
def test_a_program_that_ends_at_once(stage, hub_process, script):
    for _ in range(5):
        program = stage.program(script)
        assert hub_process.until_over(program) == Exit(0, None)
        assert hub_process.log(program) == (b"x" if "write" in script else b"")


def test_output_is_kept_as_long_as_a_child_has_the_terminal(stage, hub_process):
    gate = stage.gate()
    script = (
        "import os, sys\nif not os.fork():\n    os.setsid()\n    open(sys.argv[1]).readline()\n    print('late')\n"
        "else:\n    print('early')"
    )
    program = stage.program(script, gate)
    hub_process.until(program, lambda: program.exit() == Exit(0, None))
    hub_process.until_printed(program, b"early\r\n")
    assert not select.select([program.wakeup], [], [], 0.2)[0]  # neither output nor its end
    gate.open()
    hub_process.until_ended(program.keeper_pid)
    assert hub_process.log(program) == b"early\r\nlate\r\n"


def test_a_program_may_close_its_terminal_and_open_it_again(stage, hub_process):
    gate = stage.gate()
    script = (
        "import os, sys\nprint('first', flush=True)\nos.closerange(0, 3)\nopen(sys.argv[1]).readline()\n"
        "open('/dev/tty', 'w').write('second')"
    )
    program = stage.program(script, gate)
    hub_process.until_printed(program, b"first\r\n")
    assert b"" not in heard(program.wakeup)
    gate.open()
    assert hub_process.until_over(program).status == 0
    assert hub_process.log(program) == b"first\r\nsecond"


def heard(wakeup):
    """What comes until there is silence."""
    while select.select([wakeup], [], [], 0.3)[0]:
        yield (data := os.read(wakeup, 4096))
        if not data:
            return


GUSHES = """\
import sys
for word in "abc":
    input()
    sys.stdout.write(word * 500_000)
    sys.stdout.flush()
    with open(sys.argv[1], "w") as gate:
        print("done", file=gate)
"""


def test_a_full_disk_does_not_stop_the_program_and_is_told_when_there_is_room(stage, hub_process):
    gate = stage.gate()
    program = stage.program(GUSHES, gate)
    forever = resource.RLIM_INFINITY

    def gush():
        program.send(b"\n")
        assert gate.await_line() == "done"

    gush()
    hub_process.until(program, lambda: hub_process.log(program).count(b"a") == 500_000)
    limit = len(hub_process.log(program)) + 100_000
    resource.prlimit(program.keeper_pid, resource.RLIMIT_FSIZE, (limit, forever))
    gush()
    assert len(hub_process.log(program)) == limit
    resource.prlimit(program.keeper_pid, resource.RLIMIT_FSIZE, (forever, forever))
    gush()
    assert hub_process.until_over(program) == Exit(0, None)
    kept = hub_process.log(program)
    notes = re.findall(rb"\r\n\[agdbg: (\d+) bytes of output were lost here: File too large\]\r\n", kept)
    assert len(notes) == 1
    assert kept.count(b"b" * 1000) <= 500
    whole = len(re.sub(rb"\r\n\[agdbg: [^]]*\]\r\n", b"", kept))
    assert whole + int(notes[0]) == 3 * 500_000 + 3 * len(b"\r\n")
    assert 350_000 <= int(notes[0]) <= 1_000_000
    assert kept.endswith(b"c")
