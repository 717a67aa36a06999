#!/usr/bin/env bash
# The main job from nothing: installs what is missing, builds, and runs the quick start: four ranks on a 2x2 grid,
# N = 1024, software OpenGL. Arguments are handed on to `glinpack plu`:
#   scripts/run.sh --n 2048 --json result.json
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install-deps.sh
if [ ! -f build/release/build.ninja ]; then
  echo "Building in build/release: on two cores this takes minutes"
  cmake --preset release
fi
cmake --build --preset release --target glinpack

# four ranks share the cores: no threads of its own for each one's software renderer, unless told otherwise
export LP_NUM_THREADS="${LP_NUM_THREADS:-0}"
set -x
exec mpirun.mpich -np 4 build/release/bin/glinpack plu --config configs/quickstart.toml "$@"
