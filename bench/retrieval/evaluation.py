r"""A wrapper that saves results of `pychunk eval` in bench/results: measures, costs and main differences, no curves.

    python bench/retrieval/evaluation.py --save bench/results/eval_squad_static.json --title "Retrieval on SQuAD" -- \
        squad/dev-v2.0.json -m recursive:size=110 --mode hybrid --mode dense --mode sparse --mode recipe

The arguments after -- go to `pychunk eval`; --data is the folder of the data set.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

PEERS = (
    "chonkie",
    "langchain-text-splitters",
    "langchain-experimental",
    "llama-index-core",
    "semchunk",
    "semantic-text-splitter",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds the data set")
    parser.add_argument("--save", type=Path, metavar="FILE", required=True)
    parser.add_argument("--title", required=True)
    parser.add_argument("dataset")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        dataset = str((options.data / options.dataset).resolve())
        command = [sys.executable, "-m", "pychunk", "eval", dataset, *options.arguments, "--json", str(out)]
        subprocess.run(command, check=True, cwd=folder)  # not in the checkout, whose pychunk/ has no native module
        found = json.loads(out.read_text(encoding="utf-8"))
    data = found["dataset"]
    about = "{documents:,} documents, {questions:,} questions, {words:,} words.".format(**data)
    rows = [
        {"row": row["name"], "encoder": row["encoder"], "measures": row["measures"], **row["cost"]}
        for row in found["rows"]
    ]
    primary = found.get("primary") or []
    differences = [
        {
            **{key: each[key] for key in ("measure", "row", "against")},
            "difference": {key: each[key] for key in ("mean", "low", "high")},
        }
        for each in found.get("differences") or []
        if each["measure"] in primary
    ]
    line = shlex.join(["pychunk", "eval", options.dataset, *options.arguments])
    figures = {"rows": rows, "differences": differences, "absent": found.get("absent") or []}
    packages = ["onnxruntime", "faiss-cpu", "PyStemmer", *(PEERS if "--peers" in options.arguments else ())]
    record.save(
        options.save, options.title, figures, about=about, packages=packages, command=line, encoder=found["encoder"]
    )


if __name__ == "__main__":
    main()
