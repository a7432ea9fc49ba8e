"""Definitions become sections, whose headings are their signatures."""

import ast
import sysconfig
from itertools import accumulate
from pathlib import Path

import pytest
from block_parts import between, parts
from code_texts import definitions_of_python
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk.parsing.converters import definitions, grammars
from pychunk.parsing.converters.code import convert
from pychunk.parsing.pdf.paged_text import Paged

pytest.importorskip("tree_sitter", reason="code is parsed by tree-sitter (extra code)")

PYTHON = '''"""About é."""

import os
import sys

# The limit.
LIMIT = {
    "a": 1,
}

# Adds.

# Adds one.
@cache
def add(
    one, two=1
):
    """Sum."""
    return one + two


class Sum:
    """A sum."""

    start = 0

    def first(self):
        return 1

    @property
    def second(self):
        return 2

    total = start


if __name__ == "__main__":
    add(1)
'''
EXAMPLES = {
    ".js": "// Runs.\nexport class A {\n  run() {\n    return 1\n  }\n}\n\nconst go = async (x) => {\n  call()\n}\n",
    ".ts": "/** A. */\nexport interface A {\n  x: number\n}\n\nnamespace N {\n  function f(): void {}\n}\n"
    "\nexport declare class B {\n  x: number\n}\n",
    ".java": "import java.util.List;\n\n/** A. */\n@Old\npublic class A {\n  /** F. */\n"
    "  @Override\n  int f() {\n    return 1;\n  }\n}\n",
    ".go": 'package a\n\nimport "fmt"\n\n// F runs.\nfunc F() {\n\tfmt.Println()\n}\n\nfunc (t *T) G() {\n}\n',
    ".rs": "use a::b;\n\n/// A.\n#[derive(Debug)]\nstruct A {\n    x: i32,\n}\n\nimpl A {\n    fn f(&self) {}\n}\n",
    ".c": "#include <a.h>\n\n/* F. */\nstatic int\nf(int a)\n{\n  return a;\n}\n",
    ".h": "#ifndef A\n#define A\nnamespace n {\ntemplate <class T>\nclass A {\n  void f() {}\n};\n}\n#endif\n",
    ".cs": "using System;\nnamespace N\n{\n  /// A.\n  [Old]\n  class A\n  {\n    int F() { return 1; }\n  }\n}\n",
    ".rb": "require 'a'\n\n# A.\nclass A < B\n  def f\n    1\n  end\nend\n",
    ".php": "<?php\nuse A\\B;\n/** A. */\nclass A {\n  function f() { return 1; }\n}\n",
    ".sh": "#!/bin/sh\n\n# Runs.\nrun() {\n  echo 1\n}\nrun\n",
    ".sql": "-- Ports.\nCREATE TABLE ports (\n  id int\n);\n\nSELECT 1;\n",
}


SOURCES = st.text(st.sampled_from("adef class:(){}\n\n  \t\r#\"'@=;é/*<\\"), max_size=80)


def headings(found: Paged) -> list[tuple[int, str]]:
    return [(level, " ".join(text.split())) for kind, level, text in parts(found) if kind == "heading"]


def check(found: Paged) -> None:
    """Check that only white space is outside of the blocks, which are in order."""
    assert not between(found)


def test_definitions_are_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "WHOLE", 20)
    found = convert(PYTHON.encode(), ".py")
    assert found.text == PYTHON
    check(found)
    assert parts(found)[:9] == [
        ("code", 0, '"""About é."""'),
        ("code", 0, "import os\nimport sys"),
        ("code", 0, '# The limit.\nLIMIT = {\n    "a": 1,\n}\n\n# Adds.'),
        ("code", 1, "# Adds one.\n@cache"),
        ("heading", 1, "def add(\n    one, two=1\n):"),
        ("term", 0, '"""Sum."""'),
        ("code", 0, "return one + two"),
        ("heading", 1, "class Sum:"),
        ("term", 0, '"""A sum."""'),
    ]
    assert headings(found)[1:] == [
        (1, "class Sum:"),
        (2, "def first(self):"),
        (2, "def second(self):"),
        (2, "total"),
        (1, 'if __name__ == "__main__":'),
    ]


def test_comments_between_blank_lines_are_no_part_of_the_definition_before() -> None:
    source = (
        "def a():\n    return 1\n\n\n# ===\n# Two.\n# ===\n\n\n# B.\ndef b():\n    return 2\n    # Never.\n\n# End.\n"
    )
    found = convert(source.encode(), ".py")
    assert parts(found) == [
        ("heading", 1, "def a():"),
        ("code", 0, "return 1"),
        ("code", 1, "# ==="),
        ("heading", 1, "# Two."),
        ("code", 0, "# ==="),
        ("code", 1, "# B."),
        ("heading", 1, "def b():"),
        ("code", 0, "return 2\n    # Never."),
        ("heading", 1, "# End."),
    ]


def test_definitions_in_loops_and_below_comments_are_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "WHOLE", 20)
    source = "class A:\n    # Begins.\n    def a(self): pass\n\nfor x in y:\n    if x:\n        pass\n    else:\n"
    source += "        # Two.\n        def b(): pass\n"
    found = convert(source.encode(), ".py")
    assert parts(found) == [
        ("heading", 1, "class A:"),
        ("code", 2, "# Begins."),
        ("heading", 2, "def a(self):"),
        ("code", 0, "pass"),
        ("heading", 1, "for x in y:"),
        ("heading", 2, "if x:"),
        ("code", 0, "pass\n    else:"),
        ("code", 3, "# Two."),
        ("heading", 3, "def b():"),
        ("code", 0, "pass"),
    ]


def test_functions_that_are_values_are_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "WHOLE", 20)
    source = "// A.\nexports.a = function () {\n  one()\n}\n\ntest('b', () => {\n  two()\n})\n\n"
    source += ";(function () {\n  f()\n})()\n"
    found = convert(source.encode(), ".js")
    assert [text for _, text in headings(found)] == ["exports.a = function ()", "test('b', () =>", "(function ()"]
    check(found)


def test_a_line_after_a_definition_ends_no_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "WHOLE", 20)
    source = "namespace n {\nAPI struct s *f(int a) {\n  return 0;\n}\nvoid g() {\n  API(2);\n}\n}  // namespace n\n"
    found = [" ".join(text.split()) for _, text in headings(convert(source.encode(), ".cc"))]
    assert (found[0], found[-1]) == ("namespace n", "void g()")


def test_a_short_class_is_one_section() -> None:
    assert headings(convert(PYTHON.encode(), ".py"))[1:] == [(1, "class Sum:"), (1, 'if __name__ == "__main__":')]


def test_chunks_begin_with_comments_and_have_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "WHOLE", 20)
    found = convert(PYTHON.encode(), ".py")
    chunks = pychunk.segment([found.text], "structure", size=30, min_tokens=0, columns={"blocks": found.blocks})
    assert [(" ".join(chunk.text.split())[:24], chunk.path) for chunk in chunks][2:] == [
        ("# Adds one. @cache def a", ["def add( one, two=1 ):"]),
        ('class Sum: """A sum.""" ', ["class Sum:"]),
        ("@property def second(sel", ["class Sum:"]),
        ('if __name__ == "__main__', ['if __name__ == "__main__":']),
    ]


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (".js", ["export class A", "run()", "const go = async (x) =>"]),
        (".ts", ["export interface A", "namespace N", "function f(): void", "export declare class B"]),
        (".java", ["public class A", "int f()"]),
        (".go", ["func F()", "func (t *T) G()"]),
        (".rs", ["struct A", "impl A", "fn f(&self)"]),
        (".c", ["f(int a)"]),
        (".h", ["namespace n", "class A", "void f()"]),
        (".cs", ["namespace N", "class A", "int F()"]),
        (".rb", ["class A < B", "def f"]),
        (".php", ["class A", "function f()"]),
        (".sh", ["run()", "run"]),
        (".sql", ["CREATE TABLE ports (", "SELECT 1"]),
    ],
)
def test_languages(ending: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "WHOLE", 10)
    found = convert(EXAMPLES[ending].encode(), ending)
    check(found)
    assert found.text == EXAMPLES[ending]
    assert [text for _, text in headings(found)] == expected
    introducing = [text for kind, level, text in parts(found) if kind == "code" and level == 1]
    assert [text[0] for text in introducing] == ([] if ending in (".h", ".cs") else [introducing[0][0]])


@given(
    st.text(st.sampled_from("adef class:(){}\n\n  \t\r#\"'@=;é/*<\\"), max_size=80),
    st.sampled_from(grammars.ENDINGS),
)
def test_any_text_is_covered(text: str, ending: str) -> None:
    found = convert(text.encode(), ending)
    assert found.text == text
    check(found)


def test_files_with_many_errors_are_one_block() -> None:
    assert parts(convert(b"<<<< ]] def ((\n" * 9, ".py")) == [("code", 0, ("<<<< ]] def ((\n" * 9).strip())]


def test_an_error_at_the_root_leaves_the_definitions_before_it() -> None:
    good = "".join(f"int f{i}(int a)\n{{\n  return a;\n}}\n\n" for i in range(3))
    source = (
        good + '#ifndef A\n#if B\nextern "C" {\n*/\nINLINE U32 g(U32 a)\n{\n    if (a)\n        return 1;\n    else\n'
    )
    parser = grammars.parser_of(".c")
    assert parser is not None
    assert parser.parse(source.encode()).root_node.type == "ERROR"
    assert [text for _, text in headings(convert(source.encode(), ".c"))][:3] == [f"int f{i}(int a)" for i in range(3)]


def test_long_files_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "MAX_BYTES", 3)
    assert not definitions.marks(b"def f(): pass", ".py")


def test_deep_code_is_no_error_of_recursion() -> None:
    source = "".join(f"{' ' * depth}class A{depth}:\n" for depth in range(90)) + " " * 90
    source += "x = '" + "x" * 900 + "'"
    found = convert(source.encode(), ".py")
    check(found)
    assert max(level for level, _ in headings(found)) == 6
    check(convert(b"#ifdef A\n" * 3000 + b"int f() { }\n" + b"#endif\n" * 3000, ".c"))


def test_a_chunk_that_continues_a_definition_has_its_signature_as_header() -> None:
    signature = "def first(\n    one: int | None,\n):"
    statements = "".join(f"    value = {number}\n" for number in range(60))
    source = f"class A:\n  x = 1\n\n\n{signature}\n{statements}\n\ndef second():\n{statements}"
    found = convert(source.encode(), ".py")
    segmenter = pychunk.Segmenter("structure", size=300, unit="characters", min_tokens=0)
    chunks = segmenter([found.text], columns={"blocks": found.blocks})
    headers = [chunk.header for chunk in chunks]
    assert headers == [None, None, *[signature] * 3, None, *["def second():"] * 3]
    assert chunks[2].path == ["def first( one: int | None, ):"]
    assert chunks[2].render() == f"{signature}\n{chunks[2].text}"
    assert chunks[2].render(header=False) == f"def first( one: int | None, ):\n\n{chunks[2].text}"


@settings(max_examples=100, deadline=None)
@given(source=definitions_of_python(), size=st.integers(40, 700))
def test_every_definition_that_fits_is_whole(source: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(definitions, "WHOLE", 20)
        found = convert(source.encode(), ".py")
    segmenter = pychunk.Segmenter("structure", size=size, unit="characters", min_tokens=0)
    cuts = [chunk.start for chunk in segmenter([found.text], columns={"blocks": found.blocks})]
    lines = source.splitlines(keepends=True)
    offsets = [0, *accumulate(map(len, lines))]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            first = node.lineno - 1
            while first > 0 and lines[first - 1].lstrip().startswith("#"):  # a comment above is part of it
                first -= 1
            start, end = offsets[first] + node.col_offset, offsets[node.end_lineno or 0] - 1
            assert end - start > size or not [cut for cut in cuts if start < cut < end]


@pytest.mark.slow
def test_the_standard_library_is_covered() -> None:
    folder = Path(sysconfig.get_paths()["stdlib"])
    files = [*sorted(folder.glob("[a-e]*.py")), *sorted(folder.glob("json/*.py"))]
    found = [convert(file.read_bytes(), ".py") for file in files]
    assert found
    for each, file in zip(found, files):
        assert each.text == file.read_text(encoding="utf-8")
        check(each)
        chunks = pychunk.segment([each.text], columns={"blocks": each.blocks})
        assert all(each.text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
        assert "".join("".join(chunk.text for chunk in chunks).split()) == "".join(each.text.split())


def test_statements_and_definitions_on_one_line_are_in_order() -> None:
    functions = " ".join(f"function f{i}(a) {{ return a + {i}; }}" for i in range(60))
    for text in (f"if (a) {{ {functions} }}", f"try {{ {functions} }} catch (e) {{}}", f"with (o) {{ {functions} }}"):
        blocks = convert(text.encode(), ".js").blocks
        assert len(blocks.start) > 100
        assert (blocks.start[1:] >= blocks.end[:-1]).all()
        assert (blocks.end > blocks.start).all()
        assert pychunk.segment([text], "structure", columns={"blocks": blocks}).texts


def test_the_line_that_opens_a_condition_is_with_the_first_statement_inside() -> None:
    inside = "#if FAST\nint f() {\n}\n#else\nint g() {\n}\n#endif\n"
    source = f"#include <a.h>\n#ifdef OMP\n\n// Threads.\n#define THREADS 4\n{inside}#endif\n".encode()
    found = [source[mark.start :].split(b"\n")[0] for mark in definitions.marks(source, ".c")]
    assert found == [b"#include <a.h>", b"#ifdef OMP", b"#if FAST", b"int f() {", b"#else", b"int g() {"]
