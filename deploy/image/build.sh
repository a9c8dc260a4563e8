#!/usr/bin/env bash
# The steps that build the image of all processes. The Dockerfile runs them one by one, so that each is cached;
# `npm run image:steps` runs them in a row, without an engine.
#
#   build.sh manifests <folder>     copies what npm ci reads: the package.json files and the lock
#   build.sh dependencies           installs what compilation needs
#   build.sh compile                compiles the processes
#   build.sh production <folder>    fills an empty folder with the programs and their dependencies, nothing else
#   build.sh all <folder>           runs all steps on a copy of the files that git keeps or would keep
#
# All but the last work in the repository of this script.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The parts of a package that are read at run time.
RUNS="dist migrations bin platform-role.sql"

# Install scripts are third-party code with all our rights; our dependencies need none.
NPM_CI="npm ci --ignore-scripts --prefer-offline --no-audit --no-fund"

# The processes and brandctl.
programs() {
  local manifest
  for manifest in services/*/package.json {gateway,brandctl}/package.json console/{server,web}/package.json; do dirname "$manifest"; done
}

workspace_options() { programs | sed 's/^/--workspace=/'; }

# Lists the folders of our packages.
packages() {
  local manifest
  for manifest in {proto,gateway,brandctl,test}/package.json {packages,clients,services,console,deploy}/*/package.json; do
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
  # shellcheck disable=SC2046 # split into words
  $NPM_CI --include=dev --include-workspace-root $(workspace_options)
}

compile() {
  # shellcheck disable=SC2046 # split into words
  node_modules/.bin/tsc -b $(programs)
  node gateway/guides/build.js
  node scripts/bundle-programs.js
  node console/web/build.js
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
  # The optional packages are a database and a Node: here another container and the image provide them.
  # shellcheck disable=SC2046 # split into words
  (cd "$target" && $NPM_CI --omit=dev --omit=optional $(workspace_options))
  # npm has linked our packages that the programs need, directly or not. Delete the others.
  needed="$(find "$target/node_modules/@brand-records" -type l -exec readlink {} \; | sed 's#^\(\.\./\)*##')"
  packages | while read -r package; do
    if ! grep -qxF "$package" <<<"$needed"; then rm -r "${target:?}/$package"; fi
  done
  # Only npm needs the lock; only the compiler needs types and build information.
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
      # Skips files that are deleted but not committed.
      if [ -e "$file" ]; then printf '%s\0' "$file"; fi
    done |
    tar -cf - --null -T - | tar -xf - -C "$1"
}

all() {
  local target sources
  mkdir -p "$1"
  target="$(cd "$1" && pwd)"
  sources="$(mktemp -d)"
  # shellcheck disable=SC2064 # expand now, not when the trap runs
  trap "rm -rf '$sources'" EXIT
  # The Dockerfile's order: the installation sees no other files there either.
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
