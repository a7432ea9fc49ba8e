"""The model card of the compression encoder, written from the facts of its training run."""

from __future__ import annotations

from typing import Any

_TARGETS = {"lead": "its lead, which is withheld", "summary": "an extractive summary of it"}


def card(facts: dict[str, Any]) -> str:
    """Markdown from the contents of ``compressor.json``."""

    def cell(value: dict[str, float]) -> str:
        return f"{value['mean']:.4f} [{value['low']:.4f}, {value['high']:.4f}]"

    rows = "\n".join(f"| {name} | {cell(value)} |" for name, value in facts["metrics"].items())
    spans = facts["spans"]
    target = _TARGETS.get(facts["target"], "a summary that was given")
    encoder = facts["encoder"].split(":")[0]
    of = "" if encoder.startswith("pychunk-static") else f" --encoder {encoder}"
    return f"""# {facts["name"]}

The vector of a large span from those of its sentences, without a summary: {facts["heads"]} learned queries attend over
the sentences, known by vector, position, length and how many they are, and a residual map of rank {facts["rank"]} moves
their weighted mean. {facts["bytes"]:,} bytes; the engine computes it, no runtime is needed.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Reads** vectors of {facts["encoder"]}; those of any other encoder are refused.
- **Learned from** {spans["documents"]:,} articles of English Wikipedia (CC BY-SA 4.0; used to learn from, no text is
  contained) and {spans["sections"]:,} of their sections. The target of an article without its lead is the vector of
  {target}; that of a section the vector of its name, title and heading. Training stopped on {spans["validation"]:,}
  other articles; those of the test were not read.
- **Licence** {facts["licence"]}. **Language** English.

| mean cosine to the target, validation articles | |
| --- | --- |
{rows}

Means with 95 % bootstrap intervals, of pairs in the last row. The figures that count are of test articles:
`python bench/levels/compressor_vectors.py{of}`.
"""
