"""bench/regression/instructions.py reads callgrind's profiles, compares counts, and reports growth."""

import json
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)

PROFILE = """version: 1
desc: Trigger: Client Request: index: add
events: Ir
fn=work
1 20
cfn=malloc
calls=3 10
2 30
cfi=file.c
cfn=calloc'2
calls=4 10
2 40
cfn=__libc_malloc
calls=1 10
2 5
cfn=malloc_usable_size
calls=9 10
2 9
totals: 104
"""
CHILD = """
import ctypes, sys
requests = ctypes.CDLL(sys.argv[1])
for name, count in (("base", 100_000), ("same", 100_000), ("slowed", 103_000)):
    for run in range(21):  # the first run of each is slower
        requests.begin()
        sum(range(count))
        requests.end(f"{name} {run}".encode())
"""


def counts(instructions: int, allocations: int = 50) -> dict[str, dict[str, int]]:
    return {"pic": {"instructions": instructions, "allocations": allocations}}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from bench.regression import instructions

    saved = {"versions": {"compiler": "GCC 12"}, "counts": counts(1000)}
    (tmp_path / "instructions.json").write_text(json.dumps(saved), encoding="utf-8")
    monkeypatch.setattr(instructions, "FILE", tmp_path / "instructions.json")
    monkeypatch.setattr(instructions, "check_programs", lambda: None)
    monkeypatch.setattr(instructions, "versions", lambda: {"compiler": "GCC 12"})
    return instructions


def run(bench, monkeypatch: pytest.MonkeyPatch, found: dict[str, dict[str, int]], *words: str) -> int:
    monkeypatch.setattr(bench, "count", lambda: found)
    monkeypatch.setattr(sys, "argv", ["instructions.py", *words])
    return bench.main()


def test_profiles_have_instructions_and_calls_of_allocators(bench) -> None:
    assert bench.counts_of(PROFILE) == ("index: add", {"instructions": 104, "allocations": 8})
    with pytest.raises(ValueError, match="lacks its name or its total"):
        bench.counts_of("version: 1\n")


@pytest.mark.parametrize(
    ("found", "status", "said"),
    [
        (counts(1019), 0, "1 workloads and parts: no count changed by 2 % or more"),
        (counts(1020), 1, "grown by 2 % or more: pic: 1,000 to 1,020 instructions (+2.00%), 50 to 50 allocations"),
        (counts(900, 51), 1, "pic: 1,000 to 900 instructions (-10.00%), 50 to 51 allocations (+2.00%)"),
        (counts(980), 0, "fallen by 2 % or more: pic: 1,000 to 980"),
        ({}, 1, "pic: no longer counted"),
        ({**counts(1000), "topic": {"instructions": 1, "allocations": 1}}, 1, "topic: not counted before"),
    ],
)
def test_growth_is_reported(bench, monkeypatch, capsys, found, status: int, said: str) -> None:
    assert run(bench, monkeypatch, found, "--check") == status
    printed = capsys.readouterr().out
    assert said in printed
    assert ('--write "reason"' in printed) == (status == 1 or "fallen" in said)


def test_counts_of_other_versions_are_skipped(bench, monkeypatch, capsys) -> None:
    monkeypatch.setattr(bench, "versions", lambda: {"compiler": "GCC 13"})
    assert run(bench, monkeypatch, counts(2000), "--check") == 0
    assert capsys.readouterr().out.startswith("skipped: ")
    assert run(bench, monkeypatch, counts(2000), "--write", "another compiler") == 0
    assert run(bench, monkeypatch, counts(2000), "--check") == 0
    assert "no count changed" in capsys.readouterr().out


def test_written_counts_are_the_next_base(bench, monkeypatch, capsys) -> None:
    assert run(bench, monkeypatch, counts(1030), "--write", "Abbreviations are kept.") == 0
    changed = "pic: 1,000 to 1,030 instructions (+3.00%), 50 to 50 allocations (+0.00%)."
    assert capsys.readouterr().out == f"Instructions: Abbreviations are kept. {changed}\n"
    assert run(bench, monkeypatch, counts(1030), "--check") == 0
    with pytest.raises(SystemExit):
        run(bench, monkeypatch, counts(1030), "--write", " ")


def test_a_machine_that_cannot_count_skips(bench, monkeypatch, capsys) -> None:
    def missing() -> None:
        raise bench.SkippedError("no valgrind on PATH")

    monkeypatch.setattr(bench, "check_programs", missing)
    assert [run(bench, monkeypatch, {}, *words) for words in (["--check"], ["--write", "x"])] == [0, 1]
    assert capsys.readouterr().out == "skipped: no valgrind on PATH\n" * 2


@pytest.mark.slow
def test_recorded_counts_are_of_the_workloads(tmp_path: Path) -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    pytest.importorskip("bpe_openai", reason="needs bpe-openai: the extra vocabularies")
    from bench.regression import counted_child, instructions

    saved = json.loads(instructions.FILE.read_text(encoding="utf-8"))
    found = counted_child.workloads(tmp_path)
    assert ["import", *found] == list(saved["counts"])
    assert all(call() is None or call() for call in found.values())


@pytest.mark.slow
def test_counts_repeat_and_show_three_percent(tmp_path: Path, monkeypatch) -> None:
    from bench.regression import instructions

    try:
        instructions.check_programs()
    except instructions.SkippedError as reason:
        pytest.skip(str(reason))
    child = tmp_path / "child.py"
    child.write_text(CHILD, encoding="utf-8")
    monkeypatch.setattr(instructions, "CHILD", child)
    first, second = instructions.count(), instructions.count()
    for name, counted in first.items():
        assert counted["instructions"] == pytest.approx(second[name]["instructions"], rel=0.0005)
    growth = [
        [first[f"{name} {run}"]["instructions"] / first[f"base {run}"]["instructions"] for run in range(1, 21)]
        for name in ("same", "slowed")
    ]
    assert all(abs(each - 1) < 0.0005 for each in growth[0])  # no false alarm in 20 runs
    assert all(1.02 < each < 1.04 for each in growth[1])  # 20 of 20 planted slowdowns are found
