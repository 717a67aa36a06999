#!/usr/bin/env bash
# Begins from the source as a new user does: on a clean Debian 12 made by debootstrap clones this repository as it is
# committed, has scripts/run.sh install, build and run, and goes on with what the documents name next. As root. It
# builds without a compiler cache, which takes minutes of all cores.
#   packaging/source/try.sh [TRANSCRIPT]     the commands on the clean root and what they print
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
transcript=${1:-/dev/null}
. packaging/clean-root.sh

work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT

make_clean_root "$root" "$work/debootstrap.log"
git clone --quiet --bare . "$root/root/glinpack.git"

type_into_clean_root "$root" "$transcript" <<'COMMANDS'
apt-get update -qq && apt-get install -y -qq git >git.log 2>&1 && git --version
git clone glinpack.git
cd glinpack
scripts/run.sh
build/release/bin/glinpack --help
build/release/bin/glinpack devices
mpirun.mpich -np 2 build/release/bin/glinpack plu --n 3000 --nb 128
scripts/run.sh --n 256,500 --nb 32 --json results.json --breakdown none
mpirun.mpich -np 4 build/release/bin/glinpack plu --hpl-dat examples/HPL.dat >HPL.log && tail -8 HPL.log
mpirun.mpich -np 2 build/release/bin/glinpack doctor
build/release/bin/glinpack-papers matmul --variant multi-pass --packing 2x2 --n 64,100,257
build/release/bin/glinpack-papers poisson --n 32,64 --memory all
apt-get install -y -qq --no-install-recommends slurm-wlm munge procps >slurm.log 2>&1 && dpkg-query -W slurm-wlm munge
export GLINPACK=$PWD/build/release/bin/glinpack
scripts/slurm/lab/up
scripts/slurm/lab/enter sinfo
scripts/slurm/lab/run --nodes 4 --ntasks-per-node 1 scripts/slurm/glinpack.sbatch --n 1000 --nb 64 --backend openblas
ls glinpack-1 && cat glinpack-1/job.txt
scripts/slurm/lab/run --array 0-3 --nodes 1 --ntasks 2 scripts/slurm/sweep.sbatch --n 500,1000 --nb 32,64 --backend openblas >sweep.log
awk 'FNR > 1 || NR == 1' glinpack-2_*/results.csv | cut -d , -f 1-8
job=$(scripts/slurm/lab/enter sbatch --parsable --nodes 4 --ntasks-per-node 1 scripts/slurm/glinpack.sbatch --n 2000 --nb 64 --repeat 500 --backend openblas --breakdown none)
sleep 20 && scripts/slurm/lab/enter scancel --batch --signal=USR1 $job
sleep 10 && grep -A 10 USR1 glinpack-$job.out
scripts/slurm/lab/down
mpirun.mpich -np 4 build/release/bin/glinpack plu --n 3000 --nb 64 --repeat 500 --watchdog 5 --log-level warn >hung.log 2>&1 &
sleep 10 && kill -STOP $(pgrep -n glinpack) && { wait $!; echo "exit status $?"; }
grep -A 4 watchdog: hung.log
mpirun.mpich -np 4 build/release/bin/glinpack plu --n 3000 --nb 64 --repeat 500 --json part.json --log-level warn >part.log 2>&1 &
sleep 10 && kill -TERM $! && { wait $!; echo "exit status $?"; }
grep -A 8 INCOMPLETE part.log
scripts/install-deps.sh --octave && scripts/install-deps.sh --python
cmake --preset release -DGLINPACK_TESTS=OFF >build.log && cmake --build --preset release --target octave-package python-module >>build.log
octave --eval "pkg install build/release/glinpack-octave.tar.gz; pkg load glinpack; A = gpuMatrix(rand(500)); b = rand(500,2); x = A \ b; disp(norm(double(A*x) - b))"
PYTHONPATH=build/release/python python3 -c "import numpy as np, glinpack as g; A = np.random.rand(500,500); print(np.abs(g.solve(A, A.sum(1)) - 1).max())"
cmake --install build/release --component library >install.log && ldconfig
cc examples/solve.c $(pkg-config --cflags --libs glinpack) && ./a.out
cmake --preset release -DGLINPACK_TESTS=OFF >build.log && cmake --build --preset release >>build.log && tail -2 build.log
cmake --install build/release --prefix /opt/glinpack >install.log && /opt/glinpack/bin/glinpack --version
(cd build/release && cpack -G DEB) && dpkg-deb --field build/release/glinpack_*.deb Depends Recommends
COMMANDS
