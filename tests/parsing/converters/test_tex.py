"""LaTeX keeps its text; headings, items, code and tables are blocks."""

import pytest
from block_parts import between, parts
from hypothesis import given
from hypothesis import strategies as st

import pychunk
from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.converters.tex import convert

TEXT = r"""\documentclass{article}
\title{On {\em Cats}}
\begin{document}
\section[short]{Where \textbf{they} live}\label{live}
In houses, % \section{not one}
mostly.

And 5\% outside.
\begin{itemize}
\item One.
\begin{enumerate}
\item Nested.
\end{enumerate}
\item Two.
\end{itemize}
After.
\begin{verbatim}
x = 1

\section{no}
\end{verbatim}
\subsection*{Food}
\begin{tabular}{ll}
a & b \\
\end{tabular}
\end{document}
"""


def test_blocks() -> None:
    found = convert(TEXT.encode())
    assert found.text == TEXT
    assert found.title == r"On {\em Cats}"
    assert parts(found) == [
        ("front_matter", 0, "\\documentclass{article}\n\\title{On {\\em Cats}}"),
        ("paragraph", 0, r"\begin{document}"),
        ("code", 1, r"\section[short]{"),
        ("heading", 1, r"Where \textbf{they} live"),
        ("paragraph", 0, "\\label{live}\nIn houses, % \\section{not one}\nmostly."),
        ("paragraph", 0, r"And 5\% outside."),
        ("paragraph", 0, r"\begin{itemize}"),
        ("item", 1, r"\item One."),
        ("paragraph", 0, r"\begin{enumerate}"),
        ("item", 2, r"\item Nested."),
        ("item", 1, r"\end{enumerate}"),
        ("item", 1, r"\item Two."),
        ("paragraph", 0, "\\end{itemize}\nAfter."),
        ("code", 0, "\\begin{verbatim}\nx = 1\n\n\\section{no}\n\\end{verbatim}"),
        ("code", 2, r"\subsection*{"),
        ("heading", 2, "Food"),
        ("table", 0, "\\begin{tabular}{ll}\na & b \\\\\n\\end{tabular}"),
        ("paragraph", 0, r"\end{document}"),
    ]
    assert between(found) == "}}"


def test_a_section_begins_with_its_command() -> None:
    found = convert(TEXT.encode())
    chunks = pychunk.segment([found.text], "structure", size=40, min_tokens=0, columns={"blocks": found.blocks})
    assert [chunk.path[-1:] for chunk in chunks if chunk.text.startswith("\\subsection")] == [["Food"]]


PIECES = st.sampled_from([*r"\{}[]% ", "\n", "\\section{", "a", "\\item ", "\\begin{itemize}", "é"])


@given(st.lists(PIECES, max_size=30))
def test_only_closing_braces_are_outside_of_blocks(pieces: list[str]) -> None:
    found = convert("".join(pieces).encode())
    assert found.text == "".join(pieces)
    assert set(between(found)) <= {"}"}


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ConversionError, match="invalid UTF-8"):
        convert(b"\xff\xfd")


def test_a_document_that_is_shown_is_no_front_matter() -> None:
    text = "\\section{Cats}\nThey purr.\n\\begin{verbatim}\n\\begin{document}\n\\end{verbatim}\n"
    assert [kind for kind, _, _ in parts(convert(text.encode()))] == ["code", "heading", "paragraph", "code"]


def test_brackets_that_stay_open_take_linear_time() -> None:
    assert "\\section" in convert(b"\\section[x" * 50_000).text  # took minutes when the whole line was searched


def test_formulas_are_code_and_what_is_not_set_makes_no_heading() -> None:
    text = "\\section{A} Use \\verb|\\section{b}|.\n\\begin{comment}\n\\section{C}\n\\end{comment}\n"
    text += "Then \\[ x \\] and $$y$$ so. \\\\[2pt] \\$$1.\n"
    assert parts(convert(text.encode())) == [
        ("code", 1, "\\section{"),
        ("heading", 1, "A"),
        ("paragraph", 0, "Use \\verb|\\section{b}|."),
        ("code", 0, "\\begin{comment}\n\\section{C}\n\\end{comment}"),
        ("paragraph", 0, "Then"),
        ("code", 0, "\\[ x \\]"),
        ("paragraph", 0, "and"),
        ("code", 0, "$$y$$"),
        ("paragraph", 0, "so. \\\\[2pt] \\$$1."),
    ]
