"""What an index was created with, held against what is asked for."""

from __future__ import annotations

from typing import Any


def options_of(facts: dict[str, Any]) -> dict[str, Any]:
    """What :meth:`Index.create` was told, of an index's facts; the encoder by what it computes."""
    terms = facts["terms"] or {"unit": None}
    kept = {name: facts[name] for name in ("vectors", "dtype", "kind")}
    kept |= {"encoder": facts["encoder"]["fingerprint"], "dim": facts["encoder"]["dim"], "terms": terms["unit"]}
    return {
        **kept,
        **{name: terms[name] for name in ("stemmer", "stop_words", "cjk_bigrams") if name in terms},
        **({"fold_diacritics": terms.get("fold_diacritics", False)} if facts["terms"] else {}),
        **(
            {"ngram": terms["ngram"]} if terms["unit"] in ("ngrams", "auto") else {}
        ),  # words have none, whatever it was
        **facts["bm25"],
    }


def differences(info: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """In words, in what an index, as :attr:`Index.info` says it is, differs from the facts of one to create."""
    known, asked = options_of(info), options_of(wanted)
    if asked["terms"] == "auto" and info["terms"] and info["terms"].get("version", 1) < 4:
        asked = {name: value for name, value in asked.items() if name not in ("terms", "ngram")}  # it keeps its own
    return [
        f"{name} is {known.get(name)!r}, not {value!r}"
        for name, value in asked.items()
        if value != known.get(name, value if name == "cjk_bigrams" else None)  # which came in with version 3
    ]
