"""Noise in pages: by the model and by rules, the arithmetic of both, and the model's training."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from pychunk._engine.data.blocks import Blocks
from pychunk._util.checksums import sha256
from pychunk.parsing.html import noise, noise_model
from pychunk.parsing.html.noise import REASONS, best_threshold, copies, find_noise
from pychunk.parsing.html.noise_features import DENSE, NoiseFeatures, noise_features
from pychunk.parsing.html.noise_model import FACTS, SHIPPED, WEIGHTS, NoiseModel
from pychunk.parsing.html.page import HtmlPage, parse_html
from training.noise_pages import content_of, f1, words_of

PROSE = (
    "The river rises in the hills north of the town and runs for forty miles before it meets the sea. For most of the "
    "year it is shallow enough to walk across, but in spring the melting snow makes it dangerous, and people who live "
    "beside it have learned to watch the colour of the water. "
)
PAGE = f"""<!doctype html><html><head><title>The river - Town News</title></head><body>
<div id="onetrust-consent" class="cookie-banner"><p>We use cookies to improve your experience.</p>
<button>Accept all</button></div>
<header><nav class="main-nav"><ul><li><a href="/">Home</a><li><a href="/n">News</a>
<li><a href="/s">Sport</a></ul></nav></header>
<main><article class="post"><h1>The river</h1>
<div class="share-buttons"><a href="#">Share on Facebook</a> <a href="#">Tweet</a></div>
<p>{PROSE}</p><p>{PROSE[50:]}</p><h2>In spring</h2><p>{PROSE[20:]}</p>
<table><tr><th>Month</th><th>Depth</th></tr><tr><td>April</td><td>3 m</td></tr></table>
</article><aside class="related-posts"><h3>Related articles</h3><ul><li><a href="/1">Ten bridges to see</a>
<li><a href="/2">Fishing rights explained</a></ul></aside>
<div class="newsletter-signup"><p>Subscribe to our newsletter</p><form><button>Sign up</button></form></div></main>
<footer><p>© 2024 Town News. All rights reserved.</p><a href="/p">Privacy policy</a></footer></body></html>"""
FORUM = (
    "<html><head><title>Pump fails - Forum</title></head><body><div class='nav'><a>Forums</a> <a>Log in</a></div>"
    + (
        "<div class='thread'><h1>Pump fails after an hour</h1>"
        + "".join(
            f"<div class='post'><div class='author'><a href='/u{number}'>user{number}</a></div>"
            f"<div class='message'><p>{text}</p></div></div>"
            for number, text in enumerate(
                [
                    "My pump stops after it has run for about an hour, and I have no idea why. Serviced in March.",
                    "Mine did the same. Check the filter first, it was full of sand when I opened it up.",
                    "Thanks, that was it! I cleaned the filter and it has been running since yesterday.",
                    "If it happens again you should look at the thermal switch, which is behind the cover.",
                ]
            )
        )
        + "</div><div class='footer'><a>Terms</a> <a>Contact us</a></div></body></html>"
    )
)
PRODUCT = (
    "<html><body><nav><a>Shop</a> <a>Sale</a></nav><div class='product'><h1>Garden pump GP 200</h1>"
    f"<div class='product-description'><p>{PROSE}</p></div><h2>Specifications</h2><table class='specs'>"
    "<tr><th>Power</th><td>200 W</td></tr><tr><th>Weight</th><td>3.4 kg</td></tr><tr><th>Cable</th><td>10 m</td></tr>"
    "</table></div><footer>© Pumps Ltd</footer></body></html>"
)


def by_text(page: HtmlPage, how: str = "model") -> dict[str, str]:
    """Return each block's text (without marks) and its reason for removal."""
    removed, score, reasons = find_noise(page.blocks, page.facts, page.text, how, title=page.title)
    assert len(removed) == len(score) == len(reasons) == len(page.blocks.kind)
    assert removed.dtype == bool
    assert score.dtype == np.float32
    assert all(bool(reason) == bool(gone) for reason, gone in zip(reasons, removed))
    spans = zip(page.blocks.start.tolist(), page.blocks.end.tolist(), reasons)
    return {page.text[start:end].lstrip("#->| 0123456789."): reason for start, end, reason in spans}


@pytest.mark.parametrize("how", ["model", "rules"])
def test_an_article_among_what_sites_put_around_it(how: str) -> None:
    found = by_text(parse_html(PAGE), how)
    for text, reason in {
        "We use cookies to improve your experience.": "cookies",
        "Home": "navigation",
        "Sport": "navigation",
        "Share on Facebook Tweet": "social",
        "Ten bridges to see": "related",
        "Subscribe to our newsletter": "subscription",
        "© 2024 Town News. All rights reserved.": "footer",
    }.items():
        assert found[text] == reason, text
    kept = [text for text, reason in found.items() if not reason]
    assert sum("melting snow" in text for text in kept) == 3
    if how == "rules":  # people disagree about titles, and so does the model
        assert {"The river", "In spring"} <= set(kept)
        assert any("April" in text for text in kept)


@pytest.mark.parametrize("how", ["model", "rules"])
def test_replies_of_forums_and_specifications_of_products_are_content(how: str) -> None:
    found = by_text(parse_html(FORUM), how)
    for text, reason in found.items():
        if len(text) > 60:
            assert not reason, text
    found = by_text(parse_html(PRODUCT), how)
    assert not next(reason for text, reason in found.items() if "200 W" in text)
    assert not found[PROSE.strip()]
    assert found["© Pumps Ltd"]


def test_hidden_blocks_and_copies_say_so() -> None:
    page = parse_html(
        f"<p>{PROSE}<div class=x><p>Read more here</div><p>{PROSE[9:]}<div class=x><p>Read more here</div>"
        f"<div hidden><a>Close</a></div>"
    )
    removed, _, reasons = find_noise(page.blocks, page.facts, page.text, threshold=0.0)
    assert removed.all()
    assert reasons == ["boilerplate", "boilerplate", "boilerplate", "boilerplate", "hidden"]


def test_how_and_threshold() -> None:
    page = parse_html(PAGE)
    removed, score, reasons = find_noise(page.blocks, page.facts, page.text, "off")
    assert not removed.any()
    assert not score.any()
    assert set(reasons) == {""}
    few, score, _ = find_noise(page.blocks, page.facts, page.text, threshold=0.9)
    many, _, _ = find_noise(page.blocks, page.facts, page.text, threshold=0.1)
    assert few.tolist() == (score > 0.9).tolist()
    assert few.sum() <= many.sum()
    for call in ({"how": "llm"}, {"threshold": 1.5}, {"threshold": float("nan")}):
        with pytest.raises(ValueError, match="noise"):
            find_noise(page.blocks, page.facts, page.text, **call)
    nothing = parse_html("")
    assert find_noise(nothing.blocks, nothing.facts, "")[2] == []


def test_pages_of_very_many_blocks_are_judged_by_names(monkeypatch: pytest.MonkeyPatch) -> None:
    page = parse_html(PAGE)
    ruled = find_noise(page.blocks, page.facts, page.text, "rules")
    monkeypatch.setattr(noise, "MAX_BLOCKS", 5)
    removed, score, reasons = find_noise(page.blocks, page.facts, page.text)
    assert removed.tolist() == ruled[0].tolist()
    assert set(score.tolist()) == {0.0, 1.0}
    assert {"navigation", "footer", "related"} <= set(reasons)


def test_the_default_threshold_keeps_the_blocks_of_greatest_expected_f1() -> None:
    page = parse_html("".join(f"<p>{'word ' * size}" for size in (40, 30, 20, 10)))
    features = noise_features(page.blocks, page.facts, page.text)
    content = np.array([0.4, 0.3, 0.1, 0.02])
    words = features.weight

    def expected(kept: np.ndarray) -> float:
        return float(2 * (content * words)[kept].sum() / (words[kept].sum() + (content * words).sum()))

    best = max(expected(np.array(each, bool)) for each in np.ndindex(2, 2, 2, 2))
    assert expected(content > best_threshold(content, features)) == pytest.approx(best)


_WORDS = "<nav> </nav> <p> <div_class='menu'> </div> <li> <a> </a> <h1> <table><tr><td> <td> </table> <form> <button>"
_WORDS += " Home cookies © 12 <br> <footer> <div_hidden>"
_PIECES = st.sampled_from([word.replace("_", " ") for word in _WORDS.split()]) | st.text(max_size=20)


@given(st.lists(_PIECES, max_size=30).map(" ".join))
@settings(max_examples=60, deadline=None)  # the first page loads the model
def test_any_page_has_features_scores_and_reasons(markup: str) -> None:
    page = parse_html(markup)
    features = noise_features(page.blocks, page.facts, page.text, page.title)
    assert features.dense.shape == (len(page.blocks.kind), DENSE)
    assert np.array_equal(features.dense * 64, np.rint(features.dense * 64))
    for how in ("model", "rules"):
        removed, score, reasons = find_noise(page.blocks, page.facts, page.text, how)
        again = find_noise(page.blocks, page.facts, page.text, how)
        assert removed.tolist() == again[0].tolist()
        assert score.tobytes() == again[1].tobytes()
        assert set(reasons) <= {*REASONS, ""}


def test_a_block_far_away_changes_scores_only_by_what_the_page_shares() -> None:
    """Features of a page depend only on the page, not on earlier ones."""
    first = find_noise(*_given(parse_html(PAGE)))[1]
    for other in (FORUM, PRODUCT):
        find_noise(*_given(parse_html(other)))
    assert first.tobytes() == find_noise(*_given(parse_html(PAGE)))[1].tobytes()


def _given(page: HtmlPage) -> tuple:
    return page.blocks, page.facts, page.text


def test_the_shipped_model_is_small_and_what_its_facts_say(tmp_path) -> None:
    facts = json.loads((SHIPPED / FACTS).read_text())
    assert (SHIPPED / WEIGHTS).stat().st_size == facts["bytes"] <= 200_000
    assert sha256(SHIPPED / WEIGHTS) == facts["weights_sha256"]
    with pytest.raises(ValueError, match="missing"):
        NoiseModel(tmp_path)
    (tmp_path / FACTS).write_text(json.dumps(facts))
    (tmp_path / WEIGHTS).write_bytes((SHIPPED / WEIGHTS).read_bytes()[:-1] + b"x")
    with pytest.raises(ValueError, match=r"noise\.npz"):
        NoiseModel(tmp_path)
    (tmp_path / FACTS).write_text(json.dumps({**facts, "format": 2}))
    with pytest.raises(ValueError, match="format 2"):
        NoiseModel(tmp_path)


def test_f1_and_what_of_blocks_is_content() -> None:
    assert f1([], []) == 1
    assert f1(["a"], []) == 0
    assert f1(words_of("A, b b"), words_of("b c")) == pytest.approx(0.4)
    wanted = words_of("The river rises in the hills north of town. Contact the author.")
    blocks = [
        "Home",
        "The river rises in the hills north of town",
        "rises in the hills of Mars and of Venus",
        "Contact",
    ]
    found = content_of([words_of(block) for block in blocks], wanted)
    assert found.tolist() == pytest.approx([0, 1, 2 / 7, 1])
    copies = content_of(
        [words_of(text) for text in ("Contact", "menu", "a b c d e f", "river rises in the hills")], wanted
    )
    assert copies.tolist() == [1, 0, 0, 1]


def test_of_copies_those_near_content_are_content() -> None:
    wanted = words_of("Price. A long text of the product that people marked as its own description. 9")
    blocks = ["9", "menu menu menu menu menu menu", "Price", "A long text of the product that people marked", "9"]
    assert content_of([words_of(block) for block in blocks], wanted).tolist() == [0, 0, 1, 1, 1]


def test_each_marked_word_is_given_to_one_block() -> None:
    """A menu names sections of the text, and narrow screens have a copy of it; neither is content."""
    wanted = words_of("We went home by the river because the bridge was closed. The river was low.")
    prose = "We went home by the river because the bridge was closed."
    blocks = ["Home", "The river", prose, "The river was low.", prose, "Bridge"]
    found = content_of([words_of(block) for block in blocks], wanted)
    assert found.tolist() == [0, 0, 1, 1, 0, 0]


def test_of_copies_of_a_paragraph_the_likeliest_is_kept_and_the_others_say_why() -> None:
    # a template repeats it in full, for narrow screens
    narrow = f"<h2>The bridge</h2><p>{PROSE}</p><p>{PROSE[50:]}</p>"
    page = parse_html(f"<main><h1>The river</h1><p>{PROSE[20:]}</p>{narrow}</main><div class=narrow>{narrow}</div>")
    removed, score, reasons = find_noise(page.blocks, page.facts, page.text, title=page.title)
    for row in (3, 4):
        assert removed[[row, row + 3]].sum() == 1
        gone = row if removed[row] else row + 3
        assert (reasons[gone], score[gone]) == ("duplicate", 1)
        assert score[2 * row + 3 - gone] < score[gone]


def test_copies_are_of_the_likeliest_block() -> None:
    features = _features(f"<h2>A</h2><p>{PROSE}</p><h2>A</h2><p>{PROSE}</p>")
    assert copies(np.array([0.1, 0.6, 0.1, 0.7]), features).tolist() == [False, True, False, False]
    assert copies(np.array([0.1, 0.7, 0.1, 0.7]), features).tolist() == [False, False, False, True]
    # replies and prices, which are short
    assert not copies(np.zeros(3), _features("<p>Me too!<p>Me too!<p>Me too!")).any()


LAST = "Turn the power on again and look at the lamp until it is green for one whole minute."
WARNING = "Warning: never work on the pump while the main switch is on, or you may lose a finger."


def _procedure(part: str, heading: str) -> str:
    return f"{heading}<ol><li>Take the {part} out of its holder with the small key.<li>{LAST}</ol><p>{WARNING}</p>"


@pytest.mark.parametrize(
    "body",
    [
        "".join(_procedure(part, f"<h2>Change the {part}</h2>") for part in ("wheel", "dial", "hose", "lamp")),
        "".join(_procedure(part, f"<h2>The {part}</h2><h3>Change it</h3>") for part in ("wheel", "dial", "hose")),
        "".join(_procedure(part, f"<p><b>Change the {part} in five minutes</b></p>") for part in ("wheel", "dial")),
        "".join(f"<dl><dt>pump.{name}(speed)<dd><p>Sets how it {name}s, in litres.<p>{LAST}<p>{WARNING}</dl>"
                for name in ("run", "stop", "drain")),
        "".join(f"<h3>{name}</h3><ol><li>{LAST}</ol><h4>Safety</h4><p>{WARNING}</p>" for name in ("Run", "Drain")),
    ],
)  # fmt: skip
def test_what_a_manual_repeats_in_each_section_is_content(body: str) -> None:
    page = parse_html(
        f"<title>The pump</title><main><h1>The pump</h1><p>{PROSE}</p>{body}</main><footer>© Pumps</footer>"
    )
    removed, _, _ = find_noise(page.blocks, page.facts, page.text, title=page.title)
    kept = [page.text[start:end] for start, end in zip(page.blocks.start[~removed], page.blocks.end[~removed])]
    for line in (LAST, WARNING):
        assert sum(line in text for text in kept) == body.count(line)


def test_notes_between_entries_are_content_and_copies_among_noise_are_not() -> None:
    features = _features("".join(f"<p>os.{name}(fd) is called once more here.<p>{PROSE}" for name in "abc"))
    content = np.full(6, 0.9)
    assert not copies(content, features).any()
    content[4] = 0.1  # an entry that is not one: its neighbour may be a teaser
    assert copies(content, features).tolist() == [False, False, False, True, False, True]


def test_a_reason_is_why_a_block_goes() -> None:
    """Two links of a menu are equal, and each is noise by itself; the copy of a paragraph is removed as a copy."""
    menu = "<ul class=menu><li><a href=/a>Pumps and wells of the north and south</a></ul>"
    narrow = f"<h2>The bridge</h2><p>{PROSE}</p>"
    page = parse_html(f"{menu}<main><h1>The river</h1><p>{PROSE[20:]}</p>{narrow}</main>{menu}<div>{narrow}</div>")
    removed, _, reasons = find_noise(page.blocks, page.facts, page.text, title=page.title)
    assert [reason for reason, gone in zip(reasons, removed) if gone].count("navigation") == 2
    assert reasons.count("duplicate") == 1


def test_a_sentence_that_a_manual_repeats_by_itself_is_no_copy() -> None:
    again = "<p>The named group must be a string."
    alone = _features(f"<p>Gets what is stored.{again}<p>Sets it.{again}<p>Tells whether it is there.{again}")
    assert not copies(np.ones(6), alone).any()
    twice = _features(f"<p>Gets what is stored in it.{again}<p>Gets what is stored in it.{again}")
    assert copies(np.ones(4), twice).tolist() == [False, False, True, True]


def _features(markup: str) -> NoiseFeatures:
    page = parse_html(markup)
    return noise_features(page.blocks, page.facts, page.text)


@pytest.mark.slow
def test_training_gives_the_same_weights_twice_and_its_twin_scores_alike() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: the extra train")
    from training import noise_fit
    from training.noise_pages import page_of

    pages = [
        page_of(page.encode(), text, "article", f"d{number}.com")
        for number, (page, text) in enumerate([(PAGE, PROSE * 3), (FORUM, FORUM), (PRODUCT, PROSE)] * 8)
    ]
    plan = noise_fit.Plan(nets=1, epochs=3, batch=4, words=50)
    first, again = noise_fit.fit(pages, plan), noise_fit.fit(pages, plan)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    model = NoiseModel.of(first, {"scale": 1.0})
    vocabularies = {name: first[name] for name in ("names", "wordings", "pages")}
    net = noise_fit.network(plan, vocabularies).eval()
    for name, table in net.words.items():
        table.weight.data = torch.from_numpy(first[name].astype(np.float32) / noise_model.WORD_STEPS)
    for name, part in net.parts.items():
        part.weight.data = torch.from_numpy(first[f"0_{name}_weight"].T.astype(np.float32) / noise_model.STEPS)
        part.bias.data = torch.from_numpy(first[f"0_{name}_bias"].astype(np.float32) / noise_model.STEPS)
    for page in pages[:3]:
        with torch.no_grad():
            wanted = torch.sigmoid(net(noise_fit.batch_of([noise_fit.Lesson(page, vocabularies)]))).numpy()
        assert np.allclose(model.content(page.features), wanted, atol=0.02)


def test_nothing_is_learned_from_the_pages_that_fit_worst() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: the extra train")
    from training import noise_fit

    scores = torch.tensor([4.0, -4.0, 4.0, -4.0, -4.0, 4.0], requires_grad=True)
    given = {  # three pages of two blocks; the last is marked wrongly on purpose
        "of": torch.tensor([0, 0, 1, 1, 2, 2]),
        "content": torch.tensor([1.0, 0, 1, 0, 1, 0]),
        "size": torch.tensor([50.0, 9, 40, 9, 30, 9]),
        "wanted": torch.tensor([50.0, 40, 30]),
    }
    each = [noise_fit.loss_of(lambda part: part["found"], _of_page(given, scores, page), 0.7) for page in range(3)]
    found = noise_fit.loss_of(lambda _: scores, given, 0.7)
    assert found.item() == pytest.approx(sum(one.item() for one in each) / 3)
    trimmed = noise_fit.loss_of(lambda _: scores, given, 0.7, trimmed=0.3)
    assert trimmed.item() == pytest.approx((each[0].item() + each[1].item()) / 2)
    trimmed.backward()
    assert (scores.grad != 0).tolist() == [True, True, True, True, False, False]
    assert noise_fit.loss_of(lambda _: scores, given, 0.7, trimmed=0.99).item() == pytest.approx(min(each).item())


def test_what_a_network_is_told_is_by_networks_that_saw_neither_the_page_nor_what_it_must_not() -> None:
    from training.noise import teachers_of
    from training.noise_pages import FOLDS

    pupils = [*((fold,) for fold in range(FOLDS)), ()]
    for pupil in pupils:
        teachers = teachers_of(pupil)
        assert set(teachers) == set(range(FOLDS)) - set(pupil)
        assert all(fold in without and set(pupil) <= set(without) for fold, without in teachers.items())


def test_a_label_is_the_mark_and_in_part_what_other_networks_say() -> None:
    pytest.importorskip("torch", reason="needs torch: the extra train")
    from training import noise_fit
    from training.noise_pages import page_of

    page = page_of(PAGE.encode(), PROSE * 3, "article", "d.com")
    known = {name: np.zeros(1, np.uint32) for name in ("names", "wordings", "pages")}
    own = noise_fit.Lesson(page, known)
    assert np.array_equal(own.content, page.content)
    assert own.wanted == len(page.wanted)
    told = noise_fit.Lesson(page, known, np.full(len(page.words), 0.5), 0.2)
    assert np.allclose(told.content, 0.8 * page.content + 0.1)
    expected = sum(share * len(words) for share, words in zip(told.content.tolist(), page.words, strict=True))
    assert told.wanted == pytest.approx(0.8 * len(page.wanted) + 0.2 * expected)


def _of_page(given: dict[str, Any], scores: Any, page: int) -> dict[str, Any]:
    here = given["of"] == page
    return {
        "of": given["of"][here] * 0,
        "content": given["content"][here],
        "size": given["size"][here],
        "wanted": given["wanted"][page : page + 1],
        "found": scores[here],
    }


def test_blocks_of_other_formats_are_left_alone() -> None:
    blocks = Blocks.of([[("paragraph", 0, 0, 4)]])
    page = parse_html("<p>text")
    assert find_noise(blocks, page.facts, "text", "off")[0].tolist() == [False]
