"""When a few stored bytes are too many unpacked: what readers ask before they let anything be unpacked as a whole."""

#: Plain bytes that may always be.
MAX_PLAIN = 1 << 30
#: Plain bytes for each stored byte where there are more; text has 2 to 10.
MAX_RATIO = 32


def refuse(plain: int, stored: int, remedy: str) -> None:
    """Raises ValueError where ``stored`` bytes are too many ``plain`` ones; ``remedy``: what the writer can do."""
    if plain > MAX_PLAIN and plain > MAX_RATIO * stored:
        raise ValueError(
            f"{stored:,} stored bytes are {plain:,} unpacked; more than {MAX_PLAIN:,} are refused where a stored byte "
            f"holds more than {MAX_RATIO}: {remedy}"
        )
