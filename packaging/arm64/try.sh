#!/usr/bin/env bash
# Builds this repository as it is committed for aarch64, and runs it on a clean Debian 12 of that architecture whose
# programs qemu-user emulates: the quick start, unit tests, several processes, software OpenGL and Vulkan. The compiler
# is the only program that is not emulated. As root, with the package qemu-user-static; takes an hour or two of two cores.
#   packaging/arm64/try.sh [TRANSCRIPT]     the commands on the clean root and what they print
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
transcript=${1:-/dev/null}
. packaging/clean-root.sh

formats=/proc/sys/fs/binfmt_misc
[ -e $formats/register ] || mount -t binfmt_misc binfmt_misc $formats
format=/usr/lib/binfmt.d/qemu-aarch64.conf
if [ ! -e $format ]; then
  echo "try.sh: install qemu-user-static" >&2
  exit 2
fi
[ -e $formats/qemu-aarch64 ] || grep -v '^#' $format >$formats/register

work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT

make_clean_root "$root" "$work/debootstrap.log" bookworm --arch=arm64
git clone --quiet --bare . "$root/root/glinpack.git"
# Debian's compiler for this target, of amd64: unpacked, as its names are also those of the emulated one
cat >"$root/root/fast-compiler.sh" <<'END'
set -e
dpkg --add-architecture amd64
apt-get update -qq
apt-get install -y -qq --no-install-recommends \
  libc6:amd64 libstdc++6:amd64 libisl23:amd64 libmpc3:amd64 libzstd1:amd64 zlib1g:amd64 libjansson4:amd64 >/dev/null
mkdir /opt/cross
cd /opt/cross
apt-get download -qq {cpp,gcc,g++}-12-aarch64-linux-gnu:amd64 {binutils-aarch64-linux-gnu,libbinutils}:amd64 \
  {libgcc-12-dev,libgcc-s1,libstdc++-12-dev,libstdc++6,libc6-dev,libc6,linux-libc-dev}-arm64-cross
for package in *.deb; do dpkg -x "$package" .; done
ln -s /opt/cross/usr/aarch64-linux-gnu /usr/
END

program=build/release/bin/glinpack
type_into_clean_root "$root" "$transcript" CXX=/opt/cross/usr/bin/aarch64-linux-gnu-g++-12 \
  LD_LIBRARY_PATH=/opt/cross/usr/lib/x86_64-linux-gnu LP_NUM_THREADS=0 <<COMMANDS
apt-get install -y -qq git >git.log 2>&1
git clone --quiet glinpack.git
bash fast-compiler.sh
cd glinpack
uname -m
scripts/run.sh --n 500
cmake --build build/release --target core_tests local_tests library_tests >build.log
build/release/bin/core_tests --gtest_brief=1 | tail -3
build/release/bin/local_tests --gtest_brief=1 --gtest_filter=-*gl_*:*vk_*:Gl*:Vulkan* | tail -3
build/release/bin/library_tests --gtest_brief=1 | tail -3
mpirun.mpich -np 1 $program plu --n 300 --nb 32 --breakdown none | grep -E '^W|PASSED'
mpirun.mpich -np 2 $program plu --n 300 --nb 32 --breakdown none | grep -E '^W|PASSED'
mpirun.mpich -np 4 $program plu --n 300 --nb 32 --grid 2x2 --breakdown none | grep -E '^W|PASSED'
$program devices
mpirun.mpich -np 1 $program plu --n 200 --nb 32 --backend gl-compute --breakdown none | grep -E '^W|PASSED'
apt-get install -y -qq --no-install-recommends libvulkan1 mesa-vulkan-drivers >vulkan.log 2>&1
mpirun.mpich -np 1 $program plu --n 200 --nb 32 --backend vk-compute --breakdown none | grep -E '^W|PASSED'
$program doctor --quick || true
COMMANDS
