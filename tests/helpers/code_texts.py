"""Source code for property tests."""

from hypothesis import strategies as st


@st.composite
def definitions_of_python(draw: st.DrawFn, depth: int = 0) -> str:
    """Draw the source of definitions, which hold others, statements and comments."""
    indent = "    " * depth
    lines = st.sampled_from(
        ["x = 1", "y = call(1, 2, 3)", "# A comment.", "", "for i in range(3):\n" + indent + "    i += 1"]
    )
    source = ""
    for number in range(draw(st.integers(1, 4))):
        source += "".join(f"{indent}{line}\n" for line in draw(st.lists(lines, max_size=4)))
        source += f"{indent}def f{number}(a, b):\n"
        source += draw(definitions_of_python(depth + 1)) if depth < 3 and draw(st.booleans()) else ""
        source += "".join(f"{indent}    value = {n} + {n}\n" for n in range(draw(st.integers(1, 12))))
    return source
