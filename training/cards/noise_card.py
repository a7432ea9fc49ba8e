"""The model card of the noise model, written from the facts of its training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``noise.json``."""
    rows = "\n".join(f"| {kind} | {found['pages']} | {found['f1']:.3f} |" for kind, found in facts["metrics"].items())
    return f"""# {facts["name"]}

The noise model tells which blocks of an HTML page are content. It is {_many(facts["nets"])} with these inputs: features
of blocks (length, share of links, stop words, punctuation, position, contents of the elements around), and vectors of
the names of elements and of the first words. Blocks also exchange summaries with neighbours, blocks of the same
elements, blocks of similar names, and the page. NumPy computes it in integers, so that every machine removes the same
blocks. {facts["bytes"]:,} bytes.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Learned from** {facts["pages"]:,} pages of the development set of WCXB (Murrough Foley, CC BY 4.0; the model
  contains hashes of words but no text). Blocks are content if their words are in the text that people marked, where
  each word of that text counts for one block. {facts["taught"]:.0%} of each label comes from networks that have not
  seen the page.
- **Scores** are calibrated on pages that the networks had not seen: logits times {facts["scale"]}. A page's own
  `<nav>`, `<footer>` and `<dialog>` are not content. The odds are divided by eight in its `<header>`, in an `<aside>`,
  and outside the element that is named as the body of an article.
- **Licence** {facts["licence"]}. **Language** mostly English pages; names of elements are English nearly everywhere.
  {facts["foreign"]:.0%} of the pages were learned from without any known word of their text, and
  {facts["unnamed"]:.0%} without the names of elements. Stop words are those of 23 languages.

| pages | number | word F1 |
| --- | --- | --- |
{rows}

Word F1 compares the multisets of `\\w+` in lower case of the kept text and of the text that people marked. Values are
means over pages. Each page was scored by networks that had seen no page of its domain (five parts by domain). This
includes pages without marked text, and pages whose text only scripts fetch.
"""


def _many(nets: int) -> str:
    return f"{nets} networks" if nets > 1 else "a network"
