"""A key that shows itself to nothing but the header that it is for."""

from __future__ import annotations

import os

ENVIRONMENT = "PYCHUNK_LLM_KEY"
HIDDEN = "[key]"


class Secret:
    """A key: no text of it holds the value, and a pickle holds none; unpickled, it is what the environment says.

    Example:
        >>> Secret("abc"), Secret("abc").hide("my abc"), bool(Secret(""))
        ([key], 'my [key]', False)
    """

    __slots__ = ("_value",)

    def __init__(self, value: str | None = None) -> None:
        if value is not None and not isinstance(value, str):
            raise TypeError(f"key must be text; got {type(value).__name__}")
        self._value = (os.environ.get(ENVIRONMENT, "") if value is None else value).strip()
        if not (self._value.isascii() and self._value.isprintable()):
            raise ValueError(f"the key must be printable ASCII: check key= or {ENVIRONMENT}")

    def __repr__(self) -> str:
        return HIDDEN if self._value else "None"

    def __bool__(self) -> bool:
        return bool(self._value)

    def __reduce__(self) -> tuple[type[Secret], tuple[()]]:
        return Secret, ()

    @property
    def headers(self) -> dict[str, str]:
        """What a request carries."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def hide(self, text: str) -> str:
        """The text without the key: endpoints repeat it in errors, and could in answers."""
        return text.replace(self._value, HIDDEN) if self._value else text

    def hide_bytes(self, data: bytes) -> bytes:
        """The same of bytes."""
        return data.replace(self._value.encode(), HIDDEN.encode()) if self._value else data
