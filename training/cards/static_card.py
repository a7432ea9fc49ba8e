"""The model card of the static encoder, written from the facts of its training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Markdown from the contents of ``static.json``."""
    columns = list(next(iter(facts["metrics"].values())))
    rows = "\n".join(
        f"| {name} | " + " | ".join(f"{scores[column]:.4f}" for column in columns) + " |"
        for name, scores in facts["metrics"].items()
    )
    return f"""# {facts["name"]}

A table of {facts["tokens"]:,} x {facts["dim"]} int8 rows, one for each token of BERT's uncased vocabulary. The vector
of a sentence is the unit-length sum of its tokens' rows. Token weights are folded into the rows' lengths; sums of
integers are exact, so the vector depends on nothing but the text.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Teacher** {facts["teacher"]} (Apache-2.0); vectors to learn from in {facts["teacher_dtype"]}, vectors to measure
  against in float32.
- **Learned from** {facts["sentences"]:,} sentences ({facts["distinct_sentences"]:,} distinct) of English Wikipedia
  (CC BY-SA 4.0; used to learn from, no text is contained). {facts["held_out_articles"]} whole articles
  ({facts["held_out_sentences"]:,} sentences) were held out and measured on.
- **Licence** {facts["licence"]}. **Language** English: other scripts fall to single letters and [UNK].

| table | {" | ".join(column.replace("_", " ") for column in columns)} |
| --- |{" --- |" * len(columns)}
{rows}

`adjacent` and `to mean` are Pearson correlations with the teacher's similarities (384 dimensions, float32) of
neighbouring sentences and of sentences to their document's mean, pooled over all held-out sentences and, per
document, averaged; `cosine` is the mean cosine to the teacher's vector reduced to {facts["dim"]} dimensions.
`baseline` is plain distillation of the vocabulary, `float` the fitted table, `int8` what is shipped. To measure again:
`pychunk train static --out pychunk/models --evaluate`.
"""
