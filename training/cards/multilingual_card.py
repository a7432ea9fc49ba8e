"""The model card of the multilingual table, written from the facts of its training run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "data" / "pychunk-multilingual" / "pychunk_multilingual" / "model"


def shown(figure: float | None) -> str:
    """Return a figure, or nothing if it was not measured."""
    return "" if figure is None else f"{figure:.2f}"


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``static.json``."""
    contrast = facts["contrast"]
    taught, translated = contrast["teacher"], contrast["translations"]
    rows = "\n".join(
        f"| {name} | {shown(taught.get(name, {}).get('adjacent'))} | {shown(taught.get(name, {}).get('to_mean'))} "
        f"| {shown(translated.get(name))} |"
        for name in sorted(taught | translated)
    )
    sources = "\n".join(f"- {name}: {place} ({licence})" for name, (place, licence) in facts["sources"].items())
    return f"""# {facts["name"]}

A table of {facts["tokens"]:,} x {facts["dim"]} int8 rows, one for each piece that was kept of XLM-RoBERTa's vocabulary.
The vector of a sentence is the unit-length sum of its pieces' rows. Sums of integers are exact, so the vector depends
only on the text.

- **Made by** `{facts["command"]}`, whose rows were weighted in a second run with `--fitted`, then twice from these rows
  by `{contrast["averaged"][0]["command"]}`, with the examples of this version and of version 1.1.0, on two cores.
  `python -m training.multilingual.average` made the mean of both tables.
- **First**, rows learned the vectors of the teacher {facts["teacher"]} (MIT), from weights in 4 bits, in bfloat16. The
  mean vector of each language is subtracted from its vectors, and a text and its English translation learn the mean of
  both vectors. Row lengths then followed from how frequent a piece is in the language that uses it most.
- **Then**, rows learned to find texts that belong together among all of a batch: parts of sentences and what is around
  them, headings of manuals and what is below, paragraphs of English articles and their titles in any language, and
  translations of sentences and of titles. In the first of the two trainings, some queries are between the first and
  last words of a question, so that words that only ask weigh little.
- **Pieces** those that most text of the sources and of frequent words needs, and every single character.
- **Learned from** {facts["texts"]:,} sentences and frequent words, and {facts["pairs"]:,} translations, then from
  {contrast["averaged"][0]["texts"]:,} texts, most of them titles. These languages have a full share of the text:
  {", ".join(facts["full"])}. {len(facts["languages"]) - len(facts["full"])} others have
  a tenth of it at most, and most of these only messages of MediaWiki. Most translations are about software. The second
  step read {len(contrast["translations"]) + 1} languages. The training of version 1.1.0 also read all 8,000 English
  articles, and the first one 4,000 of them, also those on which topics and weights of features are measured.
- **In a hybrid search** its cosines have {facts["cosine_weight"]:g} of the usual weight, and more if the chunks lack
  words of the query. Headings of manuals, as questions for their sections, chose this weight.
- **Licence** {facts["licence"]}. The model contains no text of its sources.

The figures are of {contrast["sentences"]:,} sentences of translated news that were held out. `adjacent` and `to mean`
are Pearson correlations with the teacher's similarities of neighbouring sentences, and of sentences to their article's
mean. The teacher's vectors are centred. `translations` is the share of sentences whose nearest of all English ones is
the translation, and the other way round.

| language | adjacent | to mean | translations |
| --- | ---: | ---: | ---: |
{rows}

## Sources

{sources}
"""
