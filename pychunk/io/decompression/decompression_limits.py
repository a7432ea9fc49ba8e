"""A check, before readers decompress a unit as a whole, for stored bytes that become too many plain bytes."""

#: The maximum number of plain bytes that are always allowed.
MAX_PLAIN = 1 << 30
#: The maximum number of plain bytes for each stored byte if there are more than that; text has 2 to 10.
MAX_RATIO = 32


def refuse(plain: int, stored: int, remedy: str) -> None:
    """Raise ValueError if ``stored`` bytes become too many ``plain`` bytes; ``remedy`` says what the writer can do."""
    if plain > MAX_PLAIN and plain > MAX_RATIO * stored:
        raise ValueError(
            f"{stored:,} stored bytes are {plain:,} unpacked; more than {MAX_PLAIN:,} are refused if each stored byte "
            f"holds more than {MAX_RATIO}: {remedy}"
        )
