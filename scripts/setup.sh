#!/bin/bash
# Installs the packages that are missing for a purpose: scripts/setup.sh build|run|test|fuzz|bench|package
# Debian 12. Needs root or sudo only when something is missing; does nothing when all is there.
set -euo pipefail

purpose=${1:-build}
packages=(cmake ninja-build g++ clang linux-libc-dev ccache libgtest-dev libdeflate-dev libncurses-dev libzstd-dev liblzma-dev libiberty-dev libclips-dev libsqlite3-dev libboost-dev libsodium-dev libssl-dev libedit-dev libbsd-dev libzydis-dev rapidjson-dev node-d3-hierarchy node-d3-selection nodejs npm)
case $purpose in
build) ;;
run) packages+=(python3 nginx-light) ;;
test) packages+=(gdb golang-go openjdk-17-jdk-headless python3 bpftool bpftrace linux-perf dwz strace uftrace elfutils libdw-dev xz-utils zip libzydis4.0 libssl3 libsodium23 libdebuginfod1 systemtap-sdt-dev systemtap
  binutils lld mold rustc libc++-dev libc++abi-dev
  sqlite3 lsof iproute2 procps qemu-system-x86 debootstrap busybox-static e2fsprogs chromium tmux groff-base python3.11 python3.11-dbg python3-greenlet php8.2-cli php8.2-fpm
  php8.2-sqlite3 perl ruby redis-server postgresql-15 curl openssl bash nginx-light libnginx-mod-http-echo libnginx-mod-http-lua luajit2 lua5.1 lua5.2 lua5.3 lua5.4 mariadb-server
  memcached gnutls-bin babeltrace2 protobuf-compiler python3-protobuf lldb python3-six libbpf-dev libelf-dev python3-bpfcc python3-jsonschema wrk clickhouse-server prometheus) ;;
fuzz) ;;
package) packages+=(lintian debootstrap xz-utils busybox-static) ;;
bench) packages+=(python3 nginx-light redis-server redis-tools postgresql-15 openjdk-17-jdk-headless wrk strace tcpdump bpftool bpftrace libbpf-tools libbpf-dev libelf-dev elfutils linux-perf trace-cmd llvm-14 libllvm14 libc6-dbg gdb lldb python3-six chromium clickhouse-server) ;;
*) echo "usage: $0 build|run|test|fuzz|bench|package" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "setup: no apt-get here; please install: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  # A package that another one replaces (nginx for nginx-light), or a program from elsewhere (rustup, npm with Node.js), counts as there.
  case $package in
  nginx-light) command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] && continue ;;
  rustc) command -v rustc >/dev/null && continue ;;
  nodejs) command -v node >/dev/null && continue ;;
  npm) command -v npm >/dev/null && continue ;;
  esac
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: missing packages, and neither root nor sudo to install them: ${missing[*]}" >&2
    exit 4
  fi
  as_root=(sudo)
fi

# A freshly installed server must not start by itself, now or at the next boot: the tests run their own, on a port of its own.
policy=/usr/sbin/policy-rc.d
own_policy=
if [ ! -e $policy ]; then
  own_policy=1
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee $policy >/dev/null
  "${as_root[@]}" chmod 755 $policy
fi
trap '[ -z "$own_policy" ] || "${as_root[@]}" rm -f $policy' EXIT

enabled() {
  find /etc/systemd/system/multi-user.target.wants -type l 2>/dev/null | sort
}
enabled_before=$(enabled)

install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/tmp/acu-setup.$$ 2>&1
}
echo "setup: installing ${missing[*]}" >&2
# Package lists may be absent (fresh container) or old: update once, and only then.
if ! install; then
  "${as_root[@]}" apt-get update -qq >/dev/null
  if ! install; then
    tail -20 /tmp/acu-setup.$$ >&2
    rm -f /tmp/acu-setup.$$
    exit 1
  fi
fi
rm -f /tmp/acu-setup.$$
comm -13 <(echo "$enabled_before") <(enabled) | while read -r link; do
  [ -z "$link" ] || "${as_root[@]}" systemctl --quiet disable "$(basename "$link")" >/dev/null 2>&1 || echo "setup: cannot disable $(basename "$link")" >&2
done
