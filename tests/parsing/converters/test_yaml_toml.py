"""YAML and TOML become one line for each value, with the path to it."""

import sys

import pytest
from block_parts import parts

from pychunk.parsing.converters import json_text
from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.converters.yaml_toml import toml, yaml

YAML = b"port: &it {name: Brest, size: 0x10}\nsame: *it\nday: 2020-01-01\nrun: !!python/object/apply:os.system [ls]\n"


def test_values_of_yaml_stay_as_they_are_written() -> None:
    pytest.importorskip("yaml", reason="needs PyYAML")
    found = yaml(YAML)
    assert found.text.split("\n") == [
        "port.name: Brest", "port.size: 0x10", "", "same.name: Brest", "same.size: 0x10", "", "day: 2020-01-01", "",
        "run.0: ls",
    ]  # fmt: skip
    assert parts(found)[0] == ("paragraph", 0, "port.name: Brest\nport.size: 0x10")
    assert yaml(b"a: 1\n---\nb: 2\n").text == "0.a: 1\n\n1.b: 2"


@pytest.mark.parametrize(("data", "message"), [(b"a: [", "not YAML"), (b"&a [*a]", "not YAML")])
def test_bad_yaml_is_refused(data: bytes, message: str) -> None:
    pytest.importorskip("yaml", reason="needs PyYAML")
    with pytest.raises(ConversionError, match=message):
        yaml(data)


def test_aliases_cannot_make_a_long_text(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("yaml", reason="needs PyYAML")
    monkeypatch.setattr(json_text, "MAX_VALUES", 1000)
    lines = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}' if i else 'x'] * 10)}]" for i in range(9)]
    with pytest.raises(ConversionError, match="more than 1,000 values"):
        yaml("\n".join(lines).encode())


def test_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tomllib", raising=False)
    if sys.version_info < (3, 11):
        pytest.importorskip("tomli", reason="needs tomli before Python 3.11")
    found = toml(b"title = 'Tide'\r\n[port]\r\nsize = 1.50\r\nday = 2020-01-01\r\nopen = true\r\n")
    assert found.text == "title: Tide\n\nport.size: 1.50\nport.day: 2020-01-01\nport.open: true"
    with pytest.raises(ConversionError, match=r"not TOML: .*pass kind='text'"):
        toml(b"a = ")


def test_without_a_library_the_text_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert yaml(YAML).text == YAML.decode()
    assert parts(yaml(b"\na: 1\n")) == [("code", 0, "a: 1")]


def test_a_key_that_occurs_twice_keeps_both_values() -> None:
    pytest.importorskip("yaml", reason="YAML is parsed by PyYAML")
    assert yaml(b"a: 1\nb:\n  c: 2\n  c: 3\na: 4\n").text == "a: 1\n\nb.c: 2\nb.c: 3\n\na: 4"
    assert yaml(b"? [a, b]\n: 1\n").text == "['a', 'b']: 1"


def test_times_of_toml_have_their_form() -> None:
    if sys.version_info < (3, 11):
        pytest.importorskip("tomli", reason="needs tomli before Python 3.11")
    found = toml(b"one = 2024-01-02T03:04:05+02:00\ntwo = 2024-01-02\nthree = 03:04:05\n").text
    assert found.split() == ["one:", "2024-01-02T03:04:05+02:00", "two:", "2024-01-02", "three:", "03:04:05"]
