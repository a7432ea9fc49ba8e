"""Other packages add kinds by entry points, and a kind whose packages are missing is left out of folders."""

import json
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest
from command_line import invoke

from pychunk.io import DeadLetter, converter, kinds, open_source
from pychunk.io.recognition import kind_of_bytes

MODULE = """
from pychunk.io import converter

def read(data):
    if data == b"bad":
        raise ValueError("too loud")
    return "# " + data.decode().upper()

shout = converter("shout", [".shout"], "shouting:read")
lost = converter("lost", [".lost"], "shouting:read", needs=["no_such_package"], install="pip install lost")
other = 3
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "shouting.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(kinds, "KINDS", kinds.KINDS)
    entries = [
        metadata.EntryPoint(name, f"shouting:{value}", kinds.GROUP)
        for name, value in {"shout": "shout", "lost": "lost", "other": "other", "gone": "gone", "pdf": "shout"}.items()
    ]
    monkeypatch.setattr(metadata, "entry_points", lambda group: entries if group == kinds.GROUP else [])
    kinds.add_installed.cache_clear()
    with pytest.warns(UserWarning, match="entry point"):
        kinds.add_installed()
    yield
    for name in ("shout", "lost"):
        kinds.KINDS.pop(name, None)
    sys.modules.pop("shouting", None)
    kinds.add_installed.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_kinds_of_other_packages_are_read_by_their_functions(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, data in {"a.shout": b"cats", "b.shout": b"bad", "c.lost": b"x"}.items():
        (folder / name).write_bytes(data)
    letters: list[DeadLetter] = []
    source = open_source(folder, dead_letters=letters.append)
    assert source.kinds == ["shout", "shout"]
    (batch,) = source
    assert batch.table["text"].to_pylist() == ["# CATS"]
    assert [letter.reason for letter in letters] == ["cannot be read: ValueError: too loud"]
    assert [letter.reason for letter in source.unread()] == [
        "not read: of kind lost, which needs no_such_package: pip install lost"
    ]
    with pytest.raises(ImportError, match="needs no_such_package: pip install lost"):
        list(open_source(folder / "c.lost"))


@pytest.mark.usefixtures("installed")
def test_the_command_lists_kinds_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = json.loads(invoke(["formats", "--json"])[1])
    rows = {row["kind"]: row for row in found}
    assert rows["shout"] == {"kind": "shout", "files": [".shout"], "readable": True, "install": ""}
    assert (rows["lost"]["readable"], rows["lost"]["install"]) == (False, "pip install lost")
    assert "(pip install lost)" in invoke(["formats"])[1]
    monkeypatch.setitem(kinds.KINDS, "code", replace(kinds.KINDS["code"], wants=("lost_package",)))
    assert '(finds more structure after pip install "pychunk-native[code]")' in invoke(["formats"])[1]
    assert list(rows)[: len(kinds.KINDS) - 2] == [name for name in kinds.KINDS if name not in ("shout", "lost")]


def test_endings_identify_a_converted_kind() -> None:
    kind = converter("a", [".a+b"], "x:y")
    assert kind.names.fullmatch("x.A+B")
    assert not kind.names.fullmatch("x.aab")


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b'{\n "cells": [],', "notebook"),
        (b"WEBVTT\n", "subtitles"),
        (b"Return-Path: <a@b.c>\n", "mail"),
        (b"Subject: a\n b\nMIME-Version: 1.0\n", "mail"),
        (b"Subject: a letter\n\nDear all\n", None),
        (b"From a@b.c Mon Jan  2 10:00:00 2023\nSubject: a\n", "mbox"),
        (bytes(257) + b"ustar", "tar"),
        (b"PK\3\4" + bytes(26) + b"mimetypeapplication/epub+zip", "epub"),
    ],
)
def test_first_bytes_identify_a_kind(head: bytes, kind: str | None) -> None:
    assert kind_of_bytes(head) == kind
