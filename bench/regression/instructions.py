"""Count the instructions and allocations of fixed workloads, and compare them with those of the last commit.

    python bench/regression/instructions.py
    python bench/regression/instructions.py --check
    python bench/regression/instructions.py --write "why the counts changed"

Counts of one thread under callgrind do not depend on the machine's load, and repeat where times do not. The counts are
in instructions.json, with the versions that made them. --check compares with that file; its status is 1 if a count has
grown by 2 % or more. Without valgrind, or with other versions, it skips and reports the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import pychunk
from pychunk import _core
from pychunk.encoders.files import model_packages

FILE = Path(__file__).resolve().parent / "instructions.json"
CHILD = FILE.with_name("counted_child.py")
LIMIT = 0.02
NOISE = 0.005
SECONDS = 170
PACKAGES = ("numpy", "pyarrow", "selectolax", "bpe-openai", "PyStemmer")
#: valgrind knows no AVX-512. Arrow's own allocators would hide its allocations.
SETTINGS = {
    "PYCHUNK_ISA": "avx2",
    "PYCHUNK_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}
#: The length of the environment moves the stack, so the process gets only what it needs of it.
INHERITED = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
REQUESTS = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void end(const char* name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""
ALLOCATORS = {"malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc"}
REMEDY = 'python bench/regression/instructions.py --write "reason"'

Counts = dict[str, dict[str, int]]


class SkippedError(Exception):
    """Nothing can be counted or compared here; the message is the reason."""


def versions() -> dict[str, str]:
    """Return the versions on which counts depend."""
    made_by = re.search(rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+", Path(_core.__file__).read_bytes())
    found = {
        "compiler": made_by[0].decode() if made_by else "unknown",
        "C library": " ".join(platform.libc_ver()),
        "python": f"{platform.python_version()} ({platform.python_compiler()})",
        "valgrind": subprocess.run(
            ["valgrind", "--version"], capture_output=True, text=True, check=True
        ).stdout.strip(),
    }
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            raise SkippedError(f"no {name}: pip install -e '.[dev]'") from None
    try:
        model_packages.folder(model_packages.MULTILINGUAL)
    except (ImportError, ValueError) as error:
        raise SkippedError(str(error)) from None
    return found | {"pychunk-multilingual": model_packages.MULTILINGUAL.version}


def check_programs() -> None:
    """Raise SkippedError if this machine cannot count."""
    for program in ("valgrind", "cc"):
        if not shutil.which(program):
            raise SkippedError(f"no {program} on PATH")
    if "avx2" not in pychunk.backend()["isas"]:
        raise SkippedError("this CPU has no AVX2, whose kernels are counted")


def count() -> Counts:
    """Run the workloads under callgrind, and return the instructions and allocations of each."""
    with tempfile.TemporaryDirectory() as folder:
        library, profile = f"{folder}/requests.so", Path(folder) / "profile"
        made = subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", library],
            input=REQUESTS,
            text=True,
            capture_output=True,
            check=False,
        )
        if made.returncode:
            raise SkippedError(f"the headers of valgrind do not compile: {made.stderr.strip().splitlines()[0]}")
        tool = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--compress-strings=no"]
        environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
        environment["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled"  # by the next line; else the import would compile
        subprocess.run([sys.executable, "-c", "import pychunk"], cwd=folder, env=environment, check=True)
        try:
            done = subprocess.run(
                [*tool, f"--callgrind-out-file={profile}", sys.executable, str(CHILD), library],
                cwd=folder,
                env={**environment, **SETTINGS, "PYCHUNK_CACHE": folder, "HOME": folder},
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise SkippedError(f"the machine is too busy: counting took over {SECONDS} s") from None
        if done.returncode:
            sys.exit(f"{CHILD.name} ended with status {done.returncode}: {done.stderr.strip()}")
        dumps = sorted(profile.parent.glob("profile.*"), key=lambda path: int(path.suffix[1:]))
        return dict(counts_of(path.read_text(encoding="utf-8", errors="replace")) for path in dumps)


def counts_of(profile: str) -> tuple[str, dict[str, int]]:
    """Return the name and the counts of one of callgrind's profiles."""
    name = re.search(r"^desc: Trigger: Client Request: (.*)$", profile, re.MULTILINE)
    total = re.search(r"^totals: (\d+)$", profile, re.MULTILINE)
    if not name or not total:
        raise ValueError(f"callgrind's profile lacks its name or its total; got {profile[:200]!r}")
    # A function that calls itself again has names with a number, such as "f'2".
    calls = re.findall(r"^cfn=(?:__libc_)?(\w+)(?:'\d+)?\ncalls=(\d+)", profile, re.MULTILINE)
    allocations = sum(int(times) for function, times in calls if function in ALLOCATORS)
    return name[1], {"instructions": int(total[1]), "allocations": allocations}


def described(name: str, before: Counts, after: Counts) -> str:
    """Return both counts of a workload, before and after, with the growth of each."""
    if name not in before or name not in after:
        return f"{name}: {'not counted before' if name in after else 'no longer counted'}"
    kinds = [
        f"{was:,} to {now:,} {kind} ({growth(was, now):+.2%})"
        for kind, was in before[name].items()
        for now in [after[name][kind]]
    ]
    return f"{name}: {', '.join(kinds)}"


def growth(was: int, now: int) -> float:
    return now / max(was, 1) - 1


def check(before: Counts, after: Counts) -> int:
    """Print the workloads whose counts have changed by 2 % or more, and return the status."""
    both = before.keys() & after.keys()
    shares = {name: [growth(was, after[name][kind]) for kind, was in before[name].items()] for name in both}
    changed = [name for name in {**before, **after} if name not in both or max(shares[name]) >= LIMIT]
    less = [name for name in after if name in both and min(shares[name]) <= -LIMIT and name not in changed]
    for name in changed:
        print(f"grown by 2 % or more: {described(name, before, after)}")
    for name in less:
        print(f"fallen by 2 % or more: {described(name, before, after)}")
    if changed:
        print(f"Make it as fast as it was, or record the new counts: {REMEDY}")
    elif less:
        print(f"Record the new counts, so that a later growth is seen: {REMEDY}")
    else:
        print(f"{len(both)} workloads and parts: no count changed by 2 % or more")
    return int(bool(changed))


def write(before: Counts, found: Counts, reason: str) -> None:
    """Update the file, and print the line for the commit's body."""
    FILE.write_text(json.dumps({"versions": versions(), "counts": found}, indent=1) + "\n", encoding="utf-8")
    changed = [described(name, before, found) for name in {**before, **found} if not same(name, before, found)]
    print(f"Instructions: {reason}. {'; '.join(changed) or 'No count changed by 0.5 % or more'}.")


def same(name: str, before: Counts, after: Counts) -> bool:
    """Return whether a workload's counts differ by less than 0.5 %, which repetitions stay under."""
    both = name in before and name in after
    return both and all(abs(growth(was, after[name][kind])) < NOISE for kind, was in before[name].items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="compare with instructions.json")
    choice.add_argument("--write", metavar="REASON", help="update instructions.json, print a line for the commit")
    options = parser.parse_args()
    if options.write is not None and not options.write.strip():
        parser.error('--write needs the reason, such as --write "sentences now keep abbreviations"; got none')
    saved = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"versions": {}, "counts": {}}
    try:
        check_programs()
        here = versions()
        other = [
            f"{name} {here[name]} (file: {saved['versions'].get(name)})"
            for name in here
            if here[name] != saved["versions"].get(name)
        ]
        if options.check and other:
            raise SkippedError(f"instructions.json has counts of other versions: {', '.join(other)}")
        found = count()
    except SkippedError as reason:
        print(f"skipped: {reason}")
        return int(options.write is not None)
    if options.check:
        return check(saved["counts"], found)
    if options.write:
        write(saved["counts"], found, options.write.strip().rstrip("."))
        return 0
    for name, counts in found.items():
        print(f"{name:24}{counts['instructions']:>14,} instructions{counts['allocations']:>9,} allocations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
