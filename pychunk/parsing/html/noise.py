"""The detection of noise in a page (menus, banners, share links, related links, footers), with the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..._engine.data.blocks import FORM, HEADING
from ..._engine.data.html_tags import word_hash
from ..._engine.engine import engine
from .comments import without_comments
from .hidden_text import without_hidden
from .landmarks import PAGER, by_landmarks
from .main_content import within_body
from .manuals import within_main
from .noise_features import LEVELS, NoiseFeatures, noise_features
from .noise_model import NoiseModel, load
from .noise_smoothing import TYPED, together, with_neighbours

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..._engine.data.blocks import Blocks
    from .html_facts import HtmlFacts

    Bools = npt.NDArray[np.bool_]
    F32 = npt.NDArray[np.float32]
    F64 = npt.NDArray[np.float64]
    I64 = npt.NDArray[np.int64]

#: The maximum number of blocks of a page that the model judges. Ordinary pages have a few hundred blocks; the longest
#: of 1,497 web pages has 2,641.
MAX_BLOCKS = 20_000
#: The minimum number of words of a block whose copies are removed. Pages hold copies for narrow screens, carousels and
#: printing. A copy between blocks that are not copies must have the larger number of words, because manuals repeat a
#: sentence wherever it applies.
COPIED, COPIED_ALONE = 6, 25
#: A copy stays if the blocks around it are content with at least this probability. Compared with a rule that keeps no
#: copy, this raises recall on 1,497 labelled pages by 0.0025 and lowers precision by 0.0019. Forums lose 0.0027 of word
#: F1.
MEANT = 0.5
How = Literal["model", "rules", "off"]
#: The names of elements that show the reason for removing the text in them. If an element has names of several reasons,
#: the first reason counts.
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
#: The reasons for which a block is removed.
REASONS = ("hidden", *_NAMED, "duplicate", "boilerplate")
_WORDED = {
    "cookies": "cookie cookies gdpr",
    "subscription": "subscribe newsletter unsubscribe",
    "footer": "© copyright",
}
#: The reasons for which a block is removed without the model. Comments stay, because a forum consists of replies.
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
    """Check the options of noise detection, before any page is read.

    Raises:
        ValueError: ``how`` is unknown, the threshold is not between 0 and 1, or ``how`` computes no scores for it.
    """
    if how not in ("model", "rules", "off"):
        raise ValueError(f"noise must be 'model', 'rules' or 'off'; got {how!r:.80}")
    if threshold is None:
        return
    if how != "model":
        raise ValueError(f"noise_threshold needs noise='model'; got noise={how!r}, which has no scores")
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise ValueError(f"noise_threshold must be between 0 and 1; got {threshold!r:.80}")


def find_noise(
    blocks: Blocks,
    facts: HtmlFacts,
    text: str,
    how: How = "model",
    threshold: float | None = None,
    title: str = "",
    model: NoiseModel | None = None,
) -> tuple[Bools, F32, list[str]]:
    """Return which blocks are removed (bool[b]), scores (float32[b]), and the reason for each ("" for a kept block).

    The score, from 0 to 1, is the probability that the block is noise. Of several copies of a text, only the one with
    the lowest score keeps its score; the other copies get 1 (:func:`copies`). Blocks in the page's menus and footer get
    1 (:mod:`pychunk.parsing.html.landmarks`), as do comments under an article (:mod:`pychunk.parsing.html.comments`).
    Outside the page's body, scores are raised (:mod:`pychunk.parsing.html.main_content`).

    Args:
        blocks: The blocks of one page, from :func:`pychunk.parsing.html.page.parse_html`.
        facts: The facts of the page's HTML.
        text: The text of the page.
        how: ``model`` uses the trained model, ``rules`` only the names of elements and the shares of links, and ``off``
            removes nothing. Pages of more than ``MAX_BLOCKS`` blocks are judged by the rules, because the model's
            features take a kilobyte for each block.
        threshold: Blocks with scores above it are removed. The default is chosen for each page: the threshold with the
            highest F1 between the kept words and the content words that the scores predict. A page of uncertain blocks
            therefore keeps the better half of them instead of nothing.
        title: The title of the page.
        model: The model. Default: the one that pychunk ships.

    Raises:
        ValueError: See :func:`check_noise`.

    Example:
        >>> from pychunk.parsing.html.page import parse_html
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
    why = _reasons(blocks, facts, features)
    if how == "rules" or features is None:
        removed = _by_rule(blocks, facts, why)
        score = removed.astype(np.float32)
    else:
        likely, unseen = _likely(model or load(), features)
        again = copies(likely, features)
        content = np.where(again, 0.0, likely)
        least = best_threshold(content, features) if threshold is None else np.nextafter(1 - threshold, 0)
        removed = content <= least if threshold is None else 1 - content > threshold
        why[features.comments & (why == REASONS.index("boilerplate"))] = REASONS.index("comments")
        why[unseen] = REASONS.index("hidden")
        # A copy gets the reason "duplicate" if it has no other reason, or if only being a copy removes it.
        why[again & ((likely > least) | (why == REASONS.index("boilerplate")))] = REASONS.index("duplicate")
        score = (1 - content).astype(np.float32)
    return removed, score, [REASONS[reason] if gone else "" for reason, gone in zip(why, removed, strict=True)]


def judged(model: NoiseModel, features: NoiseFeatures) -> tuple[F64, Bools]:
    """Return the probability that each block is content, by model and rules (float64[b]), and which are copies."""
    likely, _ = _likely(model, features)
    again = copies(likely, features)
    return np.where(again, 0.0, likely), again


def _likely(model: NoiseModel, features: NoiseFeatures) -> tuple[F64, Bools]:
    """Return each block's probability of content, before copies are removed, and which blocks are hidden in prose."""
    content = by_landmarks(model.content(features), features.landmark)
    content = without_comments(content, features.comments)
    content = within_body(content, features.bodies, features.titles, features.weight)
    content = within_main(content, features.main, features.weight)
    content = together(content, features.pairs, features.landmark, features.weight)
    manual = len(features.main.spans) > 0
    content = with_neighbours(content, features.role, features.landmark, features.weight, features.level, manual)
    return without_hidden(content, features.hidden, features.weight)


def copies(content: F64, features: NoiseFeatures) -> Bools:
    """Return bool[b]: the copies that a template makes of other blocks.

    Of several blocks with the same text, the likeliest is the original, and of equally likely ones the first.

    Pages hold copies for narrow screens, for carousels and for printing, each with its heading or among other noise.
    Text that authors repeat does not count: a warning in each procedure, a note under each function
    (:func:`_told_again`). Nor do code, blocks of fewer than ``COPIED`` words, and blocks of fewer than ``COPIED_ALONE``
    words between blocks that are not copies.
    """
    order = np.lexsort((-content, features.copy))  # the sort is stable, so of equally likely copies the first leads
    ordered = features.copy[order]
    again = np.zeros(len(content), bool)
    again[order[1:]] = ordered[1:] == ordered[:-1]
    repeated = again.copy()
    beside = np.zeros(len(content) + 2, bool)
    beside[2:] = again
    beside[:-2] |= again
    again &= (features.weight >= COPIED) & (beside[1:-1] | (features.weight >= COPIED_ALONE)) & (features.role != TYPED)
    if again.any():
        first = np.empty(len(content), np.int64)
        begins = np.append(True, ordered[1:] != ordered[:-1])
        first[order] = order[np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))]
        repeated[first[repeated]] = True
        again &= ~_told_again(content, features, again, first, ~repeated)
    return again


def _told_again(content: F64, features: NoiseFeatures, again: Bools, first: I64, once: Bools) -> Bools:
    """Return bool[b]: the copies that are content where they are, because an author repeated the text.

    The rules look at the nearest blocks of a copy's section whose text occurs once on the page. A copy under another
    heading than its original is content if the nearest such block before it is content. If there is none, the copy is
    content only if the headings above it differ from those of the original, and its own heading is content. A copy
    under the same heading as its original is content if the nearer of the blocks before and after it is content, by
    distance in the tree of elements. If both are equally near, both must be content.

    Args:
        content: The probability that each block is content, float64[b].
        features: The features of the page.
        again: bool[b], the copies.
        first: int64[b], for each block the likeliest block with the same text.
        once: bool[b], blocks whose text occurs once on the page.
    """
    told = np.zeros(len(content), np.bool_)
    rows = np.flatnonzero(again)
    section = np.cumsum(features.level > 0)
    own = section[rows]
    apart = own != section[first[rows]]
    place = np.arange(len(content))
    before = np.maximum.accumulate(np.where(once, place, -1))[rows]
    after = np.minimum.accumulate(np.where(once, place, len(content))[::-1])[::-1][rows]
    led = before >= np.searchsorted(section, own)
    followed = after < np.searchsorted(section, own, side="right")
    around = features.held[features.above[:, rows]]
    # The distance to a block is the number of elements around the copy that do not contain that block. A block outside
    # the section is farther away than any other.
    back = np.where(led, (around[:, :, 0] > before).sum(axis=0), LEVELS + 1)
    forth = np.where(followed, (around[:, :, 1] <= after).sum(axis=0), LEVELS + 1)
    near = np.append(content, 1.0) >= MEANT
    beside = (led | followed) & (near[before] | (back > forth)) & (near[after] | (forth > back))
    told[rows] = np.where(apart, led & near[before], beside)
    bare = np.flatnonzero(apart & ~led)
    if len(bare):
        path, heading = _paths(features)
        told[rows[bare]] = (path[own[bare]] != path[section[first[rows[bare]]]]) & near[heading[own[bare]]]
    return told


def _paths(features: NoiseFeatures) -> tuple[I64, I64]:
    """Return two arrays int64[s + 1] about the sections of the s headings.

    Entry 0 stands for the text before the first heading. The first array has equal numbers for sections whose headings
    and all headings above them have the same texts. The second array has the block of each section's heading.
    """
    heads = np.flatnonzero(features.level > 0)
    numbers: dict[tuple[int, int], int] = {}
    open_: list[tuple[int, int]] = []  # the level, and the number of the path
    paths = [0]
    for level, text in zip(features.level[heads].tolist(), features.copy[heads].tolist(), strict=True):
        while open_ and open_[-1][0] >= level:
            open_.pop()
        above = open_[-1][1] if open_ else 0
        open_.append((level, numbers.setdefault((above, text), len(numbers) + 1)))
        paths.append(open_[-1][1])
    return np.array(paths, np.int64), np.append(0, heads)


def best_threshold(content: npt.NDArray[np.float64], features: NoiseFeatures) -> float:
    """Return the probability of content above which blocks must be kept for the greatest expected F1 of a page's words.

    This threshold is half of the greatest F1, as for any measure 2 TP / (kept + wanted). The greatest F1 is found by
    keeping one block after the other, from the likeliest on.
    """
    words = features.weight
    order = np.argsort(-content, kind="stable")
    right = np.cumsum((content * words)[order])
    kept = np.cumsum(words[order])
    expected = 2 * right / np.maximum(kept + right[-1], 1e-9)
    return float(expected.max()) / 2


def _reasons(blocks: Blocks, facts: HtmlFacts, features: NoiseFeatures | None) -> I64:
    """Return int64[b], positions in REASONS: the reason for which each block would be removed."""
    count = len(blocks.kind)
    why = np.full(count, REASONS.index("boilerplate"), np.int64)
    linked = facts.link_chars * 5 > facts.text_chars * 3
    why[linked] = REASONS.index("navigation")
    why[blocks.kind == FORM] = REASONS.index("form")
    # The innermost element with a name in _NAMED decides, unless it holds most of the page: <body> has many names.
    page = {
        "names": facts.words.values,
        "name_offsets": facts.words.offsets,
        "last": facts.last,
        "element": facts.element,
        "text_chars": facts.text_chars,
    }
    why = engine().put_reasons(page, known=_NAMES[0], reasons=_NAMES[1], why=why)
    if features is not None:
        why[(features.landmark == PAGER) & (why == REASONS.index("boilerplate"))] = REASONS.index("navigation")
        names, reasons = _WORDS
        values, owner = features.wording
        at = np.minimum(np.searchsorted(names, values), len(names) - 1)
        found = (names[at] == values) & (features.weight[owner] < 60)
        why[owner[found]] = reasons[at[found]]
    why[facts.hidden] = REASONS.index("hidden")
    return why


def _by_rule(blocks: Blocks, facts: HtmlFacts, why: I64) -> Bools:
    named = np.isin(why, [REASONS.index(reason) for reason in _BY_RULE])
    short = facts.text_chars < 200
    return np.asarray(named & (short | facts.hidden) & ~((blocks.kind == HEADING) & (blocks.level == 1)))
