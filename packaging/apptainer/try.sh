#!/usr/bin/env bash
# Builds the image of glinpack.def with Apptainer and runs it as a new user does, on a clean Debian made by debootstrap:
# of the suite sid, since Debian 12 has no Apptainer. As root, on a kernel with user namespaces and FUSE. The image
# takes Debian from its mirror twice more, and glinpack is built without a compiler cache: many minutes of all cores.
#   packaging/apptainer/try.sh [TRANSCRIPT]     the commands on the clean root and what they print
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
transcript=${1:-/dev/null}
. packaging/clean-root.sh

work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT

make_clean_root "$root" "$work/debootstrap.log" sid
# what every machine has and debootstrap leaves out
printf '127.0.0.1\tlocalhost %s\n' "$(hostname)" >"$root/etc/hosts"
mknod --mode=666 "$root/dev/fuse" c 10 229
chroot "$root" useradd --create-home --shell /bin/bash user
git clone --quiet --bare . "$root/home/user/glinpack.git"
chroot "$root" chown -R user: /home/user

# The software renderer has no threads of its own, as processes share the cores.
{
  type_into_clean_root "$root" /dev/null <<'COMMANDS'
apt-get install -y -qq --no-install-recommends apptainer squashfuse debootstrap git mpich >install.log 2>&1 && dpkg-query -W apptainer mpich
COMMANDS
  clean_root_user=user \
    type_into_clean_root "$root" /dev/null HOME=/home/user PATH=/usr/bin:/bin LP_NUM_THREADS=0 <<'COMMANDS'
git clone glinpack.git
cd glinpack
export PATH=$PATH:/usr/sbin
apptainer build --build-arg bootstrap=debootstrap glinpack.sif packaging/apptainer/glinpack.def 2>&1 | tail -4
apptainer run-help glinpack.sif
apptainer test glinpack.sif
apptainer run glinpack.sif devices
apptainer run glinpack.sif plu --n 1000 --nb 64
mpirun.mpich -np 4 apptainer run --sharens glinpack.sif plu --n 1000 --nb 64
apptainer exec glinpack.sif mpirun.mpich -np 4 glinpack plu --n 256 --nb 32 --backend gl-compute --precision single --breakdown none
COMMANDS
} | tee "$transcript"
