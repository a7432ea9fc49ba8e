#!/usr/bin/env bash
# Builds the extension, including GPU kernels on their emulator, with the address and undefined-behaviour sanitizers,
# and runs the tests with it.
#   bash tests/sanitize.sh [python] [build folder]
# The python must have the packages of the extra `test`, scikit-build-core, pybind11, cmake and ninja.
set -euo pipefail
python=$(command -v "${1:-python}")
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${2:-$root/build/sanitized}
mkdir -p "$folder/build" "$folder/site"
scripts=$(dirname "$python")
PATH=$scripts:$PATH cmake -S "$root" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DPYCHUNK_SANITIZE=address,undefined -DPYCHUNK_CUDA=EMULATED -DSKBUILD_PROJECT_VERSION=0.0.0 -DPython_EXECUTABLE="$python" \
  -Dpybind11_DIR="$("$python" -m pybind11 --cmakedir)" > "$folder/configure.log"
PATH=$scripts:$PATH cmake --build "$folder/build" > "$folder/build.log" || { tail -n 40 "$folder/build.log"; exit 1; }
cp -r "$root/pychunk" "$folder/site/"
rm -f "$folder"/site/pychunk/_c*.so
cp "$folder"/build/_c*.so "$folder/site/pychunk/"
cd "$folder"
# Python itself keeps memory until it ends, and so do the pool's threads, so that leaks are not checked.
ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)" \
  PYTHONPATH="$folder/site" "$python" -m pytest -q -n 2 --dist loadfile -p no:cacheprovider -c "$root/pyproject.toml" --rootdir "$root" \
  "$root/tests/segment/test_segment.py" "$root/tests/segment/test_tokenizer_limits.py" "$root/tests/csrc/test_token_counter.py" \
  "$root/tests/csrc/test_sentencepiece.py" "$root/tests/tokenizers/test_byte_pair.py" "$root/tests/tokenizers/test_added_tokens.py" "$root/tests/csrc/test_sentence_splitter.py" "$root/tests/csrc/test_wordpiece.py" "$root/tests/csrc/test_recursive.py" \
  "$root/tests/segment/test_batches.py" "$root/tests/segment/test_editing.py" "$root/tests/inputs/test_given_vectors.py" "$root/tests/inputs/test_languages.py" "$root/tests/csrc/test_cuda.py" "$root/tests/_engine/test_device.py" \
  "$root"/tests/csrc/parsing/test_{html,noise,wiki}_*.py "$root/tests/service/test_json_rows.py" "$root/tests/chunks/test_chunk_table.py" "$root/tests/encoders/test_int8_bert.py" \
  "$root/tests/index/lexical/test_analyzer.py" "$root/tests/index/lexical/test_postings.py" "$root/tests/index/dense/test_scan.py" \
  -m "not long" \
  -k "not hard_documents and not fork and not instruction_set and not every_c and not real_pages and not articles and not large_doc"
