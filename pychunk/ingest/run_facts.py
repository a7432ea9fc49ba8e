"""The facts that determine the bytes of a data set: the source, the options and the versions."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pyarrow as pa

from ..chunks.batch import ChunkBatch
from ..io import Source
from ..placement import Placement
from ..tokenizers.tokenizer import Tokenizer
from ..vectors import Vectors

#: The fields of a source that do not change the documents it yields, or that the facts hold under another key.
_OWN = ("path", "inputs", "files", "kinds", "ignored", "workers", "threads", "dead_letters", "kept")
#: The fields of a source that the facts leave out if they have no value.
_LATER = ("endings", "ocr")


def of(source: Source, options: dict[str, Any], chosen: dict[str, Any], nothing: ChunkBatch) -> dict[str, Any]:
    """Return the facts in the types of JSON. Two runs with equal facts write equal bytes."""
    metadata = nothing.metadata
    reader = {field.name: getattr(source, field.name) for field in fields(source) if field.name not in _OWN}
    for name in _LATER:  # runs of earlier versions have none, and can still be continued
        if not reader[name]:
            del reader[name]
    reader["wanted"] = {"redirects": source.wanted.redirects, "namespaces": sorted(source.wanted.namespaces)}
    found = {
        "source": {
            "path": list(source.inputs) or source.path,
            "kind": source.kind,
            "files": {file.path: [file.size, file.modified, file.etag] for file in source.files},
            "ignored": source.ignored,
        },
        "options": {**chosen, "reader": reader, "segmenter": _given(options)},
        "versions": {
            **{name: value for name, value in metadata.items() if name not in ("method", "options")},
            "pyarrow": pa.__version__,
        },
    }
    return dict(json.loads(json.dumps(found, default=_said)))


def _said(value: Any) -> str:
    """Return the name of a function, because its address in memory differs in each run."""
    return str(getattr(value, "__qualname__", value))


def of_placement(placement: Placement) -> dict[str, str]:
    """Return the fields of a placement that the caller set, by name, except the threads, which change no byte."""
    named = {name: getattr(placement, name) for name in ("device", "runtime", "precision")}
    return {name: value for name, value in named.items() if value != "auto"}


def _given(options: dict[str, Any]) -> dict[str, Any]:
    # The metadata already holds everything that an LLM's answers depend on. Endpoint and cost limits change no byte.
    found = {name: value for name, value in options.items() if name != "llm"}
    # A function has no hash. If it has a name of the caller's, this name stands for it.
    if isinstance(tokenizer := found.get("tokenizer"), Tokenizer):
        found["tokenizer"] = tokenizer.name or tokenizer.source
    if isinstance(vectors := found.get("vectors"), Vectors):
        found["vectors"] = vectors.of
        others = {"vector_encoder": vectors.encoder, "late_chunking": vectors.late_chunking or None}
        found |= {name: value for name, value in others.items() if value is not None}
    return dict(sorted(found.items()))
