"""A model's folder replaces an older one in one step."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import pychunk
from pychunk._util import durable_files
from pychunk.encoders import static_encoder, static_nsp
from pychunk.encoders.files import model_dir, model_packages

WRITE = """
import os, sys
from pathlib import Path
from pychunk.encoders.files import model_dir

replace, left = os.replace, int(sys.argv[2])

def killed(*paths):
    global left
    if left == 0:
        os._exit(9)
    left -= 1
    replace(*paths)

os.replace = killed
with model_dir.whole_or_nothing(Path(sys.argv[1])) as aside:
    (aside / model_dir.FACTS).write_text("newer")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it takes two steps")
@pytest.mark.parametrize("renames", [0, 1])
def test_a_killed_process_leaves_the_older_model_or_the_newer(tmp_path: Path, renames: int) -> None:
    path = tmp_path / "model"
    path.mkdir()
    (path / model_dir.FACTS).write_text("older")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(WRITE), str(path), str(renames)], check=False)
    assert done.returncode in (0, 9)
    assert (path / model_dir.FACTS).read_text() in ("older", "newer")


@pytest.mark.parametrize("in_one_step", [True, False])
def test_an_older_model_is_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, in_one_step: bool) -> None:
    if not in_one_step:
        monkeypatch.setattr(durable_files, "exchange", lambda *paths: False)
    for name in ("older", "newer"):
        with model_dir.whole_or_nothing(tmp_path / "model") as aside:
            (aside / model_dir.FACTS).write_text(name)
            (aside / name).touch()
    assert sorted(os.listdir(tmp_path / "model")) == ["newer", model_dir.FACTS]
    assert os.listdir(tmp_path) == ["model"]


def killed(code: str, path: Path) -> None:
    """Run code, indented by four, that ends the process while it fills a new folder for ``path``."""
    before = "import os, sys\nfrom pathlib import Path\nfrom pychunk._util import durable_files as durable\n"
    whole = before + "with durable.whole_folder(Path(sys.argv[1])) as aside:\n" + code
    done = subprocess.run([sys.executable, "-c", whole, str(path)], check=False)
    assert done.returncode == 9


def test_what_a_killed_process_had_filled_is_removed_by_the_next(tmp_path: Path) -> None:
    with durable_files.whole_folder(tmp_path / "model.v1") as other:
        (other / "b").touch()
        killed("    (aside / 'big').write_bytes(bytes(1 << 20)); os._exit(9)", tmp_path / "model")
        assert len(os.listdir(tmp_path)) == 2
        with durable_files.whole_folder(tmp_path / "model") as aside:
            (aside / "a").touch()
            with durable_files.whole_folder(tmp_path / "model") as beside:  # an unfinished one keeps its files
                (beside / "c").touch()
            assert (aside / "a").is_file()
    assert sorted(os.listdir(tmp_path)) == ["model", "model.v1"]
    assert os.listdir(tmp_path / "model") == ["a"]


def test_an_older_folder_put_aside_by_a_killed_process_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with durable_files.whole_folder(path) as aside:
        (aside / "older").touch()
    between = (
        "    durable.exchange, replace = lambda *paths: False, os.replace\n"
        "    os.replace = lambda *paths: os._exit(9) if paths[0] == aside else replace(*paths)\n"
    )
    killed(between, path)
    assert not path.exists()
    with pytest.raises(OSError, match="disk full"), durable_files.whole_folder(path):
        raise OSError("disk full")
    assert os.listdir(tmp_path) == ["model"]
    assert os.listdir(path) == ["older"]


def test_what_is_not_there_is_not_exchanged(tmp_path: Path) -> None:
    (tmp_path / "one").touch()
    assert not durable_files.exchange(tmp_path / "one", tmp_path / "other")
    assert os.listdir(tmp_path) == ["one"]


@pytest.mark.parametrize(
    ("facts", "load"),
    [
        ("static.json", static_encoder.StaticEncoder),
        ("nsp_static.json", static_nsp.StaticPairs),
        (model_dir.FACTS, lambda path: model_dir.read(path)),
    ],
)
@pytest.mark.parametrize("damage", ["cut short", "not UTF-8", "a list", "a fact lost", "newer"])
def test_damaged_facts_are_named_with_a_remedy(
    tmp_path: Path, facts: str, load: Callable[[Path], object], damage: str
) -> None:
    shipped = model_packages.folder(model_packages.NSP) if facts == model_dir.FACTS else static_encoder.SHIPPED
    for file in shipped.iterdir():
        if file.is_file() and file.stat().st_size < 20e6:
            shutil.copy(file, tmp_path)
    path = tmp_path / facts
    said = path.read_bytes()
    fewer = {name: value for name, value in json.loads(said).items() if not name.endswith("_sha256")}
    path.write_bytes(
        {
            "cut short": said[: len(said) // 2],
            "not UTF-8": said.replace(b'"name"', b'"\xff"', 1),
            "a list": b"[1]",
            "a fact lost": json.dumps(fewer).encode(),
            "newer": said.replace(b'"format": 1', b'"format": 2'),
        }[damage]
    )
    wanted = "format 2, but this pychunk reads 1" if damage == "newer" else "damaged.*again"
    with pytest.raises(ValueError, match=rf"{facts}.*{wanted}"):
        load(tmp_path)


def test_a_name_that_no_file_can_have_is_an_unknown_model() -> None:
    name = "é" * 300  # longer than a file system allows; a damaged manifest may hold it
    with pytest.raises(ValueError, match="unknown encoder"):
        pychunk.segment("One.", "pic", encoder=name)
    with pytest.raises(ValueError, match="no topic model"):
        pychunk.segment("One.", "topic", model=name)
    with pytest.raises(ValueError, match="pooling must be"):
        pychunk.segment_levels("One.", ["document"], pooling=name)
