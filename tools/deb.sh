#!/bin/sh
# Packs built programs, manual pages, completions and documents as a Debian package, and prints its path:
#
#   tools/deb.sh BINARIES [OUT]     the folder with patzer and patzer-uci; OUT is target by default
#
# MAINTAINER="Name <address>" names who answers for the package. With SOURCE_DATE_EPOCH set, the same binaries give the
# same bytes. Needs dpkg-deb and gzip, and objdump (binutils) where the binaries are linked to the C library.
set -eu
binaries=$(cd "$1" && pwd)
mkdir -p "${2:-target}"
out=$(cd "${2:-target}" && pwd)
cd "$(dirname "$0")/.."
for tool in dpkg-deb gzip objdump; do
    command -v $tool > /dev/null || { echo "tools/deb.sh: $tool is missing" >&2; exit 1; }
done
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
architecture=$(dpkg --print-architecture)
maintainer=${MAINTAINER:-The authors of patzer}

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
share=$root/usr/share
mkdir -p "$root/usr/bin" "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/vendor-completions" \
    "$share/fish/vendor_completions.d" "$share/doc/patzer"
install -m 755 "$binaries/patzer" "$binaries/patzer-uci" "$root/usr/bin"

patzer=$root/usr/bin/patzer
"$patzer" man -o "$share/man/man1" > /dev/null
gzip -9n "$share"/man/man1/*.1
"$patzer" completions bash > "$share/bash-completion/completions/patzer"
"$patzer" completions zsh > "$share/zsh/vendor-completions/_patzer"
"$patzer" completions fish > "$share/fish/vendor_completions.d/patzer.fish"

# Documents keep their places, so that the links between them work.
cp -R *.md CITATION.cff docs examples "$share/doc/patzer"
{
    echo "patzer is free software: GPL-3.0-or-later, in /usr/share/common-licenses/GPL-3."
    echo "PNG files that it draws use letters of DejaVu Sans, whose licence follows."
    echo
    cat crates/report/src/font/LICENSE
} > "$share/doc/patzer/copyright"

# The newest version of a symbol is the C library that the programs need; static ones need none.
glibc=$(objdump -T "$binaries/patzer" "$binaries/patzer-uci" 2> /dev/null |
    sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -uV | tail -n 1)
mkdir "$root/DEBIAN"
{
    echo "Package: patzer"
    echo "Version: $version"
    echo "Architecture: $architecture"
    echo "Maintainer: $maintainer"
    echo "Installed-Size: $(du -sk "$root/usr" | cut -f 1)"
    [ -z "$glibc" ] || echo "Depends: libc6 (>= $glibc), libgcc-s1"
    echo "Section: science"
    echo "Priority: optional"
    echo "Description: turn a chess engine's games into a stronger evaluation, with proof"
    echo " Reads PGN, filters positions, tunes hand-crafted evaluations, trains"
    echo " networks, and plays the sequential test that says whether the result is"
    echo " stronger. For authors of chess engines."
} > "$root/DEBIAN/control"

chmod -R u=rwX,go=rX "$root"
dpkg-deb --root-owner-group --build "$root" "$out/patzer_${version}_$architecture.deb" > /dev/null
ls "$out/patzer_${version}_$architecture.deb"
