#!/usr/bin/env bash
# scripts/peers without any peer: the statistics, our entry against a second build of itself with its
# values, and what is said to wrong arguments. KERF_BUILD_DIR is built.
set -euo pipefail

source=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
fail() {
    printf 'peers: %s\n' "$*" >&2
    exit 1
}
grid_sampler() {
    PYTHONDONTWRITEBYTECODE=1 python3 "$source/scripts/peers/grid_sampler" --no-build --no-torch "$@"
}

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source/scripts/peers python3 - <<'EOF' || fail 'the statistics are wrong'
import figures
assert figures.interval([3, 1, 2, 6, 5, 4]) == (3.5, 1, 6, 31 / 32)
assert figures.interval(range(9))[:3] == (4, 1, 7)  # 511/512 with the extremes, 0.961 without them
assert figures.interval([7])[:3] == (7, 7, 7)
assert figures.show(figures.interval([7])) == "7.00"  # one process has no interval
assert figures.show(figures.interval([7, 8])) == "7.50 [7.00, 8.00]"
line = "N=1 C=32 H=4 W=4 Ho=4 Wo=4 dtype={} fill=smooth seed=1"
times = [dict(kind="time", case=line.format(dtype), threads=threads, process=process, bytes=1 << 21,
              ns={"kerf": [ns, 2 * ns, ns], "old": [3 * ns, 6 * ns, 9 * ns]})
         for process in range(6) for dtype, ns in (("f32", 100), ("f16", 50)) for threads in (1, 2)]
found = figures.Figures(times)
key = line.format("f32"), 1
assert found.ratio(key, "old")[:3] == (3, 3, 3)
assert abs(found.mean_ratio([key], "old")[0] - 3) < 1e-12
assert figures.dtype_table(found, [line.format("f32"), line.format("f16")], [1], "old")[1] == [
    ["f16", "bilinear", "1", "1", "2.00 [2.00, 2.00]", "3.00 [3.00, 3.00]"]]
assert figures.scaling_table(found, [line.format("f32")], [1, 2])[1][0][1] == "1.00 [1.00, 1.00] (1)"
for record in times:
    record["limit_ns"] = 60 if record["threads"] == 1 else 40
assert figures.scaling_table(found, [line.format("f32")], [1, 2])[1][0][1] == (
    "1.00 [1.00, 1.00] (1); 0.67 of the limit's 1.50")
assert figures.group_of("C=64 layout=nhwc") == figures.GROUPS[1] and figures.group_of("C=1") == figures.GROUPS[3]
EOF

cp -L "$KERF_BUILD_DIR/libkerf_kernels.so" "$folder/other.so"

export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source/scripts/peers

# The forward: one output, and one wrong element in it.
python3 - "$folder/other.so" <<'EOF' || fail 'a wrong y passes'
import os, struct, sys
import library
entry = library.Library(os.environ["KERF_BUILD_DIR"], "grid_sampler")
case = library.Case(entry, "N=1 C=2 H=5 W=6 Ho=4 Wo=3 dtype=f32 fill=uniform", 2, 1)
packed = case.result(case.bind(sys.argv[1]))
case.expect(0)
assert list(packed) == [2] and case.judge(0, packed)["n_bad"] == 0
packed[2][4:8] = struct.pack("f", 100.0)
assert case.judge(0, packed)["n_bad"] == 1
case.close()
EOF

# Elements that are only moved: ours is right bit for bit, one changed bit is wrong, and a copy is a row like others.
python3 - "$folder/other.so" <<'EOF' || fail 'a wrong element of space_to_batch passes'
import os, sys
import library
entry = library.Library(os.environ["KERF_BUILD_DIR"], "space_to_batch")
case = library.Case(entry, "shape=1,5,6,3 block_shape=2,3 paddings=1,0,0,3 dtype=f16 fill=uniform", 2, 1)
packed = case.result(case.bind(sys.argv[1]))
case.expect(0)
assert list(packed) == [1] and case.judge(0, packed)["n_bad"] == 0
packed[1][0] = bytes([packed[1][0][0] ^ 1])
assert case.judge(0, packed)["n_bad"] == 1
for copy in library.COPIES:
    case.caller(case.bind(copy))()
case.close()
EOF

# One wrong element in each of the outputs, and one that is not finite.
python3 - "$folder/other.so" <<'EOF' || fail 'a wrong value passes'
import os, struct, sys
import library
entry = library.Library(os.environ["KERF_BUILD_DIR"])
case = library.Case(entry, "N=1 C=2 H=5 W=6 Ho=4 Wo=3 dtype=f32 fill=uniform", 2, 1)
packed = case.result(case.bind(sys.argv[1]))
case.expect(0)
assert (case.judge(0, packed)["n_bad"], case.judge(0, packed)["ratio"] > 0) == (0, True)
for output, value in (3, 100.0), (4, float("nan")):
    packed[output][4:8] = struct.pack("f", value)
limits = [entry.limit_ns(case.handle, threads) for threads in (1, 2)]  # both 0 where bench doctor never ran
assert limits == [0, 0] or min(limits) > 0
found = case.judge(0, packed)
assert found["n_bad"] == 2 and found["bad_part"] == 2 / (60 + 24) and found["class_part"] == 1 / (60 + 24)
assert found["error_part"] > 1
case.close()
EOF
printf 'N=1 C=%s H=5 W=6 Ho=4 Wo=3 dtype=f16\n' 3 32 >"$folder/cases.txt"
compare() {
    grid_sampler --cases "$folder/cases.txt" --threads 1,2 --processes 2 --case-time 0.001 --out "$folder/records" \
        --lib "other=$folder/other.so" "$@"
}
compare >"$folder/first" || fail 'the comparison of two builds failed'
grep -q '^`N=1 C=32 .*\[.*\]' "$folder/first" || fail 'no ratio with its interval'
# Every value is there, none is wrong, and both builds agree.
awk '/"kind": "value"/' "$folder/records" | grep -c '"n_bad": 0' >"$folder/right"
[ "$(cat "$folder/right")" = "$(grep -c '"kind": "value"' "$folder/records")" ] || fail 'wrong values'
[ "$(cat "$folder/right")" -ge 4 ] || fail 'values are missing'
lines=$(wc -l <"$folder/records")
compare >"$folder/second" || fail 'what stands in the records is not taken'
[ "$(wc -l <"$folder/records")" = "$lines" ] || fail 'what stands in the records was measured again'
cmp -s "$folder/first" "$folder/second" || fail 'the same records give another table'

code=0
compare --seed 2 2>"$folder/error" || code=$?
[ "$code" = 2 ] && grep -q 'measured with other' "$folder/error" || fail 'records of another comparison are accepted'
code=0
compare --limit 0.000001 --out "$folder/none" >"$folder/third" 2>"$folder/error" || code=$?
[ "$code" = 75 ] && grep -q 'left' "$folder/error" || fail 'a comparison that is not done must exit with 75'
code=0
printf 'N=1 C=3 H=5 W=6 Ho=4\n' >"$folder/cases.txt"
compare 2>"$folder/error" || code=$?
[ "$code" = 2 ] && grep -q 'missing sizes: Wo' "$folder/error" || fail 'a wrong case line is not refused'
