"""Published models that pychunk knows by name: where they come from, pinned, and what they must compute."""

from __future__ import annotations

import base64
import functools
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...plumbing.checksums import sha256
from .. import static, transformer
from . import convert, model_dir

FILE = static.SHIPPED / "catalogue.json"
#: Cosine that a freshly built model's vectors must reach with the stored ones: float32 rounding stays over it, a wrong
#: weight, tokenizer or pooling does not.
LEAST_COSINE = 0.9999


@functools.cache
def _entries() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def names() -> list[str]:
    """The names that ``pychunk model get`` takes."""
    return list(_entries())


def about(name: str) -> dict[str, Any]:
    """What is known of a model: ``repository``, ``revision``, ``licence``, ``files`` with their SHA-256."""
    if name not in _entries():
        raise ValueError(f"unknown model {name!r}; `pychunk model get` knows {', '.join(names())}")
    return _entries()[name]


def get(name: str, source: Path | None = None, say: Callable[[str], None] = lambda _: None) -> Path:
    """Builds the model in the user's cache, from a local directory or from the Hugging Face hub, and returns where.

    Every file is compared with its pinned SHA-256, then the built model's vectors with stored ones. The model appears
    in the cache whole or not at all.

    Raises:
        ValueError: unknown name, a file that is not the pinned one, vectors that differ.
        OSError: the hub cannot be reached.
    """
    facts = about(name)
    folder = _download(facts, say) if source is None else source
    for file, expected in facts["files"].items():
        path = folder / file
        if not path.is_file():
            raise ValueError(f"{folder} is not {facts['repository']}: {file} is missing")
        if sha256(path) != expected:
            raise ValueError(f"{path} is not the one of {facts['repository']} at {facts['revision'][:12]}, or damaged")
    say("building the ONNX graph")
    out = model_dir.cached(name)
    with model_dir.whole_or_nothing(out) as aside:
        convert.convert(
            folder,
            aside / "model",
            name,
            source=f"{facts['repository']}@{facts['revision']}",
            licence=facts["licence"],
        )
        least = _least_cosine(aside / "model", facts)
        if least < LEAST_COSINE:
            raise ValueError(
                f"the model built from {folder} is wrong: a vector's cosine to the stored one is {least:.4f}"
            )
        for file in (aside / "model").iterdir():
            file.rename(aside / file.name)
        (aside / "model").rmdir()
    say(f"vectors of {len(facts['check'])} sentences equal the stored ones (cosine {least:.6f})")
    return out


def _least_cosine(path: Path, facts: dict[str, Any]) -> float:
    wanted = np.stack([decode_vector(item["vector"]) for item in facts["check"]])
    found = transformer.TransformerEncoder(path).encode([item["text"] for item in facts["check"]])
    norms = np.linalg.norm(wanted, axis=1) * np.linalg.norm(found, axis=1)
    return float(((wanted * found).sum(axis=1) / norms).min())


def encode_vector(vector: npt.NDArray[np.float32]) -> str:
    """A vector as base64 of float16, how the catalogue keeps it."""
    return base64.b64encode(vector.astype("<f2").tobytes()).decode()


def decode_vector(text: str) -> npt.NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(text), "<f2").astype(np.float32)


def _check_connection() -> None:
    """OSError within seconds where the hub cannot be reached: its own package tries again for half a minute."""
    import urllib.parse
    import urllib.request  # here, for it loads ssl, http and email: a tenth of the import of pychunk

    from huggingface_hub import constants

    if urllib.request.getproxies():
        return  # which decide what can be reached
    place = urllib.parse.urlsplit(constants.ENDPOINT)
    port = place.port or {"http": 80}.get(place.scheme, 443)
    socket.create_connection((place.hostname or "", port), timeout=3).close()


def _download(facts: dict[str, Any], say: Callable[[str], None]) -> Path:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        raise ImportError('getting models needs: pip install "pychunk-native[onnx]"') from error
    say(f"getting {facts['repository']} at {facts['revision'][:12]} from the Hugging Face hub")
    download = functools.partial(hf_hub_download, facts["repository"], revision=facts["revision"])
    try:
        found = [Path(download(file, local_files_only=True)) for file in facts["files"]]
    except Exception:  # not all of them have been got before
        try:
            _check_connection()
            found = [Path(download(file)) for file in facts["files"]]
        except Exception as error:  # requests', httpx's and the hub's own errors share no better base
            reason = (str(error).strip().splitlines() or [""])[0][:200]
            elsewhere = facts.get("elsewhere")
            raise OSError(
                f"{facts['repository']} cannot be got from the Hugging Face hub ({type(error).__name__}: {reason}); "
                + (f"{elsewhere}; " if elsewhere else "")
                + "with a copy on disk: pychunk model get NAME --from DIR"
            ) from error
    return found[0].parents[len(Path(next(iter(facts["files"]))).parts) - 1]
