#!/usr/bin/env bash
# Creates the certificates with which processes on different hosts authenticate each other (RPC_TLS_CERT, RPC_TLS_KEY,
# RPC_TLS_CA): one for each process, with its SPIFFE id, all signed by one authority.
#
#   make-certificates.sh <folder> <authority folder> <process>[,<name or address>…]…
#
# A process is gateway, accounts, records, plans, webhook, console or operator (brandctl). Its own name is always among the
# names of its certificate. Writes <folder>/<process>/cert.pem, key.pem and ca.pem.
#
# A key is its owner's alone. With KEY_GROUP=<group>, that group may read it too: for processes that run as another user.
#
# The authority's key stays in the authority folder: keep it from every process. Its holder can call every method for any brand.
#
# Run it again at any time, such as daily: it replaces what is missing, does not fit, lacks a name or ends within 30 days, and running
# processes take up the new files within 10 s. To replace the authority, delete its folder, run this, and restart the processes.

set -euo pipefail

LEAF_DAYS=365
RENEW_DAYS=30
AUTHORITY_DAYS=3650
# The prefix of the ids of this installation's processes, and of no others: SPIFFE_PREFIX sets another.
prefix="${SPIFFE_PREFIX:-spiffe://brand-records.internal/ns/compose/sa/}"

usage="usage: make-certificates.sh <folder> <authority folder> <process>[,<name or address>…]…"
folder="${1:?$usage}"
authority="${2:?$usage}"
shift 2

for process in "$@"; do
  case "${process%%,*}" in
    gateway | accounts | records | plans | webhook | console | operator) ;;
    *)
      echo "make-certificates.sh: ${process%%,*} is not a process. $usage" >&2
      exit 78
      ;;
  esac
done

umask 077
draft="$(mktemp -d)"
trap 'rm -rf "$draft"' EXIT
let_group_read() {
  [ -n "${KEY_GROUP:-}" ] || return 0
  chgrp "$KEY_GROUP" "$1"
  chmod 640 "$1"
}
new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)

# Processes of other users must reach their folders.
[ -d "$folder" ] || (umask 022 && mkdir -p "$folder")

mkdir -p "$authority"
if ! [ -e "$authority/key.pem" ]; then
  openssl req -x509 "${new_key[@]}" -keyout "$draft/key.pem" -out "$draft/ca.pem" -days "$AUTHORITY_DAYS" \
    -subj "/CN=Brand Records processes" -addext "basicConstraints=critical,CA:TRUE,pathlen:0" \
    -addext "keyUsage=critical,keyCertSign" 2>/dev/null
  cp "$draft/ca.pem" "$authority/ca.pem"
  # The key comes last: its presence means that the authority is complete.
  mv "$draft/key.pem" "$authority/key.pem"
fi

# The names of a process, as in an openssl extension: DNS:a,IP:1.2.3.4,URI:spiffe://…
names_of() {
  local name names=""
  for name in ${1//,/ }; do
    if [[ "$name" == *:* || "$name" =~ ^[0-9]+(\.[0-9]+){3}$ ]]; then names+="IP:$name,"; else names+="DNS:$name,"; fi
  done
  echo "${names}URI:$prefix${1%%,*}"
}

is_current() {
  local leaf="$1/cert.pem"
  [ "$(cat "$1/names" 2>/dev/null)" = "$2" ] || return 1
  openssl x509 -in "$leaf" -noout -checkend $((RENEW_DAYS * 86400)) >/dev/null 2>&1 || return 1
  openssl verify -CAfile "$authority/ca.pem" "$leaf" >/dev/null 2>&1 || return 1
  # A renewal that was interrupted leaves a new certificate beside an old key or authority.
  cmp -s "$authority/ca.pem" "$1/ca.pem" || return 1
  [ "$(openssl x509 -in "$leaf" -pubkey -noout)" = "$(openssl pkey -in "$1/key.pem" -pubout 2>/dev/null)" ]
}

for given in "$@"; do
  process="${given%%,*}"
  target="$folder/$process"
  names="$(names_of "$given")"
  if is_current "$target" "$names"; then
    let_group_read "$target/key.pem"
    continue
  fi
  mkdir -p "$target"
  openssl req "${new_key[@]}" -keyout "$draft/key.pem" -out "$draft/request.pem" -subj "/CN=$process" 2>/dev/null
  openssl x509 -req -in "$draft/request.pem" -CA "$authority/ca.pem" -CAkey "$authority/key.pem" -days "$LEAF_DAYS" \
    -set_serial "0x$(openssl rand -hex 16)" -out "$draft/cert.pem" -extfile /dev/stdin 2>/dev/null <<EXTENSIONS
subjectAltName=$names
extendedKeyUsage=serverAuth,clientAuth
keyUsage=critical,digitalSignature
basicConstraints=critical,CA:FALSE
EXTENSIONS
  # A process that reads between these keeps its old pair until all fit each other.
  cp "$authority/ca.pem" "$target/ca.pem"
  cp "$draft/cert.pem" "$target/cert.pem"
  # Before a process can read it: none finds a key that is not for it.
  let_group_read "$draft/key.pem"
  mv "$draft/key.pem" "$target/key.pem"
  echo "$names" >"$target/names"
  chmod 755 "$target"
  chmod 644 "$target/ca.pem" "$target/cert.pem"
done
