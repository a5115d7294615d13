#!/bin/bash
# Puts the packages together: package.sh BUILD OUT. BUILD has acu and acu_static; see README.md. Needs dpkg-deb, xz, objcopy.
set -euo pipefail

build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")/.."
version=$("$build/acu" --version | sed 's/^acu \([^ ]*\).*/\1/')
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} LC_ALL=C TZ=UTC
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

strip_to() { # FROM TO DEBUG [OPTION…]
  objcopy --only-keep-debug "$1" "$out/$3"
  install -D -m 755 "$1" "$2"
  objcopy --strip-all "${@:4}" --add-gnu-debuglink="$out/$3" "$2"
}

# What both have, below a folder such as usr.
add_share() {
  local share=$1/share
  mkdir -p "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d" "$share/acu/tools"
  cp -r tools/. "$share/acu/tools"
  find "$share/acu/tools" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
  grep -lr '^#!' "$share/acu/tools" | xargs chmod 755
  "$build/acu" help man | gzip -9n >"$share/man/man1/acu.1.gz"
  for command in $("$build/acu" help | sed -n '/^examples:/q; s/^  \([a-z]\+\)  .*/\1/p'); do
    "$build/acu" help man "$command" | gzip -9n >"$share/man/man1/acu-$command.1.gz"
  done
  "$build/acu" help completion bash >"$share/bash-completion/completions/acu"
  "$build/acu" help completion zsh >"$share/zsh/vendor-completions/_acu"
  "$build/acu" help completion fish >"$share/fish/vendor_completions.d/acu.fish"
}

python3 packaging/sbom.py "$version" >"$out/acu.spdx.json"

# ---- Debian
root=$work/deb doc=$work/deb/usr/share/doc/acu
strip_to "$build/acu" "$root/usr/bin/acu" acu.debug
add_share "$root/usr"
install -D -m 644 packaging/acu-flight.service "$root/usr/lib/systemd/system/acu-flight.service"
install -D -m 644 README.md "$doc/README.md"
install -m 644 docs/*.md "$out/acu.spdx.json" "$doc"
install -D -m 644 docs/fleet/acu-grafana.json "$doc/fleet/acu-grafana.json"
{
  echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
  echo "Upstream-Name: acu"
  echo
  echo "Files: *"
  echo "Copyright: the acu authors"
  echo "License: Apache-2.0"
  sed 's/^$/./; s/^/ /' NOTICE
  echo " ."
  echo " On Debian systems, the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0."
} >"$doc/copyright"
printf 'acu (%s) unstable; urgency=medium\n\n  * Release %s.\n\n -- the acu authors <acu@acu.invalid>  %s\n' \
  "$version" "$version" "$(date -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
libc=$(objdump -T "$build/acu" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -1)
install -D -m 644 packaging/lintian-overrides "$root/usr/share/lintian/overrides/acu"
sed -i '1s|^#!/usr/bin/env -S acu run$|#!/usr/bin/acu|; 1s|^#!/usr/bin/env -S acu |#!/usr/bin/acu |' "$root"/usr/share/acu/tools/*.bt "$root"/usr/share/acu/tools/static/*.bt
mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: acu
Version: $version
Architecture: amd64
Maintainer: the acu authors <acu@acu.invalid>
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Depends: libc6 (>= $libc)
Recommends: libzydis4.0, libssl3, libsodium23
Suggests: libdebuginfod1
Section: utils
Priority: optional
Description: dynamic tracing of the kernel and of programs
 acu puts probes into the running kernel and its programs, answers a question,
 and withdraws. It runs scripts in the language of bpftrace, draws flame graphs
 of CPU time, waits, memory, I/O and locks with complete stacks, traces system
 calls and functions, records what led up to a rare event, and finds out why a
 process is slow, stuck, growing or failing.
END
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$work" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz -z9 --build "$root" "$out/acu_${version}_amd64.deb" >/dev/null

# ---- any Linux
name=acu-$version-x86_64
# Without a dynamic symbol table, the programs of `acu learn` need their names.
strip_to "$build/acu_static" "$work/$name/bin/acu" acu-static.debug --keep-symbol 'shop_*' --wildcard
add_share "$work/$name"
install -m 644 README.md LICENSE NOTICE "$out/acu.spdx.json" "$work/$name"
tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -c "$name" | xz -9e -T1 >"$out/$name.tar.xz"

cd "$out" && ls -l "acu_${version}_amd64.deb" "$name.tar.xz" && sha256sum "acu_${version}_amd64.deb" "$name.tar.xz"
