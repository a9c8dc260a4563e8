#!/usr/bin/env bash
# Runs every static check. Prints each step, and stops at the first that fails.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$1"; }

step "format"
prettier --check --log-level warn .

step "types"
tsc -b

step "lint"
oxlint --quiet

step "protocol: lint and compatibility with the last release"
(cd proto && buf lint && { [ ! -f released.binpb ] || buf breaking --against released.binpb; })

step "protocol: generated code is up to date"
generated=$(mktemp -d)
trap 'rm -rf "$generated"' EXIT
(cd proto && buf generate -o "$generated")
diff -r proto/gen "$generated/gen" || { echo "run: npm run generate, and commit proto/gen" >&2; exit 1; }
