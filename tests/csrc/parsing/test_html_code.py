"""Code of HTML keeps its lines, without line numbers."""

import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from html_walks import check

from pychunk.parsing.html import page as html

_GITHUB = (
    "<table class=highlight><tr><td class=blob-num data-line-number=1></td><td class=blob-code><span>def</span> f():"
    "</td></tr><tr><td class=blob-num data-line-number=2></td><td class=blob-code></td></tr>"
    "<tr><td class=blob-num data-line-number=3></td><td class=blob-code>    return 1</td></tr></table>"
)
_PYGMENTS = (
    "<table class=highlighttable><tr><td class=linenos><div class=linenodiv><pre>1\n2</pre></div></td>"
    "<td class=code><div><pre>for x in y:\n    print(x)\n</pre></div></td></tr></table>"
)
_HEXO = (
    "<figure class='highlight'><table><tr><td class=gutter><pre>1<br>2</pre></td>"
    "<td class=code><pre>a<br>  b</pre></td></tr></table></figure>"
)
_ROUGE = (
    "<div class='language-ruby highlighter-rouge'><div class=highlight><pre class=highlight><code>"
    "<table class=rouge-table><tbody><tr><td class='rouge-gutter gl'><pre class=lineno>1\n2\n</pre></td>"
    "<td class=rouge-code><pre>def a\n  1\n</pre></td></tr></tbody></table></code></pre></div></div>"
)
_DOXYGEN = (
    "<div class=fragment><div class=line><a id=l1></a><span class=lineno>   1</span><a href=c.html>Pump</a> {</div>"
    "<div class=line><span class=lineno>   2</span>  int <a href=c.html>speed</a>;</div></div>"
)
_PRISM = "<pre><code class='language-php line-numbers'>echo 1;\n  echo 2;</code></pre>"
_DOXYGEN_SOURCE = (
    "<div class=fragment>\n<div class=line><span class=lineno>    1</span>int x;</div>\n"
    "<div class=line><span class=lineno>    2</span></div>\n"
    "<div class=line><span class=lineno>    3</span>  <b>y</b>;</div>\n</div>"
)
_SPHINX = (
    "<div class='highlight-python3 notranslate'><div class=highlight><pre>a<button class=copybtn>Copy</button></pre>"
)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (_GITHUB, "```\ndef f():\n\n    return 1\n```"),
        (_PYGMENTS, "```\nfor x in y:\n    print(x)\n```"),
        (_HEXO, "```\na\n  b\n```"),
        (_ROUGE, "```ruby\ndef a\n  1\n```"),
        (_DOXYGEN, "```\nPump {\n  int speed;\n```"),
        (_DOXYGEN_SOURCE, "```\nint x;\n\n  y;\n```"),
        (_PRISM, "```php\necho 1;\n  echo 2;\n```"),
        ("<pre class=line-numbers>a = 1\n<span class=ln>7</span>b</pre>", "```\na = 1\nb\n```"),
        (_SPHINX, "```python3\na\n```"),
        ("<pre><span class=linenos>1</span>a = 1\n<span class=linenos>2</span>b = 2</pre>", "```\na = 1\nb = 2\n```"),
        ("<pre><code class='hljs language-c++'>a</code></pre><pre>b</pre>", "```c++\na\n```\n\n```\nb\n```"),
        ("<div class='fragment'><p>Said.</div>", "Said."),
        # A column of codes is a column of a table.
        (
            "<table><tr><td>Ghana<td class=code>GH<tr><td>Chad<td class=code>TD</table>",
            "|  |  |\n| --- | --- |\n| Ghana | GH |\n| Chad | TD |",
        ),
    ],
)
def test_code_has_its_lines_and_no_numbers(page: str, text: str) -> None:
    assert html.parse_html(page).text == text + "\n"
    assert check(page)
