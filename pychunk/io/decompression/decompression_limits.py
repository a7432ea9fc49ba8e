"""A check that readers make before they decompress a whole unit: whether it would become too large in memory."""

#: The number of plain bytes up to which any ratio of plain to stored bytes is allowed.
MAX_PLAIN = 1 << 30
#: The maximum number of plain bytes for each stored byte, if there are more than ``MAX_PLAIN``. Text has 2 to 10.
MAX_RATIO = 32


def refuse(plain: int, stored: int, remedy: str) -> None:
    """Raise ValueError if ``stored`` bytes become too many ``plain`` bytes.

    ``remedy`` says how the file should be written instead.
    """
    if plain > MAX_PLAIN and plain > MAX_RATIO * stored:
        raise ValueError(
            f"{stored:,} compressed bytes expand to {plain:,}; above {MAX_PLAIN:,}, a compressed byte may expand to at "
            f"most {MAX_RATIO}: {remedy}"
        )
