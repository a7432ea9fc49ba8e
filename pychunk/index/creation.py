"""The options with which an index was created, and their comparison with requested options."""

from __future__ import annotations

from typing import Any, cast

from . import argument_checks
from .dense.vector_index import KINDS, import_faiss
from .lexical.analyzer import Analyzer
from .options import Bm25

_CHOICES = {
    "vectors": ("sentence", "chunk", "both"),
    "dtype": ("float16", "float32", "int8"),
    "kind": ("auto", *KINDS),
    "bm25": ("words", "ngrams", "auto", None),
    "terms": ("words", "ngrams", "auto"),
}


def options(vectors: str, dtype: str, kind: str, bm25: Bm25 | str | None) -> dict[str, Any]:
    """Check the options of :meth:`Index.create`, and return them as the manifest stores them.

    Args:
        vectors: The vectors to store: ``"sentence"``, ``"chunk"`` or ``"both"``.
        dtype: The type in which vectors are stored: ``"float16"``, ``"float32"`` or ``"int8"``.
        kind: The kind of the vector index, or ``"auto"``.
        bm25: The terms and parameters of BM25, or only the name of the terms. None: no BM25.

    Raises:
        ValueError: An option is out of range.
        TypeError: The stop words are a single text.
        ImportError: ``kind`` is ``"hnsw"``, and FAISS is not installed.
    """
    if kind == "hnsw":
        import_faiss()
    own = bm25 if isinstance(bm25, Bm25) else Bm25() if bm25 is None else Bm25(terms=cast(Any, bm25))
    terms = None if bm25 is None else own.terms
    named = "terms" if isinstance(bm25, Bm25) else "bm25"
    for name, value in {"vectors": vectors, "dtype": dtype, "kind": kind, named: terms}.items():
        if value not in _CHOICES[name]:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, _CHOICES[name]))}; got {value!r:.80}")
    argument_checks.number("k1", own.k1, 0)
    argument_checks.number("b", own.b, 0, 1)
    if isinstance(own.stop_words, str):
        raise TypeError(f"stop_words must be a list of words; got the text {own.stop_words!r:.80}")
    words = {name: value for name, value in vars(own).items() if name not in ("terms", "k1", "b")}
    analyzer = None if terms is None else Analyzer(terms, **words).options()
    return {"vectors": vectors, "dtype": dtype, "kind": kind, "terms": analyzer, "bm25": {"k1": own.k1, "b": own.b}}


def options_of(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the options of :meth:`Index.create` from an index's manifest, with the fingerprint as the encoder."""
    terms = facts["terms"] or {"unit": None}
    kept = {name: facts[name] for name in ("vectors", "dtype", "kind")}
    kept |= {"encoder": facts["encoder"]["fingerprint"], "dim": facts["encoder"]["dim"], "terms": terms["unit"]}
    return {
        **kept,
        **{name: terms[name] for name in ("stemmer", "stop_words", "cjk_bigrams") if name in terms},
        **({"fold_diacritics": terms.get("fold_diacritics", False)} if facts["terms"] else {}),
        **(
            {"ngram": terms["ngram"]} if terms["unit"] in ("ngrams", "auto") else {}
        ),  # With unit "words", the length of n-grams has no effect and is not compared.
        **facts["bm25"],
    }


def differences(info: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Return texts that name each option in which an existing index differs from the requested one.

    Args:
        info: The facts of the existing index. See :attr:`Index.info`.
        wanted: The facts of the requested index, as its manifest would hold them.
    """
    known, asked = options_of(info), options_of(wanted)
    if asked["terms"] == "auto" and info["terms"] and info["terms"].get("version", 1) < 4:
        # An index of an older version cannot have the terms "auto", so a request for "auto" accepts its analyzer.
        asked = {name: value for name, value in asked.items() if name not in ("terms", "ngram")}
    return [
        f"{name} is {known.get(name)!r}, not {value!r}"
        for name, value in asked.items()
        # Analyzers before version 3 do not have the option cjk_bigrams.
        if value != known.get(name, value if name == "cjk_bigrams" else None)
    ]
