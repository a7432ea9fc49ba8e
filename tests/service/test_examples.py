"""The examples in TypeScript and Go: their types are those of the OpenAPI description, and they run."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import pychunk

pytest.importorskip("granian")
pytest.importorskip("msgspec")

from pychunk.service.openapi import description

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "service"
SCHEMAS = ("Document", "SegmentRequest", "SegmentedDocument", "RowFailure", "SegmentAnswer", "Failure")
TEXTS = {"cats": "Cats purr. 🐈 Dogs bark.", "stars": "# Stars\n\nStars burn hydrogen."}


def fields_of(source, name, language):
    """Return the fields of a type of an example."""
    if language == "ts":
        body = re.search(rf"^interface {name} \{{\n(.*?)^\}}", source, re.DOTALL | re.MULTILINE)[1]
        return {match[1] for match in re.finditer(r"(?:^  |[{;] )(\w+)\??:", body, re.MULTILINE)}
    body = re.search(rf"^type {name} struct \{{\n(.*?)^\}}", source, re.DOTALL | re.MULTILINE)[1]
    return set(re.findall(r'json:"(\w+)', body))


def described(name):
    """Return the fields of a type in the OpenAPI description, with those of objects in it."""
    schema = description()["components"]["schemas"][name]
    inner = [each.get("properties", {}) for each in schema["properties"].values()]
    return set(schema["properties"]).union(*inner)


@pytest.mark.parametrize("language", ["ts", "go"])
def test_types_equal_those_of_the_description(language):
    source = (EXAMPLES / f"segment.{language}").read_text(encoding="utf-8")
    for name in SCHEMAS:
        assert fields_of(source, name, language) == described(name), name
    columns = set(pychunk.segment("One.").table.column_names)
    assert fields_of(source, "Chunk", language) <= columns


def needs(*programs):
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")


def expected():
    lines = []
    for id, text in TEXTS.items():
        for chunk in pychunk.segment(pychunk.parse(text, "markdown"), "sentence"):
            quoted = '"' + chunk.text.replace("\n", "\\n") + '"'
            lines.append(f"{id} {chunk.start} {chunk.end} {quoted}")
    return lines


def printed(command, server, **options):
    with_key = subprocess.run([*command, server.url, "secret"], capture_output=True, text=True, check=True, **options)
    without = subprocess.run([*command, server.url], capture_output=True, text=True, check=False, **options)
    assert without.returncode != 0
    assert "needs the header Authorization" in without.stderr
    return with_key.stdout.splitlines()


@pytest.fixture
def with_key(served, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("secret\n")
    return served("--api-key-file", str(keys))


@pytest.mark.slow
def test_the_example_in_typescript(with_key, tmp_path):
    needs("tsc", "node")
    compiled = ["--strict", "--target", "es2020", "--lib", "es2020,dom", "--module", "commonjs", "--outDir", tmp_path]
    done = subprocess.run(["tsc", *compiled, EXAMPLES / "segment.ts"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    if subprocess.run(["node", "-e", "fetch"], capture_output=True, check=False).returncode:
        pytest.skip("needs a node that has fetch, version 18 or later")
    assert printed(["node", tmp_path / "segment.js"], with_key) == expected()


@pytest.mark.slow
def test_the_example_in_go(with_key, tmp_path):
    needs("go")
    program = tmp_path / "segment"
    done = subprocess.run(
        ["go", "build", "-o", program, EXAMPLES / "segment.go"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert printed([program], with_key) == expected()
