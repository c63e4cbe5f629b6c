"""Functions run at the same time: for tests of threads."""

import threading


def together(*functions):
    """Run the functions at the same time, each in a thread of its own; raise what one of them raises."""
    gate, errors = threading.Barrier(len(functions)), []

    def body(function):
        try:
            gate.wait()
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
