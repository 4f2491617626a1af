#!/usr/bin/env bash
# Every test that docs/known-faults.md names is there: known_faults.sh kerf_tests
set -euo pipefail

tests=$1
page=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)/docs/known-faults.md
names=$(sed -n '/^| [0-9]/p' "$page" | grep -o '`[^`]*`' | tr -d '`' | sort -u)
[ -n "$names" ] || { echo "$page names no test" >&2; exit 1; }
missing=0
while IFS= read -r name; do
    found=$("$tests" "$name" --list-tests | tail -n 2) || true
    [[ $found == *"1 matching test case"* ]] || { echo "$page: there is no test \`$name\`" >&2; missing=1; }
done <<<"$names"
exit "$missing"
