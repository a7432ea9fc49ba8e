"""Targets for libFuzzer on the native core, without Python: ``build`` compiles them, ``run`` searches.

Each ``NAME.cc`` here is a target. They need clang++ with its fuzzer and sanitizer runtimes (``apt-get install clang``).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..runner import Outcome

HERE = Path(__file__).resolve().parent
CORE = HERE.parents[2] / "csrc"
LONGEST = {"budgets": 256}  # the bytes of an input, 512 if not given here: budgets take time for each chunk
#: The time that one input may take: even on a busy machine most take under a millisecond.
TIMEOUT = 20
SANITIZERS = "address,undefined"
COMMON = ["-std=c++20", "-O2", "-g1", "-fno-omit-frame-pointer", "-ffp-contract=off", f"-I{CORE}", "-pthread"]
COMMON += [f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=all"]
#: Short inputs have a few documents. In blocks of two they reach the ends of blocks, and threads have work.
COMMON += ["-DPYCHUNK_BLOCK_DOCUMENTS=2"]
#: Vectors of 64 bytes pass between functions that are inlined, so no ABI has a part in it.
COMMON += ["-Wno-psabi"]
#: Edges are counted but comparisons are not traced: this takes a fifth of the time, and text.dict has the compared
#: values.
COVERAGE = ["-fsanitize=fuzzer-no-link", "-fno-sanitize-coverage=trace-cmp"]
#: The address sanitizer takes a third less time if it neither records where memory was allocated nor fills it. A
#: finding is tried again without these options for a full report.
QUICK = {"ASAN_OPTIONS": "malloc_context_size=0:max_malloc_fill_size=0:quarantine_size_mb=16"}
AVX2 = ["-mavx2", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt"]
AVX512 = [*AVX2, "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512"]


#: Files of the core that are compiled as one.
AS_ONE = 12


def _compiler() -> str | None:
    return os.environ.get("FUZZ_CXX") or shutil.which("clang++")


def unavailable() -> str:
    """Return why the targets cannot be built here, or an empty string if they can."""
    compiler = _compiler()
    if compiler is None:
        return "no clang++ on PATH (apt-get install clang, or name one in FUZZ_CXX)"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cc"
        source.write_text('extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n')
        probe = [compiler, f"-fsanitize=fuzzer,{SANITIZERS}", str(source), "-o", str(Path(folder) / "probe")]
        done = subprocess.run(probe, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{compiler} has no libFuzzer: {done.stderr.strip()[-200:]}"


def _compile(sources: list[Path], to: Path, flags: list[str], newest: float) -> Path:
    """Compile files as one, which takes three fifths of the time, since headers are read once."""
    if not to.exists() or to.stat().st_mtime < max(newest, *(source.stat().st_mtime for source in sources)):
        whole = to.with_suffix(".cc")
        whole.write_text("".join(f'#include "{source}"\n' for source in sources))
        command = [_compiler() or "clang++", *COMMON, *COVERAGE, *flags, "-c", whole, "-o", to]
        subprocess.run(command, check=True)
    return to


def build(folder: Path) -> dict[str, Path]:
    """Return the targets' programs by name; programs that are newer than their sources are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    headers = [*CORE.rglob("*.h"), *CORE.rglob("*.inc"), HERE / "fuzz.h"]
    newest = max(header.stat().st_mtime for header in headers)
    core = sorted(source for source in CORE.rglob("*/*.cc") if source.parent.name not in ("python", "cuda"))
    jobs: list[tuple[list[Path], Path, list[str]]] = []
    for first in range(0, len(core), AS_ONE):
        jobs.append((core[first : first + AS_ONE], folder / f"core_{first}.o", []))
    isas: dict[str, list[str]] = {"baseline": []}
    if os.uname().machine in ("x86_64", "AMD64"):
        isas |= {"avx2": AVX2, "avx512": AVX512, "avx512vnni": [*AVX512, "-mavx512vnni"]}
    for isa, flags in isas.items():
        jobs.append(([CORE / "kernels_isa.cc"], folder / f"kernels_{isa}.o", [f"-DPYCHUNK_ISA={isa}", *flags]))
    targets = sorted(HERE.glob("*.cc"))
    jobs += [([target], folder / f"target_{target.stem}.o", []) for target in targets]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        objects = list(pool.map(lambda job: _compile(*job, newest), jobs))
    shared, owns = objects[: -len(targets)], objects[-len(targets) :]
    programs = {}
    for target, own in zip(targets, owns, strict=True):
        program = programs[target.stem] = folder / target.stem
        if not program.exists() or program.stat().st_mtime < max(o.stat().st_mtime for o in [own, *shared]):
            link = [
                _compiler() or "clang++",
                f"-fsanitize=fuzzer,{SANITIZERS}",
                "-pthread",
                own,
                *shared,
                "-o",
                program,
            ]
            subprocess.run(link, check=True)
    return programs


def run(
    name: str,
    program: Path,
    *,
    seconds: float,
    jobs: int = 1,
    seed: int = 1,
    findings: Path = Path("findings"),
    executions: int | None = None,
    say: Callable[[str], None] = print,
) -> Outcome:
    """Search with ``jobs`` processes until the time is over, each has found something, or has done its share."""
    outcome = Outcome(f"native:{name}")
    findings.mkdir(parents=True, exist_ok=True)
    environment = QUICK | os.environ
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"fuzz-{name}-") as scratch:
        corpus = Path(scratch) / "corpus"  # shared: each process reads what another finds
        corpus.mkdir()
        processes = []
        for job in range(jobs):
            log = (Path(scratch) / f"log-{job}").open("w")
            options = {
                "max_len": LONGEST.get(name, 512),
                "max_total_time": max(1, int(seconds)),
                "timeout": TIMEOUT,
                "rss_limit_mb": 4096,
                "seed": (seed + job) % 2**31 + 1,
                "dict": HERE / "dictionaries" / "text.dict",
                "print_final_stats": 1,
                "reload": 5,
                "entropic": 0,  # its weights of inputs take half of the time
                "artifact_prefix": f"{scratch}/found-{job}-",
            }
            if executions is not None:
                options["runs"] = -(-executions // jobs)
            arguments = [f"-{key}={value}" for key, value in options.items()]
            command = [str(program), *arguments, str(corpus), str(HERE / "seeds")]
            processes.append((subprocess.Popen(command, stdout=log, stderr=log, env=environment), log))
        for job, (process, log) in enumerate(processes):
            try:
                process.wait(seconds + 10 * TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            log.close()
            text = Path(log.name).read_text(errors="replace")
            outcome.executions += _executed(text)
            if process.returncode != 0:
                outcome.findings.append(_keep(name, program, text, Path(scratch), job, findings))
                say(f"native:{name}: {outcome.findings[-1]}")
    outcome.seconds = time.monotonic() - begun
    return outcome


def _executed(log: str) -> int:
    """Return the executions that libFuzzer counts, in its statistics, else in its last line of progress."""
    found = re.findall(r"stat::number_of_executed_units:\s*(\d+)", log) or re.findall(r"^#(\d+)\s", log, re.MULTILINE)
    return int(found[-1]) if found else 0


def _keep(name: str, program: Path, log: str, scratch: Path, job: int, findings: Path) -> str:
    """Save the failing input, made smaller, with the messages about it, and return one line."""
    said = re.findall(r"^(?:.*\.cc:\d+: .*|.*\.h:\d+: .*|SUMMARY: .*|.*runtime error: .*)$", log, re.MULTILINE)
    reason = said[0] if said else log.strip()[-200:]
    inputs = sorted(scratch.glob(f"found-{job}-*"))
    if not inputs:
        return f"{reason} (no input was kept)"
    kept = findings / f"native-{name}-{inputs[0].name.split('-', 2)[2][:24]}"
    smaller = scratch / f"smaller-{job}"
    shrink = [program, "-minimize_crash=1", "-max_total_time=20", f"-exact_artifact_path={smaller}", inputs[0]]
    subprocess.run(shrink, capture_output=True, timeout=20 * TIMEOUT, env=os.environ | {"FUZZ_ALL": "1"})
    shutil.copy(smaller if smaller.exists() else inputs[0], kept)
    kept.with_suffix(".log").write_text(log[-20_000:])
    return f"{reason}; again: FUZZ_ALL=1 {program} {kept}"
