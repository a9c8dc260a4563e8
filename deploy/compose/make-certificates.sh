#!/usr/bin/env bash
# Creates the certificate with which processes on different hosts authenticate each other (RPC_TLS_CERT, RPC_TLS_KEY,
# RPC_TLS_CA): one for all processes, signed by an authority whose key is discarded, so that no other can be signed. The
# holder of its key is trusted to name any brand.
#
#   make-certificates.sh <folder> <host name>…
#
# Keeps existing certificates that have all names; a release may add a process. Delete the folder's files to replace them.

set -euo pipefail

DAYS=3650

folder="${1:?usage: make-certificates.sh <folder> <host name>…}"
shift

has_names() {
  local present name
  present="$(openssl x509 -in "$folder/cert.pem" -noout -ext subjectAltName 2>/dev/null)" || return 1
  for name in "$@"; do
    grep -qE "DNS:$name(,|\$)" <<<"$present" || return 1
  done
}
if [ -e "$folder/key.pem" ] && has_names "$@"; then exit 0; fi
# The old set must not look complete while the new one is written.
rm -f "$folder/key.pem"

draft="$(mktemp -d)"
trap 'rm -rf "$draft"' EXIT
cd "$draft"

names="$(printf ',DNS:%s' "$@")"
new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
openssl req -x509 "${new_key[@]}" -keyout authority-key.pem -out ca.pem -days "$DAYS" -subj "/CN=Brand Records processes" \
  -addext "basicConstraints=critical,CA:TRUE,pathlen:0" -addext "keyUsage=critical,keyCertSign" 2>/dev/null
openssl req "${new_key[@]}" -keyout key.pem -out request.pem -subj "/CN=$1" 2>/dev/null
openssl x509 -req -in request.pem -CA ca.pem -CAkey authority-key.pem -days "$DAYS" -out cert.pem -extfile /dev/stdin 2>/dev/null <<EXTENSIONS
subjectAltName=${names#,}
extendedKeyUsage=serverAuth,clientAuth
keyUsage=critical,digitalSignature
basicConstraints=critical,CA:FALSE
EXTENSIONS

chmod 600 key.pem
# The key comes last: its presence means that the set is complete.
cp ca.pem cert.pem "$folder/"
cp -p key.pem "$folder/key.draft" && mv "$folder/key.draft" "$folder/key.pem"
