"""What a program that a hub has started does first: it becomes what a shell would have started."""

import fcntl
import signal
import termios

#: What Python itself ignores.
_PYTHONS_OWN = {signal.SIGPIPE, signal.SIGXFSZ}


def take_terminal() -> None:
    """Make standard input the controlling terminal of this process, so that Ctrl-C and SIGWINCH reach it.

    The process leads a session and has no terminal yet. Signals that whoever started the hub ignored or blocked (as
    ``nohup`` does) have their ordinary effect again: there is a new terminal now.

    Raises:
        OSError: standard input is no terminal, or another session's.
    """
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals() - _PYTHONS_OWN:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
