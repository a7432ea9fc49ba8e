"""Formulas of HTML are each read once, in every notation."""

import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from html_walks import check

from pychunk.parsing.html import page as html

_TEX = (
    "<math><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow>"
    '<annotation encoding="application/x-tex">E=mc^2</annotation></semantics></math>'
)
_KATEX = (
    f'<span class="katex"><span class="katex-mathml">{_TEX}</span>'
    '<span class="katex-html" aria-hidden="true"><span>E</span><span>=mc2</span></span></span>'
)
_WIKI = (
    '<span class="mwe-math-mathml-inline" style="display: none;"><math alttext="{\\displaystyle x^{2}}"><mi>x</mi>'
    '</math></span><img class="mwe-math-fallback-image-inline" alt="{\\displaystyle x^{2}}" src="x.svg">'
)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (f"<p>The mass {_KATEX} is known.", "The mass $E=mc^2$ is known."),
        (f"<p>So <span class=katex-display>{_KATEX}</span> holds.", "So\n\n$$E=mc^2$$\n\nholds."),
        ("<p>Of <span class=katex><span class=katex-html>x</span></span> alone", "Of x alone"),
        (f"<p>Here {_WIKI} there", "Here $x^{2}$ there"),
        ("<p>And <img class=mwe-math-fallback-image-inline alt='{\\displaystyle x^{2}}'> there", "And $x^{2}$ there"),
        ("<p>a <math><msup><mi>x</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msup><mo>=</mo>"
         "<mfrac><mn>1</mn><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></mfrac><msqrt><msub><mi>y</mi><mi>i</mi></msub>"
         "</msqrt></math> b", "a x^{n+1}=1/(a+b)sqrt(y_i) b"),
        ("<p>a <math display=block alttext='x+y'></math>", "a\n\n$$x+y$$"),
        ("<p>a <mjx-container><mjx-math>q</mjx-math><mjx-assistive-mml><math><mi>x</mi></math></mjx-assistive-mml>"
         "</mjx-container> b", "a x b"),
        (f"<table><tr><td>{_KATEX}<td>{_WIKI}<tr><td>c<td>d</table>",
         "|  |  |\n| --- | --- |\n| $E=mc^2$ | $x^{2}$ |\n| c | d |"),
        (f"<h2>Of {_KATEX}</h2>", "## Of $E=mc^2$"),
    ],
)  # fmt: skip
def test_formulas_are_read_once(page: str, text: str) -> None:
    assert html.parse_html(page).text == text + "\n"
    assert check(page)


def test_scripts_of_mathjax_are_formulas() -> None:
    page = (
        '<p>And <span class="MathJax_Preview">p</span><span class="MathJax">ab</span>'
        '<script type="math/tex">a^2<b^2</script> here<script type="math/tex; mode=display">c</script>'
    )
    assert html.parse_html(page).text == "And $a^2<b^2$ here\n\n$$c$$\n"
