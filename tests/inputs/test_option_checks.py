"""Options as a user meets them: in signatures, in reprs, and in the error for a wrong value."""

from __future__ import annotations

import inspect

import pytest

import pychunk
from pychunk import Placement, Segmenter, Vectors, api
from pychunk.methods import METHODS


@pytest.mark.parametrize(
    "shown",
    [
        "Segmenter('pic')",
        "Segmenter('pic', max_tokens=None, min_tokens=3, overlap=5, vectors='chunk', "
        "placement=Placement(device='auto', threads=2, runtime='auto', precision='auto', cache=None), "
        "unwrap_lines=False, k=0.5)",
        "Segmenter('fixed', max_tokens=90, on_error='skip', size=6, unit='words')",
        "Segmenter('semantic', encoder='static', threshold=('std', 1.0))",
        "Segmenter('nsp', encoder='static', vectors=Vectors(of='chunk', encoder='static'))",
        "Segmenter('recursive', separators=['\\n', ' '])",
        "Segmenter('recursive', min_tokens=0, keep_together=False, balance=True)",
    ],
)
def test_a_segmenter_shows_every_option_that_is_not_its_default(shown: str) -> None:
    names = {"Segmenter": Segmenter, "Placement": Placement, "Vectors": Vectors}
    made = eval(shown, names)
    assert repr(made) == shown
    assert repr(eval(repr(made), names)) == shown


def test_a_segmenter_shows_no_option_that_is_its_default() -> None:
    made = Segmenter(method="fixed", size=200, unit="tokens", max_tokens="auto", overlap=0, encoder=None)
    assert repr(made) == "Segmenter('fixed')"


def test_a_fitted_segmenter_shows_its_threshold() -> None:
    fitted = Segmenter("semantic").fit(["Cats purr. Dogs bark. The sun is a star. Stars burn hydrogen."])
    assert repr(fitted) == f"Segmenter('semantic', threshold={fitted.plan.threshold_value!r})"
    assert pychunk.segment("", "semantic", threshold=fitted.plan.threshold_value).documents == 1


def test_segment_spells_out_the_options_of_a_segmenter() -> None:
    of_call = inspect.signature(Segmenter.__call__).parameters
    spelled = inspect.signature(pychunk.segment).parameters
    for name, option in inspect.signature(Segmenter).parameters.items():
        assert (spelled[name].default, spelled[name].kind, spelled[name].annotation) == (
            option.default,
            option.kind,
            option.annotation,
        )
        assert f"{name}:" in pychunk.segment.__doc__ or f"{name}," in pychunk.segment.__doc__
    assert set(spelled) - set(inspect.signature(Segmenter).parameters) == set(of_call) - {
        "self",
        "unknown",
        "first_document",
    }


@pytest.mark.parametrize(
    ("method", "option", "said"),
    [
        ("pic", "max_token", "did you mean 'max_tokens'?"),
        ("pic", "overlapp", "did you mean 'overlap'?"),
        ("fixed", "sise", "did you mean 'size'?"),
        ("pic", "size", "it is an option of 'fixed', 'recursive', 'structure' and 'topic'"),
        (
            "pic",
            "title",
            "did you mean 'titles'? Then pass columns={'titles': ...} with the name of a column, or with one value "
            "for each document",
        ),
        ("sentence", "tresholds", "did you mean 'threshold', which is an option of 'semantic' and 'nsp'?"),
        (
            "pic",
            "zzz",
            "min_tokens, overlap, vectors, augment, placement, on_error, keep_together, unwrap_lines, tokenizer",
        ),
    ],
)
def test_a_wrong_option_names_all_options_and_the_nearest(method: str, option: str, said: str) -> None:
    for call in (lambda: Segmenter(method, **{option: 1}), lambda: pychunk.segment("A text.", method, **{option: 1})):
        with pytest.raises(ValueError, match=f"^method '{method}' has no option '{option}'; it") as error:
            call()
        message = str(error.value)
        assert message.endswith(said)
        own = inspect.signature(METHODS[method]).parameters
        assert ("its options are " + ", ".join(own) if own else "it has no options of its own") in message
        assert "; the options of every method are encoder, max_tokens, min_tokens, overlap, vectors" in message


def test_segment_keeps_one_segmenter_for_equal_options(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, object]] = []

    class Counted(Segmenter):
        def __init__(self, method: str | None = None, **options: object) -> None:
            made.append({"method": method, **options})
            super().__init__(method, **options)

    monkeypatch.setattr(api, "Segmenter", Counted)
    monkeypatch.setattr(api, "_segmenters", {})
    text = "Cats purr. Dogs bark. The sun is a star."
    for _ in range(2):
        plain = pychunk.segment(text)
        assert (
            pychunk.segment(text, max_tokens="auto", encoder=None, min_tokens="auto", keep_together="auto").table
            == plain.table
        )
        pychunk.segment(text, "fixed", size=5, vectors="chunk", placement=pychunk.Placement(threads=1))
    one = pychunk.Placement(threads=1)
    assert made == [{"method": None}, {"method": "fixed", "size": 5, "vectors": "chunk", "placement": one}]
    pychunk.segment(text, min_tokens=0)
    for wrong in (False, 0.0):  # equal to 0, but not an integer
        with pytest.raises(ValueError, match="min_tokens must be a whole number"):
            pychunk.segment(text, min_tokens=wrong)
    pychunk.segment(text, keep_together=True)
    with pytest.raises(ValueError, match="keep_together must be True or False; got 1"):
        pychunk.segment(text, keep_together=1)
    pychunk.segment(text, overlap=1)
    with pytest.raises(ValueError, match="overlap must be a whole number"):
        pychunk.segment(text, overlap=True)
