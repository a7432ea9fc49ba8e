"""All GPU measurements in one command: correctness, then rates, then the whole pipeline compared with its peers.

    python bench/gpu/gpu.py                  # checks, rates, pipeline; writes bench/results/gpu_*.json
    python bench/gpu/gpu.py --only checks    # or rates, or pipeline; compute-sanitizer runs the checks
    python bench/gpu/gpu.py --sanitize       # the checks under compute-sanitizer's memcheck and racecheck

The script uses what the machine has, and prints what it skipped and why. With the emulator (CMake option
PYCHUNK_CUDA=EMULATED) it goes through the checks and the pipeline on a CPU, on little data.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pychunk
from pychunk._engine import device as _device

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.gpu.gpu_pipeline import agreement, peer_rates, pipeline_rates, search_rates
from bench.gpu.kernel_checks import checks
from bench.gpu.rates import Clock, Rate, ceilings, encoder_rates, kernel_rates

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("checks", "rates", "pipeline"), help="one part; checks are on small inputs")
    parser.add_argument("--sanitize", action="store_true", help="run the checks under compute-sanitizer")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the random inputs; default: the clock")
    parser.add_argument("--model", default="minilm", help="an exported encoder: a name or a directory")
    parser.add_argument("--megabytes", type=float, default=40.0, help="text of the pipeline")
    parser.add_argument("--documents", type=int, default=2000, help="documents whose cuts are compared with the CPU's")
    parser.add_argument("--output", "--save", type=Path, help="of the results; default: bench/results/gpu_*.json")
    options = parser.parse_args()
    found = pychunk.backend()["cuda"]
    print(json.dumps(found))
    if found["why"]:
        print(f"nothing to measure: {found['why']}")
        return 1
    if options.sanitize:
        return sanitize()
    print(f"seed {options.seed}")
    device = _device.open_device()
    if options.only in (None, "checks"):
        for line in checks(device, options.seed, small=options.only == "checks" or _device.emulated()):
            print(f"equal bit for bit: {line}", flush=True)
    if options.only == "checks":
        return 0
    rows: list[Rate] = []
    try:
        for row in shown(measured(device, options)):
            rows.append(row)
    finally:
        if rows:  # what was measured before an error, too
            save(rows, found["devices"][0], options)
    return 0


def save(rows: list[Rate], name: str, options: Any) -> None:
    output = options.output or RESULTS / f"gpu_{name.lower().replace(' ', '_')}.json"
    figures = {"device": name, "seed": options.seed, "rates": [row._asdict() for row in rows]}
    about = "Kernels and pipeline on a GPU; shares are of the memory or matrix rate measured in the same run."
    packages = ("torch", "onnxruntime-gpu", "sentence-transformers")
    record.save(output, f"GPU: {name}", figures, about=about, packages=packages, encoder=options.model)


def measured(device: _device.Device, options: Any) -> Iterator[Rate | str]:
    """Yield every figure, in order, and a line of text for each that is skipped."""
    try:
        import torch

        from pychunk.encoders import registry

        registry.vector_encoder(options.model)
    except (ValueError, ImportError) as error:
        yield f"rates: {error}"
        return
    if _device.emulated():
        yield "rates: kernels are emulated on the CPU here, so that only the pipeline runs, on a few documents"
    elif options.only != "pipeline":
        yield from rates(Clock(torch, device), options.model)
    if options.only == "rates":
        return
    texts = documents(options.megabytes)
    if _device.emulated():
        texts = [text[:400] for text in texts[:4]]
    yield from pipeline_rates(texts, options.model)
    yield from search_rates(texts)
    if not _device.emulated():
        yield from peer_rates(texts[: len(texts) // 4], options.model, torch)
    yield from agreement(texts[: options.documents], options.model)


def rates(clock: Clock, model: str) -> Iterator[Rate]:
    copy, product, lines = ceilings(clock)
    yield from lines
    yield from kernel_rates(clock, copy)
    yield from encoder_rates(clock, product, model)


def documents(megabytes: float) -> list[str]:
    """Return Wikipedia articles if PYCHUNK_DATA has them, else generated text that resembles English."""
    folder = os.environ.get("PYCHUNK_DATA")
    wanted, found, size = int(megabytes * 1e6), [], 0
    for text in articles(Path(folder)) if folder else generated():
        found.append(text)
        size += len(text.encode())
        if size >= wanted:
            break
    return found


def articles(folder: Path) -> Iterator[str]:
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(folder / "wiki" / "articles.parquet").iter_batches(columns=["text"]):
        yield from batch.column("text").to_pylist()


def generated() -> Iterator[str]:
    from pychunk.benchmark.synthetic_texts import Author

    author = Author(seed=1)
    while True:
        yield author.document(sections=6)


def shown(lines: Iterable[Rate | str]) -> Iterator[Rate]:
    """Print each line when it arrives, and pass the rates on."""
    for line in lines:
        if isinstance(line, str):
            print(f"left out: {line}", flush=True)
            continue
        share = f"  {100 * line.share:.0f} % of the ceiling" if line.share is not None else ""
        print(f"{line.name:56s} {line.value:14,.1f} {line.unit}{share}", flush=True)
        yield line


def sanitize() -> int:
    """Run the checks under both tools, and return their exit status."""
    tool = shutil.which("compute-sanitizer")
    if tool is None:
        print("left out: compute-sanitizer is not on PATH")
        return 1
    worst = 0
    for name in ("memcheck", "racecheck"):
        command = [tool, "--tool", name, "--error-exitcode", "9", sys.executable, __file__, "--only", "checks"]
        print(" ".join(["compute-sanitizer", "--tool", name]), flush=True)
        worst = max(worst, subprocess.run(command, check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
