"""The share of a text that an encoder knows, which determines the weight of its vector relative to BM25.

An English WordPiece vocabulary splits Thai into ``[UNK]``, Russian into letters and German into pieces of words. The
vectors of such tokens have little meaning. The table shows for which share of 1,190 questions a language of XQuAD the
right paragraph is found first with the static encoder. The columns are BM25 alone, the sum of cosine and BM25, and this
sum with the cosine weighted by the share of the query that the encoder knows.

======= ===== ====== =======
        BM25  as are weighed
======= ===== ====== =======
English 0.910  0.948   0.948
German  0.928  0.915   0.926
Turkish 0.909  0.887   0.904
Arabic  0.913  0.899   0.913
Thai    0.946  0.798   0.945
Chinese 0.939  0.916   0.939
======= ===== ====== =======

An encoder may say that its cosines deserve less weight than BM25 by its attribute ``cosine_weight``, as the
multilingual table does. A query in another language than the chunks shares few words with them, so that BM25 says
little; then the cosine has its whole weight. If the chunks have less than two fifths of the query's words and n-grams,
the cosine decides alone.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._engine import native
from ..._engine.arrow import compute as pc
from ..._engine.arrow import flat_text, flat_texts
from ...inputs import english_words
from ..lexical.analyzer import Analyzer

if TYPE_CHECKING:
    from ..._engine.data.models import TokenTable

F32 = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

#: The weight of a vector is 0 if the encoder knows less than the first share of the text, 1 from the second share on,
#: and rises between them.
NOTHING, WHOLE = 0.3, 0.7
#: A text may be in an unknown script if the share of UTF-8's continuation bytes among its bytes is higher than this.
_CONTINUE = 0.2
#: If at most this number of words speak for another language, words with accents are not counted, because English
#: queries have such words, too. Only a frequent word of another language then counts.
_ACCENTS = 2
#: A query is in another language than the chunks if they have at most the first share of its words, and in their
#: language from the second share on. Of the questions of XQuAD in Russian, a half have more than 0.83 of their words in
#: its paragraphs; of the same questions in English, 0.22.
FOREIGN, OWN = 0.4, 0.6
#: The cosine decides alone if the chunks have less than this share of a query's terms, which are its words and their
#: n-grams. Questions in the language of the chunks have more: in indexes of 12 paragraphs, the right one is first for
#: 0.862 of 1,170 in Turkish and 0.720 of 735 in Arabic, and for 0.862 and 0.722 if BM25 always counts. Of English
#: headings of manuals, the section in one of 7 other languages is among the first five for 0.546, otherwise 0.513.
ALONE = 0.4
_analyzer = Analyzer()


class TokenTraits:
    """The traits of the t tokens of a WordPiece vocabulary, bool[t] each.

    Attributes:
        little: The tokens into which text of unknown scripts is split: ``[UNK]`` and single letters that are not ASCII.
        letters: The tokens that consist of letters, and those in ``little``.
        continues: The tokens that continue a word.
    """

    def __init__(self, tokens: TokenTable) -> None:
        bare = [token.removeprefix("##") for token in tokens.vocabulary]
        self.little = np.asarray(native.fallback_tokens(tokens), np.bool_)
        self.little &= np.array([len(each) != 1 or not each.isascii() for each in bare])
        self.letters = np.array([each.isalpha() for each in bare]) | self.little
        self.continues = np.array([token.startswith("##") for token in tokens.vocabulary])

    def known(self, ids: npt.NDArray[np.int32], foreign: bool) -> float:
        """Return the share of a text that the encoder knows: the share of its tokens that are not in ``little``.

        For a ``foreign`` text, it is the share of its words that are a single token.
        """
        own = ids[self.letters[ids]]
        if not len(own):
            return 1.0
        if not foreign:
            return float(1 - self.little[own].mean())
        begins = ~self.continues[own]
        alone = begins & ~np.append(self.continues[own][1:], False) & ~self.little[own]
        return float(alone.sum() / max(int(begins.sum()), 1))


_word_pieces: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
_traits: weakref.WeakKeyDictionary[Any, TokenTraits] = weakref.WeakKeyDictionary()


def _tokens(encoder: Any) -> Any:
    """Return the tokenizer of an encoder, or None if it is not a WordPiece tokenizer."""
    tokens = getattr(encoder, "tokenizer", None)
    if tokens is None or not hasattr(tokens, "tokens_of"):
        return None
    if tokens not in _word_pieces:
        vocabulary = getattr(tokens, "vocabulary", None) or ()
        _word_pieces[tokens] = any(token.startswith("##") for token in vocabulary)
    return tokens if _word_pieces[tokens] else None


def _traits_of(tokens: Any) -> TokenTraits:
    """Return the traits of a tokenizer's tokens. They take 15 ms for 30,522 tokens, and no English query needs them."""
    if tokens not in _traits:
        _traits[tokens] = TokenTraits(tokens)
    return _traits[tokens]


def worth(encoder: Any, texts: Sequence[str]) -> F32:
    """Return the weights of the vectors of n queries, from 0 to 1, float32[n].

    They are 1 for English queries, and for an encoder without a WordPiece tokenizer.

    Example:
        >>> from pychunk.encoders.static_encoder import load
        >>> worth(load(), ["Why is α larger than β?", "Wie groß ist ein Blauwal?", "ทะเล"]).round(2).tolist()
        [1.0, 0.25, 0.0]
    """
    tokens = _tokens(encoder)
    if tokens is None or not texts:
        return np.ones(len(texts), np.float32)
    text, offsets = flat_texts(texts)
    read = tokens.tokens_of(text, offsets)
    shares = []
    for at, each in enumerate(texts):
        words = _analyzer.terms(each)
        ours, others = english_words.evidence(words)
        if others <= _ACCENTS:
            others = english_words.evidence(filter(str.isascii, words))[1]
        ids = read.ids[read.offsets[at] : read.offsets[at + 1]]
        shares.append(1.0 if ours and ours >= others else _traits_of(tokens).known(ids, others > ours))
    found: F32 = np.clip((np.array(shares, np.float32) - NOTHING) / (WHOLE - NOTHING), 0, 1).astype(np.float32)
    return found


def by_terms(shares: Sequence[float], least: float) -> F32:
    """Return the weights of n queries' vectors by the shares of their words that any chunk has, float32[n].

    Args:
        shares: The share of each query's words, from 0 to 1.
        least: The weight of a query in the language of the chunks.

    Example:
        >>> by_terms([0.2, 0.5, 0.9], 0.5).tolist()
        [1.0, 0.75, 0.5]
    """
    return np.interp(shares, (FOREIGN, OWN), (1.0, least)).astype(np.float32)


def unread(encoder: Any, texts: pa.ChunkedArray) -> Bools:
    """Return which of n texts an encoder hardly knows, so that their vectors have no meaning, bool[n].

    To save time, only texts with many characters beyond ASCII are tokenized, which takes 0.1 s for 10 MB of such texts.
    """
    count = len(texts)
    tokens = _tokens(encoder)
    if tokens is None or not count:
        return np.zeros(count, np.bool_)
    size = np.asarray(pc.binary_length(texts), np.int64)
    may = np.flatnonzero(size - np.asarray(pc.utf8_length(texts), np.int64) > _CONTINUE * size)
    out = np.zeros(count, np.bool_)
    if len(may):
        text, offsets = flat_text(texts.take(pa.array(may)).cast(pa.large_string()).combine_chunks())
        read = tokens.tokens_of(text, offsets)
        for row, begin, end in zip(may.tolist(), read.offsets[:-1].tolist(), read.offsets[1:].tolist(), strict=True):
            out[row] = _traits_of(tokens).known(read.ids[begin:end], False) < NOTHING
    return out
