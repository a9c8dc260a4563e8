#!/usr/bin/env bash
# The steps that make the image of all processes, in one place: the Dockerfile runs them one by one, so that each is
# cached, and `npm run image:steps` in a row, where there is no engine to build with.
#
#   build.sh manifests <folder>     copies what npm installs by: the package.json files and the lock
#   build.sh dependencies           installs what compiling needs
#   build.sh compile                compiles the processes
#   build.sh production <folder>    puts what runs into an empty folder, with its dependencies and nothing else
#   build.sh all <folder>           everything, on a copy of what git keeps or would: yours stays as it is
#
# Each but the last works in the folder of the sources this script lies in.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Of a package: nothing else is read when it runs.
RUNS="dist migrations bin platform-role.sql"

# Install scripts are code of others with all our rights; what we install needs none.
NPM_CI="npm ci --ignore-scripts --prefer-offline --no-audit --no-fund"

# The processes, and the command line that administers them.
programs() {
  local manifest
  for manifest in services/*/package.json gateway/package.json packages/brandctl/package.json; do dirname "$manifest"; done
}

workspace_options() { programs | sed 's/^/--workspace=/'; }

# The folders of our packages.
packages() {
  local manifest
  for manifest in proto/package.json gateway/package.json test/package.json {packages,services,deploy}/*/package.json; do
    if [ -f "$manifest" ]; then dirname "$manifest"; fi
  done
}

manifests() {
  local package
  mkdir -p "$1"
  cp package.json package-lock.json "$1"
  packages | while read -r package; do
    mkdir -p "$1/$package"
    cp "$package/package.json" "$1/$package/"
  done
}

dependencies() {
  # shellcheck disable=SC2046 # a word each
  $NPM_CI --include=dev --include-workspace-root $(workspace_options)
}

compile() {
  # shellcheck disable=SC2046 # a word each
  node_modules/.bin/tsc -b $(programs)
}

production() {
  local target="$1" package folder needed
  mkdir -p "$target"
  if [ -n "$(ls -A "$target")" ]; then
    echo "$target is not empty" >&2
    exit 1
  fi
  manifests "$target"
  packages | while read -r package; do
    for part in $RUNS; do
      if [ -e "$package/$part" ]; then cp -R "$package/$part" "$target/$package/"; fi
    done
  done
  # Optional are a database and a Node for machines without: here, one is another container and the other the image's.
  # shellcheck disable=SC2046 # a word each
  (cd "$target" && $NPM_CI --omit=dev --omit=optional $(workspace_options))
  # npm has linked those packages of ours that the programs need, directly or not. The others go.
  needed="$(find "$target/node_modules/@brand-records" -type l -exec readlink {} \; | sed 's#^\(\.\./\)*##')"
  packages | while read -r package; do
    if ! grep -qxF "$package" <<<"$needed"; then rm -r "${target:?}/$package"; fi
  done
  # npm asked for the lock; types and build information serve the compiler.
  rm "$target/package-lock.json"
  find "$target" -name node_modules -prune -o \( -name '*.d.ts' -o -name '*.tsbuildinfo' \) -exec rm {} +
  find "$target" -name node_modules -prune -o -type d -empty -exec rmdir {} +
  mkdir -p "$target/deploy/image"
  cp deploy/image/healthy.js "$target/deploy/image/"
}

copy_sources() {
  local file
  git ls-files -z --cached --others --exclude-standard --deduplicate |
    while IFS= read -r -d '' file; do
      # Without those that were deleted and not committed.
      if [ -e "$file" ]; then printf '%s\0' "$file"; fi
    done |
    tar -cf - --null -T - | tar -xf - -C "$1"
}

all() {
  local target sources
  mkdir -p "$1"
  target="$(cd "$1" && pwd)"
  sources="$(mktemp -d)"
  # shellcheck disable=SC2064 # this one, whatever the name means by then
  trap "rm -rf '$sources'" EXIT
  # In the Dockerfile's order: what installs sees no more than there.
  manifests "$sources"
  mkdir -p "$sources/deploy/image"
  cp deploy/image/build.sh "$sources/deploy/image/"
  "$sources/deploy/image/build.sh" dependencies
  copy_sources "$sources"
  "$sources/deploy/image/build.sh" compile
  "$sources/deploy/image/build.sh" production "$target"
}

case "${1:-} $#" in
  "manifests 2" | "production 2" | "all 2") "$1" "$2" ;;
  "dependencies 1" | "compile 1") "$1" ;;
  *)
    sed -n '2,/^$/s/^# \{0,1\}//p' deploy/image/build.sh >&2
    exit 64
    ;;
esac
