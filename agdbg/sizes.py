"""Numbers of bytes as people read them."""


def size(nbytes: int) -> str:
    """``512 B``, ``3.0 MiB``."""
    amount, unit = float(nbytes), "B"
    for following in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, following
    return f"{amount:.0f} B" if unit == "B" else f"{amount:.1f} {unit}"
