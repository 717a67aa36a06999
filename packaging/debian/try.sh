#!/usr/bin/env bash
# Makes the Debian package of a build, looks at it, installs it on a clean Debian 12 made by debootstrap, and runs it
# there as a new user would. As root.
#   packaging/debian/try.sh [BUILD-FOLDER [TRANSCRIPT]]     the latter: the commands on the clean root and what they print
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
transcript=${2:-/dev/null}
mirror=${GLINPACK_DEBIAN_MIRROR:-http://deb.debian.org/debian}
if [ "$(id -u)" -ne 0 ]; then
  echo "try.sh: a clean root is made by root alone" >&2
  exit 2
fi

work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT

(cd "$build" && cpack -G DEB -B "$work/package" >"$work/cpack.log" 2>&1) || { cat "$work/cpack.log"; exit 1; }
package=$(echo "$work"/package/glinpack_*.deb)

# what Debian's own lint looks at first
dpkg-deb --info "$package" | tee "$work/info"
dpkg-deb --contents "$package" >"$work/contents"
for line in 'Package: glinpack' 'Maintainer: .+ <.+@.+>' 'Depends: .*mpich' 'Depends: .*libmpich' 'Depends: .*libopenblas' \
  'Depends: .*libegl1' 'Recommends: .*libgl1-mesa-dri'; do
  grep -Eq "^ $line" "$work/info" || { echo "try.sh: the package lacks '$line'" >&2; exit 1; }
done
for file in bin/glinpack share/doc/glinpack/copyright share/doc/glinpack/changelog.gz share/man/man1/glinpack.1.gz \
  share/man/man1/glinpack-plu.1.gz share/bash-completion/completions/glinpack share/glinpack/shaders/ \
  share/glinpack/configs/quickstart.toml; do
  grep -q " ./usr/$file\$" "$work/contents" || { echo "try.sh: the package lacks /usr/$file" >&2; exit 1; }
done
if grep -vE '^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x|lrwxrwxrwx) root/root ' "$work/contents"; then
  echo "try.sh: these have other owners or permissions than Debian's" >&2
  exit 1
fi
if grep -aq "$PWD" <(dpkg-deb --fsys-tarfile "$package" | tar -xO ./usr/bin/glinpack); then
  echo "try.sh: the program names the folder that it was built in" >&2
  exit 1
fi

# Nothing but apt and what Debian holds essential; no archive is kept.
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$work/debootstrap.log" 2>&1 ||
  { tail -20 "$work/debootstrap.log"; exit 1; }
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/quick" # nobody needs this root after a power failure
cp "$package" "$root/root/"
rm -rf "$work/package"

# In a namespace of its own, so that nothing stays mounted; the script is what a new user types.
cat >"$root/root/commands" <<COMMANDS
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root LP_NUM_THREADS=0
cd /root
type_in() { printf '\$ %s\n' "\$*"; bash -c "\$*"; }
apt-get update -qq
type_in 'apt-get install -y -qq ./$(basename "$package") >install.log 2>&1 && dpkg-query -W glinpack mpich libgl1-mesa-dri'
type_in 'glinpack --version'
type_in 'glinpack devices'
type_in 'mpirun.mpich -np 2 glinpack plu --n 1000 --nb 64'
type_in 'mpirun.mpich -np 4 glinpack plu --config /usr/share/glinpack/configs/quickstart.toml --json results.json'
type_in 'mpirun.mpich -np 2 glinpack plu --n 256 --nb 32 --backend gl-compute --precision single --shader-dir /usr/share/glinpack/shaders --breakdown never'
type_in 'mpirun.mpich -np 2 glinpack network --n 512 --nb 64 --screen never'
type_in 'mpirun.mpich -np 2 glinpack doctor'
type_in 'mpirun.mpich -np 2 glinpack plu --n 1000 --nb 32,64 --repeat 3 --watchdog 60 --json before.json --progress never | tail -9'
type_in 'mpirun.mpich -np 2 glinpack plu --n 1000 --nb 32,64 --repeat 3 --watchdog 60 --json after.json --progress never | tail -9'
type_in 'glinpack compare before.json after.json'
type_in 'glinpack report results.json before.json after.json -o report.html'
type_in 'glinpack variant WR11C2R4'
type_in 'glinpack plan --nodes 16 --gpus-per-node 4 --memory 80G --network 100Gb/s'
type_in 'glinpack slurm --nodes 4 --gpus-per-node 4 --time 1:00:00 -o job.sbatch -- --n 65536 --nb 512 && head -20 job.sbatch'
type_in 'ls /usr/share/man/man1 | grep -c ^glinpack'
type_in 'dpkg --purge glinpack && ! ls -d /usr/share/glinpack /usr/share/doc/glinpack'
COMMANDS
# shellcheck disable=SC2016  # $0 is the inner shell's
unshare --mount bash -c 'mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount -t tmpfs tmpfs "$0/dev/shm" &&
  exec chroot "$0" bash -e /root/commands' \
  "$root" 2>&1 | tee "$transcript"
