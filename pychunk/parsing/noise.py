"""Which blocks of a page are noise: menus, banners, shares, related links, footers; and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import _native
from ..data.blocks import FORM, HEADING
from ..engine import backend_name
from .bodies import within_body
from .coherence import TYPED, with_neighbours
from .comments import without_comments
from .html_facts import word_hash
from .landmarks import by_landmarks
from .noise_features import NoiseFeatures, noise_features
from .noise_model import NoiseModel, load

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..data.blocks import Blocks
    from .html_facts import HtmlFacts

    Bools = npt.NDArray[np.bool_]
    F32 = npt.NDArray[np.float32]
    I64 = npt.NDArray[np.int64]

#: Blocks that the model looks at; ordinary pages have a few hundred, the longest of 1,497 of the web 2,641.
MAX_BLOCKS = 20_000
#: Blocks of so many words and more are kept once: pages hold copies for narrow screens, for carousels, for printing.
#: One by itself is a copy from so many on: manuals repeat a sentence where it is true again.
COPIED, COPIED_ALONE = 6, 25
How = Literal["model", "rules", "off"]
#: Names of elements that say what noise is in them; of one element's, the first reason holds.
_NAMED = {
    "cookies": "cookie cookies consent gdpr onetrust cookiebot cmp ccpa",
    "advertisement": "ad ads advert advertisement advertising adsense sponsored dfp taboola outbrain banner promo",
    "social": "share shares sharing social socials follow twitter facebook instagram linkedin pinterest whatsapp",
    "subscription": "newsletter subscribe subscription signup optin mailchimp mailing paywall",
    "related": "related recommended recommendation recommendations recirc trending popular similar upsell crosssell",
    "comments": "comments disqus commentlist respond",
    "navigation": "<nav nav navbar navigation menu submenu megamenu breadcrumb breadcrumbs pagination pager skip",
    "footer": "<footer footer copyright colophon legal bottom",
    "form": "<form form search login signin modal popup",
    "sidebar": "<aside aside sidebar widget widgets rail",
}
#: Every reason that a block is removed for.
REASONS = ("hidden", *_NAMED, "duplicate", "boilerplate")
_WORDED = {
    "cookies": "cookie cookies gdpr",
    "subscription": "subscribe newsletter unsubscribe",
    "footer": "© copyright",
}
#: By rules alone: what is removed where its element is named so. Comments stay: replies are what a forum is.
_BY_RULE = frozenset(REASONS) - {"comments", "form", "duplicate", "boilerplate"}


def _table(named: dict[str, str]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    pairs: dict[int, int] = {}
    for reason, words in named.items():
        for word in words.split():
            pairs.setdefault(word_hash(word), REASONS.index(reason))
    order = sorted(pairs)
    return np.array(order, np.uint32), np.array([pairs[each] for each in order])


_NAMES, _WORDS = _table(_NAMED), _table(_WORDED)


def check_noise(how: Any, threshold: Any) -> None:
    """That noise can be found so: for readers, before any page is read.

    Raises:
        ValueError: an unknown ``how``; a threshold that is not between 0 and 1, or of what has no scores.
    """
    if how not in ("model", "rules", "off"):
        raise ValueError(f"noise must be 'model', 'rules' or 'off'; got {how!r}")
    if threshold is None:
        return
    if how != "model":
        raise ValueError(f"noise_threshold is that of noise='model'; noise={how!r} has no scores")
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise ValueError(f"noise_threshold must be between 0 and 1; got {threshold!r}")


def find_noise(
    blocks: Blocks,
    facts: HtmlFacts,
    text: str,
    how: How = "model",
    threshold: float | None = None,
    title: str = "",
    model: NoiseModel | None = None,
) -> tuple[Bools, F32, list[str]]:
    """(whether each block is removed, bool[b]; how much it looks like noise, float32[b], 0 to 1; why, "" if kept).

    Args:
        blocks, facts, text, title: of one page, as :func:`pychunk.parsing.html.parse_html` reads it.
        how: by the trained model, by names of elements and share of links alone, or not at all. Pages of more than
            ``MAX_BLOCKS`` blocks are judged by names alone: features of a block take a kilobyte.
        threshold: of the model: blocks with scores above it are removed. Default: for each page the one by which the
            words that are kept agree best with those that are content, as far as the scores tell (their expected F1);
            so a page of uncertain blocks keeps the better half of them, and not nothing. Of copies (:func:`copies`)
            only the one with the lowest score counts; the others' scores are 1, as are those of blocks in the page's
            menus and footer (:mod:`pychunk.parsing.landmarks`), and of comments under an article
            (:mod:`pychunk.parsing.comments`); outside of the element that is named as the body of an article scores
            are higher (:mod:`pychunk.parsing.bodies`).
        model: default: the one that pychunk ships.

    Raises:
        ValueError: as of :func:`check_noise`.

    Example:
        >>> from pychunk.parsing.html import parse_html
        >>> page = parse_html("<nav><a>Home</a></nav><main><p>Cats purr when they are at ease, and when not.</main>")
        >>> removed, score, reasons = find_noise(page.blocks, page.facts, page.text, how="rules")
        >>> removed.tolist(), reasons
        ([True, False], ['navigation', ''])
    """
    check_noise(how, threshold)
    count = len(blocks.kind)
    if how == "off" or not count:
        return np.zeros(count, bool), np.zeros(count, np.float32), [""] * count
    features = noise_features(blocks, facts, text, title) if count <= MAX_BLOCKS else None
    why = _reasons(blocks, facts, text, features)
    if how == "rules" or features is None:
        removed = _by_rule(blocks, facts, why)
        score = removed.astype(np.float32)
    else:
        content, again = judged(model or load(), features)
        unnamed = why == REASONS.index("boilerplate")
        why[again & unnamed] = REASONS.index("duplicate")
        why[features.comments & unnamed] = REASONS.index("comments")
        removed = 1 - content > threshold if threshold is not None else content <= best_threshold(content, features)
        score = (1 - content).astype(np.float32)
    return removed, score, [REASONS[reason] if gone else "" for reason, gone in zip(why, removed, strict=True)]


def judged(model: NoiseModel, features: NoiseFeatures) -> tuple[npt.NDArray[np.float64], Bools]:
    """(how likely each block is content, float64[b]: by the model and what the page says; which blocks are copies)."""
    content = by_landmarks(model.content(features), features.landmark)
    content = without_comments(content, features.comments)
    content = within_body(content, features.bodies, features.titles, features.weight)
    content = with_neighbours(content, features.role, features.landmark, features.weight)
    again = copies(content, features)
    return np.where(again, 0.0, content), again


def copies(content: npt.NDArray[np.float64], features: NoiseFeatures) -> Bools:
    """bool[b]: blocks of ``COPIED`` words and more whose text stands in a likelier block, or an earlier as likely one.

    People who mark a page's text write it down once. Code is none: examples repeat commands. Nor are blocks of less
    than ``COPIED_ALONE`` words between others that stand there once.
    """
    order = np.lexsort((-content, features.copy))  # stable: of equals the first comes first
    ordered = features.copy[order]
    again = np.zeros(len(content), bool)
    again[order[1:]] = ordered[1:] == ordered[:-1]
    beside = np.zeros(len(content) + 2, bool)
    beside[2:] = again
    beside[:-2] |= again
    again &= (features.weight >= COPIED) & (beside[1:-1] | (features.weight >= COPIED_ALONE)) & (features.role != TYPED)
    return again


def best_threshold(content: npt.NDArray[np.float64], features: NoiseFeatures) -> float:
    """The probability of content above which words are kept for the greatest expected F1 of the page.

    That is half of that F1 (as for any measure 2 TP / (kept + wanted)): found by keeping blocks from the surest on.
    """
    words = features.weight
    order = np.argsort(-content, kind="stable")
    right = np.cumsum((content * words)[order])
    kept = np.cumsum(words[order])
    expected = 2 * right / np.maximum(kept + right[-1], 1e-9)
    return float(expected.max()) / 2


def _reasons(blocks: Blocks, facts: HtmlFacts, text: str, features: NoiseFeatures | None) -> I64:
    """int64[b], positions in REASONS: what each block would be removed for."""
    count = len(blocks.kind)
    why = np.full(count, REASONS.index("boilerplate"), np.int64)
    linked = facts.link_chars * 5 > facts.text_chars * 3
    why[linked] = REASONS.index("navigation")
    copy = features.copy if features is not None else _same(blocks, text)
    known = np.maximum.accumulate(np.append(-1, copy[:-1]))
    why[copy <= known] = REASONS.index("duplicate")  # numbers rise with texts that are new
    why[blocks.kind == FORM] = REASONS.index("form")
    # The innermost element that is named for something, unless it holds most of the page: bodies are named for much.
    why = (_put_named if backend_name() == "native" else _named)(facts, why)
    if features is not None:
        names, reasons = _WORDS
        values, owner = features.wording
        at = np.minimum(np.searchsorted(names, values), len(names) - 1)
        found = (names[at] == values) & (features.weight[owner] < 60)
        why[owner[found]] = reasons[at[found]]
    why[facts.hidden] = REASONS.index("hidden")
    return why


def _put_named(facts: HtmlFacts, why: I64) -> I64:
    page = {
        "names": facts.words.values,
        "name_offsets": facts.words.offsets,
        "last": facts.last,
        "element": facts.element,
        "text_chars": facts.text_chars,
    }
    return _native.put_reasons(page, known=_NAMES[0], reasons=_NAMES[1], why=why)


def _named(facts: HtmlFacts, why: I64) -> I64:
    """The same in NumPy: the reference."""
    why = why.copy()
    names, reasons = _NAMES
    words = facts.words.values
    at = np.minimum(np.searchsorted(names, words), len(names) - 1)
    hits = np.flatnonzero(names[at] == words)
    rows = np.searchsorted(facts.words.offsets, hits, side="right") - 1
    first = np.searchsorted(facts.element, rows)
    last = np.searchsorted(facts.element, facts.last[rows])
    running = np.concatenate([[0], np.cumsum(facts.text_chars, dtype=np.int64)])
    small = (running[last] - running[first]) * 2 <= running[-1]
    before = -1
    for row, begin, end, reason in zip(
        rows[small].tolist(),
        first[small].tolist(),
        last[small].tolist(),
        reasons[at[hits]][small].tolist(),
        strict=True,
    ):
        if row != before or (begin < end and reason < why[begin]):
            why[begin:end] = reason
        before = row
    return why


def _same(blocks: Blocks, text: str) -> I64:
    """int64[b]: numbers of the blocks' texts, in the order that they first come."""
    numbers: dict[str, int] = {}
    spans = zip(blocks.start.tolist(), blocks.end.tolist(), strict=True)
    return np.array([numbers.setdefault(text[start:end], len(numbers)) for start, end in spans], np.int64)


def _by_rule(blocks: Blocks, facts: HtmlFacts, why: I64) -> Bools:
    named = np.isin(why, [REASONS.index(reason) for reason in _BY_RULE])
    short = facts.text_chars < 200
    return np.asarray(named & (short | facts.hidden) & ~((blocks.kind == HEADING) & (blocks.level == 1)))
