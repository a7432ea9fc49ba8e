"""A key that shows itself to nothing but the header that it is for."""

from __future__ import annotations

import json
import os
import re

ENVIRONMENT = "PYCHUNK_LLM_KEY"
HIDDEN = "[key]"
#: Characters from which a key is no word of messages.
_LONG = 8


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
        """Return a message without the key, which endpoints repeat in errors; answers must not come here.

        A short key, such as the ``ollama`` of local servers, is hidden as a whole word alone: within words it says
        nothing, and without its letters the message would say nothing.

        >>> Secret("e").hide("Bearer e: the key 'e' is refused")
        "Bearer [key]: the key '[key]' is refused"
        """
        if not self._value:
            return text
        for value in {self._value, json.dumps(self._value)[1:-1]}:
            if len(value) >= _LONG:
                text = text.replace(value, HIDDEN)
            else:
                around = r"\w" if value.isalnum() else r"\S"
                text = re.sub(f"(?<!{around}){re.escape(value)}(?!{around})", HIDDEN, text)
        return text
