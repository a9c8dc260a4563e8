#!/usr/bin/env bash
# Provides what the tests need in addition to npm, or lists everything that is missing and how to install it.
#
# ensure.sh [service…]   default: redis kafka; also postgres (the oldest supported version), chromium, prometheus with promtool,
#                        alertmanager, faketime; image: what builds and runs it; nginx; and python, go, php, ruby: the languages of the programs
#                        in docs/webhooks.md
#
# stdout: NAME=value lines for programs. stderr: text for people. Exit code: 1 if anything is missing.
#   REDIS_URL=redis://…        your running Redis
#   REDIS_SERVER=/path         a redis-server to run
#   KAFKA_BROKERS=host:port,…  your running Kafka
#   KAFKA_LIB_DIR=/path        the jars of a Kafka broker
#   JAVA=/path                 a java to run them with
#   POSTGRES_BIN=/path         the folder with the programs of Postgres 15, among them pg_dump and pg_restore
#   CHROMIUM=/path             a browser
#   FAKETIME_LIB=/path         the library that shifts the clock of a process
#   PROMETHEUS=/path, PROMTOOL=/path, ALERTMANAGER=/path
#
# To add a service, write a function `ensure_<name>` that calls `provide` or `lacks`.

set -u -o pipefail

SERVICES="${*:-redis kafka}"
# The version of the jars in kafka/pom.xml.
KAFKA_VERSION="4.3.1"
# The oldest supported version. Newer ones are tested with the binaries from npm.
POSTGRES_VERSION=15
# Kafka 4 needs it.
JAVA_VERSION_MIN=17
MAVEN_SECONDS_MAX=300
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# Deleted with node_modules. Maven keeps a copy, so copying again needs no network.
KAFKA_LIB_DIR="$HERE/../../node_modules/.cache/kafka-$KAFKA_VERSION"

MISSING=""

say() { printf '%s\n' "$*" >&2; }
provide() { printf '%s=%s\n' "$1" "$2"; }
# lacks <what> <fix>
lacks() { MISSING="${MISSING}  $1
      $2
"; }

# provide_first <name> <program…>: provides the path of the first program that there is.
provide_first() {
  local name="$1" program binary
  shift
  for program in "$@"; do
    binary="$(command -v "$program")" || continue
    say "$name: $binary"
    provide "$name" "$binary"
    return
  done
  return 1
}

# --- ways to get things -------------------------------------------------------------------------------------------

# bounded <seconds> <command…>: macOS has no timeout(1), so there the command is unbounded.
bounded() {
  if command -v timeout >/dev/null; then timeout "$@"; else shift && "$@"; fi
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_install_debian_packages() {
  command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }
}

# install_debian_package <package> [service…]: installs the package and disables its services, now and after a reboot: the
# tests start their own, and must not leave a daemon on the default port.
install_debian_package() {
  local package="$1"
  shift
  say "Installing Debian's $package${1:+, its service switched off} …"
  as_root sh -s "$package" "$@" >&2 <<'AS_ROOT'
    package=$1; shift
    # Debian's way to forbid starting services during an installation. An existing policy is kept.
    if [ ! -e /usr/sbin/policy-rc.d ]; then
      trap 'rm -f /usr/sbin/policy-rc.d' EXIT
      trap 'exit 1' HUP INT TERM
      printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
    fi
    export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
    # Says something only if it fails.
    apt() { said=$(apt-get -o DPkg::Lock::Timeout=120 -q "$@" </dev/null 2>&1) || { printf '%s\n' "$said"; return 1; }; }
    apt update || echo "apt-get update failed; trying with the current lists"
    apt install --yes --no-install-recommends "$package" || exit 1
    for service in "$@"; do
      if [ -d /run/systemd/system ]; then systemctl disable --quiet --now "$service"; else update-rc.d "$service" disable; fi
    done
    exit 0
AS_ROOT
}

# install_and_provide <command> <package> <service> <what> <fix>: if the command, which provides it, fails, installs Debian's package and tries again.
install_and_provide() {
  $1 && return
  can_install_debian_packages && install_debian_package "$2" ${3:+"$3"} && $1 && return
  lacks "$4" "$5"
}

# --- services -----------------------------------------------------------------------------------------------------

# Provides the means to start Redis: some tests freeze and kill theirs.
ensure_redis() {
  if [ -n "${REDIS_URL:-}" ]; then
    if ! redis_responds "$REDIS_URL"; then
      lacks "Redis does not respond at REDIS_URL, which is $(printf '%s' "$REDIS_URL" | sed -E 's#//[^@/]*@#//…@#')" \
        "start it, correct REDIS_URL, or unset REDIS_URL to have one started for you"
      return
    fi
    say "Redis: REDIS_URL"
    provide REDIS_URL "$REDIS_URL"
  fi
  install_and_provide provide_redis_server redis-server redis-server "redis-server (on the PATH)" \
    "Debian, Ubuntu: apt-get install redis-server · Fedora: dnf install redis · macOS: brew install redis"
}

provide_redis_server() { provide_first REDIS_SERVER redis-server; }

# Over TLS this only connects: the tests' client does the handshake with its own settings.
redis_responds() {
  local host port reply
  local pattern='^(rediss?)://([^@/]*@)?(\[[0-9a-fA-F:.]+\]|[^]:/[]+)(:([0-9]+))?(/.*)?$'
  [[ "$1" =~ $pattern ]] || return 1
  host="${BASH_REMATCH[3]}" port="${BASH_REMATCH[5]:-6379}"
  host="${host#[}" host="${host%]}"
  # In a separate process, which can be abandoned.
  reply="$(bounded 5 bash -c '
    exec 3<>"/dev/tcp/$0/$1" || exit 1
    [ "$2" = rediss ] && { echo +; exit; }
    printf "PING\r\n" >&3 && IFS= read -r -t 4 line <&3 && printf "%s" "$line"' "$host" "$port" "${BASH_REMATCH[1]}" 2>/dev/null)" || return 1
  # "-NOAUTH …" is a Redis too: its client has the password.
  case "$reply" in [+-]*) return 0 ;; *) return 1 ;; esac
}

# Provides the means to start Kafka: some tests freeze and kill theirs.
ensure_kafka() {
  if [ -n "${KAFKA_BROKERS:-}" ]; then
    if ! kafka_responds "$KAFKA_BROKERS"; then
      lacks "Kafka accepts no connection at KAFKA_BROKERS, which is $KAFKA_BROKERS" \
        "start it, correct KAFKA_BROKERS (host:port, comma-separated), or unset KAFKA_BROKERS to have one started for you"
      return
    fi
    say "Kafka: KAFKA_BROKERS"
    provide KAFKA_BROKERS "$KAFKA_BROKERS"
  fi
  provide_kafka_jars && return
  if can_install_debian_packages; then
    find_java >/dev/null || install_debian_package default-jre-headless
    has_kafka_jars || command -v mvn >/dev/null || install_debian_package maven
    provide_kafka_jars && return
  fi
  lacks "Kafka (Java $JAVA_VERSION_MIN or newer with Maven, which must reach its repository)" \
    "Debian, Ubuntu: apt-get install default-jre-headless maven · Fedora: dnf install java-latest-openjdk-headless maven · macOS: brew install openjdk maven"
}

provide_kafka_jars() {
  local java
  java="$(find_java)" || return 1
  has_kafka_jars || copy_kafka_jars || return 1
  say "Kafka: $KAFKA_VERSION from Maven, $java"
  provide KAFKA_LIB_DIR "$(cd "$KAFKA_LIB_DIR" && pwd)"
  provide JAVA "$java"
}

# find_java: prints the path of the first java that is new enough.
find_java() {
  local java version
  for java in "${JAVA_HOME:+$JAVA_HOME/bin/java}" "$(command -v java)"; do
    [ -x "$java" ] || continue
    version="$("$java" -version 2>&1 | sed -n 's/^.* version "\([0-9]*\).*/\1/p')"
    [ "${version:-0}" -ge "$JAVA_VERSION_MIN" ] && printf '%s' "$java" && return
  done
  return 1
}

has_kafka_jars() { [ -d "$KAFKA_LIB_DIR" ]; }

# Copies into a folder of this process, and renames it when complete: an interrupted copy is never used, and of two concurrent
# runs the slower one takes the folder of the other.
copy_kafka_jars() {
  local folder unfinished="$KAFKA_LIB_DIR.$$"
  command -v mvn >/dev/null || return 1
  for folder in "$KAFKA_LIB_DIR".*; do
    kill -0 "${folder##*.}" 2>/dev/null || rm -rf "$folder"
  done
  mkdir -p "$unfinished" || return 1
  say "Copying Kafka $KAFKA_VERSION from Maven, 44 MB …"
  if ! bounded "$MAVEN_SECONDS_MAX" mvn -q -B -Dstyle.color=never -f "$HERE/kafka/pom.xml" dependency:copy-dependencies \
    "-DoutputDirectory=$unfinished" </dev/null >&2; then
    rm -rf "$unfinished"
    return 1
  fi
  # If the name is taken, mv fails or moves the folder inside, where it is harmless until the rm below.
  mv "$unfinished" "$KAFKA_LIB_DIR" 2>/dev/null
  rm -rf "$unfinished" "$KAFKA_LIB_DIR/${unfinished##*/}"
  has_kafka_jars
}

# kafka_responds <host:port,…>: succeeds if one broker accepts a connection; the client finds the others through it.
kafka_responds() {
  local broker pattern='^(\[[0-9a-fA-F:.]+\]|[^]:/[]+):([0-9]+)$'
  local -a brokers
  IFS=', ' read -r -a brokers <<<"$1"
  for broker in "${brokers[@]}"; do
    [[ "$broker" =~ $pattern ]] || continue
    broker="${BASH_REMATCH[1]#[}"
    bounded 5 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "${broker%]}" "${BASH_REMATCH[2]}" 2>/dev/null && return
  done
  return 1
}

# Provides the programs of the oldest supported Postgres: yours if POSTGRES_BIN names them, else Debian's.
ensure_postgres() {
  install_and_provide provide_postgres "postgresql-$POSTGRES_VERSION" postgresql \
    "Postgres $POSTGRES_VERSION, the oldest supported version (POSTGRES_BIN=/path of the folder with its pg_dump)" \
    "Debian 12: apt-get install postgresql-$POSTGRES_VERSION · others: postgresql.org/download"
}

provide_postgres() {
  local folder
  for folder in "${POSTGRES_BIN:-}" "/usr/lib/postgresql/$POSTGRES_VERSION/bin"; do
    [ -x "$folder/postgres" ] && [ -x "$folder/pg_dump" ] || continue
    case "$("$folder/postgres" --version)" in *" $POSTGRES_VERSION."*) ;; *) continue ;; esac
    say "Postgres: $folder"
    provide POSTGRES_BIN "$folder"
    return
  done
  return 1
}

# Provides a browser: yours if CHROMIUM names it, else the first on the PATH, else Debian's package. The headless shell is the same engine
# without windows, menus and their processes.
ensure_chromium() {
  provide_chromium && return
  # Older Debians have the browser alone.
  can_install_debian_packages && { install_debian_package chromium-headless-shell || install_debian_package chromium; } && provide_chromium && return
  lacks "Chromium, in which the tests open the console (chromium or google-chrome on the PATH, or CHROMIUM=/path)" \
    "Debian: apt-get install chromium-headless-shell · Fedora: dnf install chromium · macOS: brew install --cask chromium"
}

provide_chromium() { provide_first CHROMIUM "${CHROMIUM:-}" chromium-headless-shell chromium chromium-browser google-chrome; }

ensure_prometheus() {
  install_and_provide provide_prometheus prometheus prometheus "Prometheus (prometheus and promtool on the PATH)" \
    "Debian, Ubuntu: apt-get install prometheus · macOS: brew install prometheus · others: prometheus.io/download"
}

provide_prometheus() { provide_first PROMETHEUS prometheus && provide_first PROMTOOL promtool; }

ensure_alertmanager() {
  install_and_provide provide_alertmanager prometheus-alertmanager prometheus-alertmanager \
    "Alertmanager (alertmanager or prometheus-alertmanager on the PATH)" \
    "Debian, Ubuntu: apt-get install prometheus-alertmanager · others: prometheus.io/download"
}

# Debian's program has a prefix.
provide_alertmanager() { provide_first ALERTMANAGER alertmanager prometheus-alertmanager; }

ensure_faketime() {
  install_and_provide provide_faketime faketime "" "libfaketime, with which tests set the clock of a process" "Debian, Ubuntu: apt-get install faketime · Fedora: dnf install libfaketime"
}

# Debian's folders are named for the machine's kind. The variant is that for programs with threads.
provide_faketime() {
  local library
  for library in /usr/lib/*/faketime/libfaketimeMT.so.1 /usr/lib64/faketime/libfaketimeMT.so.1; do
    [ -r "$library" ] || continue
    provide FAKETIME_LIB "$library"
    return
  done
  return 1
}

# ensure_program <program> <Debian package> [service]
ensure_program() {
  install_and_provide "command -v $1" "$2" "${3:-}" "$1, which tests run" "Debian, Ubuntu: apt-get install $2" >&2
}

ensure_image() {
  local program
  for program in buildah podman runc debootstrap; do ensure_program "$program" "$program"; done
}
ensure_python() { ensure_program python3 python3; }
ensure_nginx() { ensure_program nginx nginx-light nginx; }
ensure_go() { ensure_program go golang-go; }
ensure_php() { ensure_program php php-cli; }
ensure_ruby() { ensure_program ruby ruby; }

# ------------------------------------------------------------------------------------------------------------------

for service in $SERVICES; do
  declare -F "ensure_$service" >/dev/null || { say "Unknown service: $service. Known: redis kafka postgres chromium prometheus alertmanager faketime image nginx python go php ruby."; exit 64; }
  "ensure_$service"
done
if [ -n "$MISSING" ]; then
  say "Missing:"
  printf '%s' "$MISSING" >&2
  exit 1
fi
