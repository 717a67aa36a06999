#!/usr/bin/env bash
# From a clone to a result: installs what is missing, builds, and runs the benchmark as HPL does it, in double precision
# with partial pivoting, on every GPU of this machine, or else on its cores, with N for about ten seconds.
#   scripts/run.sh
#   scripts/run.sh --n 2048 --json result.json    options of `glinpack plu` in place of that N
#   scripts/run.sh --gl                           OpenGL on four processes, configs/quickstart.toml; needs no GPU
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install-deps.sh
if [ ! -f build/release/build.ninja ]; then
  echo "Building in build/release: on two cores this takes minutes"
  cmake --preset release
fi
cmake --build --preset release --target glinpack

program=build/release/bin/glinpack
if [ "${1:-}" = --gl ]; then
  shift
  # four ranks share the cores: the software renderer uses no extra threads unless LP_NUM_THREADS is set
  export LP_NUM_THREADS="${LP_NUM_THREADS:-0}"
  set -x
  exec mpirun.mpich -np 4 "$program" plu --config configs/quickstart.toml "$@"
fi

processes=$("$program" devices | grep -c 'kind  *hardware' || true)
if [ "$processes" -eq 0 ]; then
  processes=$(lscpu --parse=CORE,SOCKET | grep -v '^#' | sort -u | wc -l)
  allowed=$(nproc) # in a container or a job
  [ "$processes" -le "$allowed" ] || processes=$allowed
fi
run="mpirun.mpich -np $processes $program plu"
[ $# -gt 0 ] || set -- --n auto --nb auto --grid auto --time 10
(set -x; $run "$@")
cat <<END

Next:
  mpirun.mpich -np 4 $program plu --hpl-dat examples/HPL.dat    # an HPL.dat; name yours in its place
  $run --n 2000,4000,8000 --json results.json && $program report results.json      # a page: GFLOPS over N
  scripts/run.sh --gl    # the OpenGL shaders; without a GPU on Mesa's software renderer
END
