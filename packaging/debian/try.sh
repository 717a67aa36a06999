#!/usr/bin/env bash
# Makes the Debian package of a build, looks at it, installs it on a clean Debian 12 made by debootstrap, and runs it
# there as a new user would. As root.
#   packaging/debian/try.sh [BUILD-FOLDER [TRANSCRIPT]]     the latter: the commands on the clean root and what they print
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
transcript=${2:-/dev/null}
. packaging/clean-root.sh

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
for file in bin/glinpack bin/glinpack-papers share/doc/glinpack/copyright share/doc/glinpack/changelog.gz share/man/man1/glinpack.1.gz \
  share/man/man1/glinpack-plu.1.gz share/man/man1/glinpack-papers-matmul.1.gz share/bash-completion/completions/glinpack \
  share/bash-completion/completions/glinpack-papers share/glinpack/shaders/ \
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

make_clean_root "$root" "$work/debootstrap.log"
cp "$package" "$root/root/"
rm -rf "$work/package"

# What a new user types. The software renderer has no threads of its own, as processes share the cores.
type_into_clean_root "$root" "$transcript" LP_NUM_THREADS=0 <<COMMANDS
apt-get install -y -qq ./$(basename "$package") >install.log 2>&1 && dpkg-query -W glinpack mpich libgl1-mesa-dri
glinpack --version
glinpack devices
mpirun.mpich -np 2 glinpack plu --n 1000 --nb 64
mpirun.mpich -np 4 glinpack plu --config /usr/share/glinpack/configs/quickstart.toml --json results.json
mpirun.mpich -np 2 glinpack plu --n 256 --nb 32 --backend gl-compute --precision single --shader-dir /usr/share/glinpack/shaders --breakdown none
mpirun.mpich -np 2 glinpack network --n 512 --nb 64 --screen never
mpirun.mpich -np 2 glinpack doctor
mpirun.mpich -np 2 glinpack plu --n 1000 --nb 32,64 --repeat 3 --watchdog 60 --json before.json --log-level warn | tail -9
mpirun.mpich -np 2 glinpack plu --n 1000 --nb 32,64 --repeat 3 --watchdog 60 --json after.json --log-level warn | tail -9
glinpack compare before.json after.json
glinpack report results.json before.json after.json -o report.html
glinpack-papers matmul --n 64,100,257
glinpack plan --nodes 16 --gpus-per-node 4 --memory 80G --network 100Gb/s
mpirun.mpich -np 2 glinpack plu --n 1000,2000,3000 --nb 64,128 --json node.json --log-level warn >node.log && grep -c PASSED node.log
glinpack plan --backend openblas --from node.json --nodes 16 --gpus-per-node 2 --memory 4G --network 10Gb/s
glinpack slurm --nodes 4 --gpus-per-node 4 --time 1:00:00 -o job.sbatch -- --n 65536 --nb 512 && head -20 job.sbatch
ls /usr/share/man/man1 | grep -c ^glinpack
apt-get install -y -qq man-db bash-completion >complete.log 2>&1 && man glinpack-doctor | head -20
(sleep 1; printf 'glinpack plu --pivoting \\t\\t'; sleep 1; printf 'tour\\t'; sleep 1; printf '\\003'; sleep 1; printf 'exit\\n') | TERM=dumb script -qc 'bash -il' /dev/null | tr -d '\\a\\r'
dpkg --purge glinpack && ! ls -d /usr/share/glinpack /usr/share/doc/glinpack
COMMANDS
