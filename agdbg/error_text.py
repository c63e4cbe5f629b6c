"""What an error of the program is called, whatever its class makes of being asked."""


def message_of(error: BaseException) -> str:
    """``str(error)``, or that there is none to be had."""
    try:
        return str(error)
    except Exception:  # the program's own __str__
        return f"<{class_name(error)} without a message>"


def error_text(error: BaseException) -> str:
    """``Type: message``, by which an error in a trace is found again among those that ended the program."""
    return f"{class_name(error)}: {message_of(error)}"


def class_name(thing: object) -> str:
    """The name of the class of a thing, past what a metaclass may have put in its place."""
    return str(_name_of(type(thing)))


_name_of = type.__dict__["__name__"].__get__
