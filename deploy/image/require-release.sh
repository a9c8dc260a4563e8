#!/usr/bin/env bash
# Fails the build of a release that is not reproducible: require-release.sh <version> <base image>. An empty version is no release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

release="$1" base="$2"
[ -n "$release" ] || exit 0

version="$(node -p 'require("./package.json").version')"
if [ "$release" != "$version" ]; then
  echo "RELEASE is $release, but package.json has $version" >&2
  exit 1
fi
# A tag names another image after the next push to it.
if ! [[ "$base" =~ @sha256:[0-9a-f]{64}$ ]]; then
  echo "BASE_IMAGE is $base: a release names it by digest, NAME:TAG@sha256:… (docs/release.md)" >&2
  exit 1
fi
