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
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
(cd proto && buf generate -o "$made")
diff -r proto/gen "$made/gen" || { echo "run: npm run generate, and commit proto/gen" >&2; exit 1; }

step "types of the clients are up to date"
node scripts/client-types.js --check
node scripts/python-types.js --check

step "licences of dependencies"
node scripts/supply-chain/licences.js

step "bill of materials"
node scripts/supply-chain/sbom.js "$made/sbom.cdx.json"

step "advisories about dependencies"
node scripts/supply-chain/audit.js
