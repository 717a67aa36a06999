#!/usr/bin/env bash
# Builds this repository as it is committed on a clean Debian 13 made by debootstrap, and passes its quick tests there:
# newer g++, MPICH, OpenBLAS and Mesa. As root. It builds without a compiler cache, which takes minutes of all cores.
#   packaging/debian13/try.sh [TRANSCRIPT]     the commands on the clean root and what they print
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
transcript=${1:-/dev/null}
. packaging/clean-root.sh

work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT

make_clean_root "$root" "$work/debootstrap.log" trixie
git clone --quiet --bare . "$root/root/glinpack.git"

type_into_clean_root "$root" "$transcript" <<'COMMANDS'
apt-get install -y -qq git >git.log 2>&1
git clone --quiet glinpack.git
cd glinpack
scripts/install-deps.sh --test
dpkg-query -W g++ cmake mpich libopenblas0-pthread libgl1-mesa-dri
scripts/test.sh --quick
COMMANDS
