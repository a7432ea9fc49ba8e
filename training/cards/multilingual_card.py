"""The model card of the multilingual table, written from the facts of its training run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "data" / "pychunk-multilingual" / "pychunk_multilingual" / "model"


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``static.json``."""
    languages = sorted(facts["metrics"])
    columns = list(facts["metrics"][languages[0]])
    rows = "\n".join(
        f"| {name} | " + " | ".join(f"{facts['metrics'][name][column]:.2f}" for column in columns) + " |"
        for name in languages
    )
    sources = "\n".join(f"- {name}: {place} ({licence})" for name, (place, licence) in facts["sources"].items())
    return f"""# {facts["name"]}

A table of {facts["tokens"]:,} x {facts["dim"]} int8 rows, one for each piece that was kept of XLM-RoBERTa's vocabulary.
The vector of a sentence is the unit-length sum of its pieces' rows. Sums of integers are exact, so the vector depends
only on the text. Rows have their fitted directions; their lengths follow from how frequent a piece is in the language
that uses it most. (The shipped rows were fitted first, and weighted in a second run with `--fitted`.)

- **Made by** `{facts["command"]}` (seed {facts["seed"]}), on two cores.
- **Teacher** {facts["teacher"]} (MIT), from weights in 4 bits, in bfloat16. The mean vector of each language is
  subtracted from its vectors, and a text and its English translation learn the mean of both vectors.
- **Pieces** those that most text of the sources and of frequent words needs, and every single character.
- **Learned from** {facts["texts"]:,} sentences and frequent words, and {facts["pairs"]:,} translations. These languages
  have a full share of the text: {", ".join(facts["full"])}. {len(facts["languages"]) - len(facts["full"])} others have
  a tenth of it at most, and most of these only messages of MediaWiki. Most translations are about software.
- **In a hybrid search** its cosines have {facts["cosine_weight"]:g} of the usual weight, unless the chunks lack most of
  the query's words. Headings of manuals, as questions for their sections, chose this weight.
- **Licence** {facts["licence"]}. The model contains no text of its sources.

| language | {" | ".join(column.replace("_", " ") for column in columns)} |
| --- |{" ---: |" * len(columns)}
{rows}

`adjacent` and `to mean` are Pearson correlations with the teacher's similarities of neighbouring sentences, and of
sentences to their document's mean. The teacher's vectors are centred. They are pooled over all held-out sentences of a
language, or averaged over documents (`per document`). `cosine` is the mean cosine to the vectors that the table learns.

## Sources

{sources}
"""
