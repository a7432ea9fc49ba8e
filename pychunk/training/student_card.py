"""The card of a distilled cross-encoder, written from the facts of its training run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..encoders.files.model_dir import ModelFacts, write_facts


def describe(out: Path, facts: ModelFacts, notes: Mapping[str, Any]) -> None:
    """Write a model's facts and its card."""
    own = replace(facts, notes=dict(notes))
    write_facts(out, own)
    (out / "README.md").write_text(card(own), encoding="utf-8")


def card(facts: ModelFacts) -> str:
    """Return the card as Markdown from the contents of ``pychunk.json``."""
    notes, metrics = facts.notes, facts.notes["metrics"]

    def cell(value: Mapping[str, float]) -> str:
        return f"{value['mean']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"

    rows = "\n".join(
        f"| {name} | {cell(own['hits@1'])} | {cell(own['gain'])} | {own['ms a query']:,} |"
        for name, own in ((name, metrics[name]) for name in ("teacher", "student"))
    )
    gained, kept = (metrics[name]["gain"]["mean"] for name in ("teacher", "student"))
    share = f" The student keeps {kept / gained:.0%} of the teacher's gain." if gained > 0 else ""
    articles = notes["articles"]
    return f"""# {facts.name}

A cross-encoder of {notes["layers"]} layers that scores how well a passage answers a question. The weights are stored
in 8 bits, with a scale for each row or column, {notes["bytes"]:,} bytes. They are restored to float32 when the model
is loaded, so that a score does not depend on the other pairs of its batch.

- **Made by** `{notes["command"]}`.
- **From** {facts.source} ({facts.licence}). It started with every second of its layers and kept its embeddings.
- **Learned from** {notes["pairs"]:,} pairs of a query and a chunk that hybrid search found for it, in
  {articles["train"]:,} articles of English Wikipedia (CC BY-SA 4.0; the model contains no text of them). Queries are
  titles, headings and sentences with words left out. Neither questions of people nor their judgements were used.
- **Input** `[CLS] query [SEP] passage [SEP]`, up to {facts.max_length} tokens. **Language** English.
- **SHA-256** of {facts.model}: `{facts.model_sha256}`.
- **Licence** {facts.licence}.

| reranked by | right chunk comes first | gain | ms a query |
| --- | --- | --- | --- |
| as found | {cell(metrics["as found"])} | | |
{rows}

Measured on {metrics["queries"]:,} sentences with words left out, of {articles["test"]} other articles, among the first
20 hits. Values are means with 95 % bootstrap intervals, gains are paired.{share} Times are of one run on a machine
that other processes also used.
"""
