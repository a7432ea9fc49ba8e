"""The model card of the compression encoder, written from the facts of its training run."""

from __future__ import annotations

from typing import Any

_TARGETS = {"lead": "its lead, which is withheld", "summary": "an extractive summary of it"}


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``compressor.json``."""

    def cell(value: dict[str, float]) -> str:
        return f"{value['mean']:.4f} [{value['low']:.4f}, {value['high']:.4f}]"

    rows = "\n".join(f"| {name} | {cell(value)} |" for name, value in facts["metrics"].items())
    spans = facts["spans"]
    target = _TARGETS.get(facts["target"], "a given summary")
    encoder = facts["encoder"].split(":")[0]
    of = "" if encoder.startswith("pychunk-static") else f" --encoder {encoder}"
    return f"""# {facts["name"]}

The compression encoder computes the vector of a large span from those of its sentences, without a summary.
{facts["heads"]} learned queries attend to the sentences by vector, position, length and number of sentences. A residual
map of rank {facts["rank"]} then moves their weighted mean. {facts["bytes"]:,} bytes; the engine computes it, and no
runtime is needed.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Reads** vectors of {facts["encoder"]}. It refuses those of any other encoder.
- **Learned from** {spans["documents"]:,} articles of English Wikipedia (CC BY-SA 4.0; the model contains no text of
  them) and {spans["sections"]:,} of their sections. The target of an article without its lead is the vector of
  {target}. The target of a section is the vector of its name, title and heading. Training stopped on
  {spans["validation"]:,} other articles. Those of the test were not read.
- **Licence** {facts["licence"]}. **Language** English.

| mean cosine to the target, validation articles | |
| --- | --- |
{rows}

Values are means with 95 % bootstrap intervals; the last row is of paired differences. The figures for test articles
are more meaningful: `python bench/levels/compressor_vectors.py{of}`.
"""
