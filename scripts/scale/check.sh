#!/usr/bin/env bash
# Checks the replay of `glinpack plan` at scale, and writes a log of each check into a folder.
#   scripts/scale/check.sh windows DIR   windows of 10,000 ranks: time and memory of the replay itself, on two cores
#   scripts/scale/check.sh driver DIR    what the driver itself costs a rank of 4 to 64, and of 10,000 without messages
# GLINPACK names the program, MPIEXEC the launcher. Exit status: 0, 1 a limit is exceeded, 2 unusable input.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
glinpack=${GLINPACK:-$root/build/release/bin/glinpack}
if [ $# -ne 2 ] || ! [[ $1 =~ ^(windows|driver)$ ]]; then
  echo "usage: scripts/scale/check.sh windows|driver DIR" >&2
  exit 2
fi
mkdir -p "$2"
output=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"

windows() {
  local grid failed=0
  for grid in 100x100 40x250; do
    /usr/bin/time -f "%e s, %U s of processor time, %M KB" taskset -c 0,1 "$glinpack" plan --nodes 2500 \
      --gpus-per-node 4 --memory 80G --network 400Gb/s --latency 3us --grid "$grid" --replay 2>"$work/time.txt"
    cat "$work/time.txt"
    LC_ALL=C awk '{ exit !($1 < 300 && $(NF - 1) < 4 * 1024 * 1024) }' <(tail -n 1 "$work/time.txt") || failed=1
  done
  return "$failed"
}

driver() {
  local bench side
  bench=$(dirname "$glinpack")/driver_bench
  for side in 2 4 8; do
    echo "mpirun -np $((side * side)) driver_bench --grid ${side}x$side"
    "${MPIEXEC:-mpirun}" -np $((side * side)) "$bench" --grid "${side}x$side"
  done
  echo "driver_bench --grid 2x2,4x4,8x8,16x16,32x32,100x100,40x250"
  "$bench" --grid 2x2,4x4,8x8,16x16,32x32,100x100,40x250
}

status=0
if [ "$1" = driver ]; then
  driver >"$output/driver.txt" || status=$?
  cat "$output/driver.txt"
else
  windows >"$output/windows.txt" || status=$?
  grep -E "^Replay|expected|processor" "$output/windows.txt"
fi
exit "$status"
