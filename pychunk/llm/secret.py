"""The API key, whose value appears only in the header of requests."""

from __future__ import annotations

import os
import re

from .._util.secret_spellings import spellings

ENVIRONMENT = "PYCHUNK_LLM_KEY"
HIDDEN = "[key]"
#: A key of at least this many characters cannot be an ordinary word in a message.
_LONG = 8


class Secret:
    """A key whose value appears in no text and no pickle. Unpickling takes the key from the environment.

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
        """The headers of a request."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def hide(self, text: str) -> str:
        """Return a message without the key, because endpoints repeat it in errors.

        This must not be called on answers, because the client keeps answers as the endpoint sent them.

        A short key, such as the ``ollama`` of local servers, is hidden only as a whole word. Within other words it
        reveals nothing, and hiding it there would make the message unreadable.

        >>> Secret("e").hide("Bearer e: the key 'e' is refused")
        "Bearer [key]: the key '[key]' is refused"
        """
        if not self._value:
            return text
        around = r"\w" if self._value.isalnum() else r"\S"
        for value in dict.fromkeys((self._value, " ".join(self._value.split()))):  # messages are joined into one line
            pattern = spellings(value).pattern
            if len(value) < _LONG:
                pattern = f"(?<!{around})(?:{pattern})(?!{around})"
            text = re.sub(pattern, HIDDEN, text)
        return text
