"""The settings of a service: limits of requests, keys, and what requests may name."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

#: The variable through which the settings reach the workers, which are processes of their own.
VARIABLE = "PYCHUNK_SERVICE"


@dataclass(frozen=True)
class Settings:
    """The settings of a service.

    Attributes:
        max_bytes: The most bytes of a request's body.
        max_documents: The most documents of a request.
        queue: The most requests of a worker that wait for the engine.
        timeout: The most seconds from a request's first byte to its answer.
        threads: The threads of the engine in each worker.
        encoders: The encoders that requests may name.
        tokenizers: The tokenizers that requests may name.
        reranker: The name or folder of the cross-encoder that sorts texts, or None.
        indexes: The folders of the indexes that requests may search, by name.
        keys: The SHA-256 digests of the keys of which a request must send one, in hexadecimal; empty: no key is needed.
        counters: The file of the counters that all workers share.
    """

    max_bytes: int = 32 << 20
    max_documents: int = 10_000
    queue: int = 1_000
    timeout: float = 60.0
    threads: int = 1
    encoders: tuple[str, ...] = ("static",)
    tokenizers: tuple[str, ...] = ()
    reranker: str | None = None
    indexes: dict[str, str] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    counters: str = ""

    @staticmethod
    def of_environment() -> Settings:
        """Return the settings that the process which started this one wrote to the environment."""
        said: dict[str, Any] = json.loads(os.environ[VARIABLE])
        found: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in said.items()}
        return Settings(**found)

    def to_environment(self) -> None:
        """Write the settings to the environment, for processes that this one starts."""
        os.environ[VARIABLE] = json.dumps(asdict(self))

    def accepts(self, header: str | None) -> bool:
        """Return whether a request with this header ``Authorization`` has one of the keys, in time that hides which."""
        if not self.keys:
            return True
        scheme, _, key = (header or "").partition(" ")
        # Headers arrive as Latin-1, whatever their bytes mean.
        found = hashlib.sha256(key.strip().encode("latin-1", "replace")).hexdigest()
        equal = [hmac.compare_digest(found, each) for each in self.keys]
        return scheme.lower() == "bearer" and any(equal)


def keys_of(path: Path) -> tuple[str, ...]:
    """Return the digests of the keys in a file that has one key a line.

    Raises:
        ValueError: The file has no key.
    """
    keys = [line.strip() for line in path.read_text().splitlines()]
    keys = [key for key in keys if key and not key.startswith("#")]
    if not keys:
        raise ValueError(f"{path} has no key: write one on each line")
    return tuple(hashlib.sha256(key.encode()).hexdigest() for key in keys)
