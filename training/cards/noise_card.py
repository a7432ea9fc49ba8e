"""The model card of the model of noise, written from the facts of its training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Markdown from the contents of ``noise.json``."""
    rows = "\n".join(f"| {kind} | {found['pages']} | {found['f1']:.3f} |" for kind, found in facts["metrics"].items())
    return f"""# {facts["name"]}

Which blocks of a page of HTML are content: {_many(facts["nets"])} over features of blocks (length, share of links,
stop words, punctuation, place, what is in the elements around), vectors of the names of elements and of the first
words, and summaries exchanged between neighbours, blocks of the same elements, blocks named alike and the page. NumPy
computes it, in whole numbers, so that every machine removes the same. {facts["bytes"]:,} bytes.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Learned from** {facts["pages"]:,} pages of the development set of WCXB (Murrough Foley, CC BY 4.0; no text is
  contained, hashes of words are): blocks whose words are in the text that people marked are content, each word of that
  text counted for one block. {facts["taught"]:.0%} of each label is what networks say that have not seen the page.
- **Scores** are calibrated on pages that the networks had not seen: logits times {facts["scale"]}. What is in a page's
  own `<nav>`, `<footer>` or `<dialog>` is no content, and the odds in its `<header>` or an `<aside>` are an eighth, as
  are those outside of the element that is named as the body of an article.
- **Licence** {facts["licence"]}. **Language** mostly English pages; names of elements are English nearly everywhere.
  {facts["foreign"]:.0%} of the pages were learned from as if no word of their text were known,
  {facts["unnamed"]:.0%} without the names of elements. Stop words are those of 23 languages.

| pages | how many | word F1 |
| --- | --- | --- |
{rows}

Word F1 of multisets of `\\w+`, lower case, of the text that is kept with the text that people marked; mean over pages.
Each page was scored by networks that had seen no page of its domain (five parts by domain). Pages of which nothing was
marked, and pages whose text only scripts fetch, are among them.
"""


def _many(nets: int) -> str:
    return f"{nets} networks" if nets > 1 else "a network"
