"""Features and the noise model in the native core: bit for bit those of NumPy on any page."""

from dataclasses import replace

import numpy as np
import pytest
from amounts import amounts
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from real_pages import NO_PAGES, real_pages

from pychunk._engine import native
from pychunk._engine.engine import engine
from pychunk.parsing.html import noise, noise_features, noise_model
from pychunk.parsing.html.noise import find_noise
from pychunk.parsing.html.page import parse_html

_TEXTS = ["One of the rivers", "Home", "© 12", "ΑΣ", "İstanbul", "\ud800", "Straße, 7!", "word " * 30, "a.b?c:", "…"]
_TAGS = [
    "div",
    "p",
    "nav",
    "ul",
    "li",
    "a",
    "b",
    "h1",
    "h2",
    "table",
    "tr",
    "td",
    "footer",
    "article",
    "form",
    "button",
]
_PIECES = st.one_of(
    st.sampled_from(_TAGS).map("<{}>".format),
    st.sampled_from(_TAGS).map("</{}>".format),
    st.sampled_from(
        ["<div class='menu share'>", "<p hidden>", "<section id=main role=main>", "<title>One river</title>"]
    ),
    st.sampled_from(_TEXTS),
    st.text(max_size=12),
)


def check(markup: str | bytes) -> None:
    page = parse_html(markup)
    if not len(page.blocks.kind):
        return
    given_ = (page.blocks, page.facts, page.text, page.title)
    fast = noise_features.noise_features(*given_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYCHUNK_BACKEND", "reference")
        slow = noise_features.noise_features(*given_)
    for name, one, other in zip(fast._fields, fast, slow, strict=True):
        pairs = zip(one, other, strict=True) if isinstance(one, tuple) else [(one, other)]
        for left, right in [(one.values, other.values)] if name == "names" else pairs:
            assert left.dtype == right.dtype, name
            assert left.shape == right.shape, name
            assert left.tobytes() == right.tobytes(), name
    model = noise_model.load()
    assert model.sums(slow, "native").tobytes() == model.sums(slow, "reference").tobytes()
    why = np.arange(len(page.blocks.kind)) % len(noise.REASONS)
    names, reasons = noise._NAMES
    words = {"names": page.facts.words.values, "name_offsets": page.facts.words.offsets, "last": page.facts.last}
    words |= {"element": page.facts.element, "text_chars": page.facts.text_chars}
    put = [engine(name).put_reasons(words, known=names, reasons=reasons, why=why) for name in ("native", "reference")]
    assert put[0].tolist() == put[1].tolist()
    numbers: dict[str, int] = {}
    spans = zip(page.blocks.start.tolist(), page.blocks.end.tolist(), strict=True)
    assert slow.copy.tolist() == [numbers.setdefault(page.text[start:end], len(numbers)) for start, end in spans]


@pytest.mark.slow
@given(st.lists(_PIECES, max_size=60).map("".join))
@settings(max_examples=150, deadline=None)  # the first page loads the model
def test_features_and_sums_are_those_of_numpy(markup: str) -> None:
    check(markup)


@pytest.mark.parametrize(
    "markup",
    [
        "",
        "<p>x",
        "<title>The old river</title><h1>The old river</h1><p>İn the <b>ΣΑΣ</b></p><p>ΑΣ</p><p>Σ",
        "<h2>No first heading</h2>" + "<div class='post item'><p>" + "Some prose, as it is. " * 9 + "</div>" * 3,
        "<div>" * 20 + "<p>deep" + "</div>" * 20 + "<p>x<p>x<p>x",
        "".join(f"<section id=s{n}><h1>T{n}</h1><p>{'word ' * n}</p></section>" for n in range(40)),
    ],
)
def test_odd_pages_have_the_same_features_and_sums(markup: str) -> None:
    check(markup)


def test_what_is_no_page_is_refused() -> None:
    page = parse_html("<h1>One</h1><p>two three</p>")
    features = noise_features.noise_features(page.blocks, page.facts, page.text)
    model = noise_model.load()
    for bad in (
        {"near": features.near + 9},
        {"dense": features.dense[:, 1:]},
        {"weight": features.weight[1:]},
        {"path": features.path[:, 1:]},
    ):
        with pytest.raises(ValueError, match=r"must|layer"):
            model.sums(features._replace(**bad))
    facts = page.facts
    for name, value in (("parent", facts.parent + 9), ("last", facts.last + 9), ("element", facts.element[::-1])):
        changed = replace(facts, **{name: np.ascontiguousarray(value)})
        with pytest.raises(ValueError, match=name):
            noise_features.noise_features(page.blocks, changed, page.text)


def test_the_reference_finds_the_same_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    page = parse_html(
        "<nav><a>Home</a></nav><main><h1>Cats</h1><p>Cats purr when they are at ease, and when not.</main>"
    )
    fast = find_noise(page.blocks, page.facts, page.text, title=page.title)
    monkeypatch.setenv("PYCHUNK_BACKEND", "reference")
    monkeypatch.setattr(native, "noise_columns", None)
    monkeypatch.setattr(native, "noise_network", None)
    monkeypatch.setattr(native, "block_words", None)
    monkeypatch.setattr(native, "put_reasons", None)
    slow = find_noise(page.blocks, page.facts, page.text, title=page.title)
    assert fast[0].tolist() == slow[0].tolist()
    assert fast[1].tobytes() == slow[1].tobytes()
    assert fast[2] == slow[2]


@pytest.mark.slow
@pytest.mark.parametrize("step", amounts(10, 1))
def test_real_pages_have_the_same_features_and_sums(step: int) -> None:
    count = 0
    for page in real_pages(step):
        check(page)
        count += 1
    if not count:
        pytest.skip(NO_PAGES)
