#!/usr/bin/env bash
# Does what docs/add-a-variant.md says, in a copy of the tree, and that a row without its file is a configure error.
set -euo pipefail

source=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf -- "$copy"' EXIT
fail() {
    printf 'add_a_variant: %s\n' "$*" >&2
    exit 1
}

tar -C "$source" --exclude=./build --exclude='./build-*' --exclude=./.git -cf - . | tar -C "$copy" -xf -
cd -- "$copy"
export XDG_DATA_HOME=$copy/data KERF_BUILD_DIR=$copy/build
export KERF_CMAKE_ARGS='-DKERF_HOST_LIBS=OFF -DKERF_CUDA=OFF -DCMAKE_BUILD_TYPE=Debug'

# The first block of commands; the page ends with another one, for plug-ins.
awk '/^```sh$/ { inside = 1; next } inside && /^```$/ { exit } inside' docs/add-a-variant.md >commands
grep -q 'KERF_SCALAR(mine)' commands || fail "docs/add-a-variant.md has no block of commands that adds \`mine\`"
bash -euxo pipefail commands >output || fail "a command of docs/add-a-variant.md failed"
cat output
grep -q 'mine@cpu' output || fail "the new row is not listed"
grep 'mine@cpu' output | grep -q PASS || fail "the new row was not verified"
[ "$(git -C "$source" ls-files -- kernels | grep -c mine)" = 0 ] || fail "the tree itself has a variant \`mine\`"

echo 'KERF_SCALAR(absent)' >>kernels/variants/grid_sampler_grad/variants.def
if scripts/bench list 2>errors; then
    fail "a row without its file was configured"
fi
# CMake breaks the lines of its messages.
tr -s ' \n' ' ' <errors | grep -q 'KERF_SCALAR(absent) needs the file' ||
    fail "the message does not name the row: $(cat errors)"
