#!/usr/bin/env bash
# Checks the replay of `glinpack plan` at scale, and writes a log of each check into a folder.
#   scripts/scale/check.sh simgrid DIR   whole runs of 64, 256 and 1,024 ranks by our replay and by SimGrid
#   scripts/scale/check.sh windows DIR   windows of 10,000 ranks: time and memory of the replay itself, on two cores
#   scripts/scale/check.sh driver DIR    what the driver itself costs a rank of 4 to 64, and of 10,000 without messages
# GLINPACK names the program, MPIEXEC the launcher. Exit status: 0, 1 a limit is exceeded, 2 unusable input, 77 SimGrid is
# missing.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
glinpack=${GLINPACK:-$root/build/release/bin/glinpack}
if [ $# -ne 2 ] || ! [[ $1 =~ ^(simgrid|windows|driver)$ ]]; then
  echo "usage: scripts/scale/check.sh simgrid|windows|driver DIR" >&2
  exit 2
fi
mkdir -p "$2"
output=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"

# Costs of a core's operations, fitted to runs on one node.
scripts/results.py unpack results/paper/openblas/runs.jsonl.gz "$work"
from=$(printf "$work/runs/table1-n%s-4procs-1nodes-openblas.json," 2048-nb128 2048-nb256 2048-nb512 4096-nb256 4096-nb512 \
  4096-nb1024)
host=(--backend openblas --precision single --lookahead 0 --from "${from%,}")

# A line for each run, whose options are the lines of the standard input. True if all ratios are within the limit.
compare() {
  local most=0.05 failed=0 line
  while read -r -a arguments; do
    rm -rf "$work/traces"
    "$glinpack" plan "${host[@]}" "${arguments[@]}" --replay --traces "$work/traces" >"$work/plan.txt"
    line=$(scripts/scale/simgrid.sh "$work/traces") || return $?
    printf '%s\n  %s\n' "${arguments[*]}" "$line"
    LC_ALL=C awk -v most="$most" '{ off = $NF - 1; exit !(off <= most && off >= -most) }' <<<"$line" || failed=1
  done
  return "$failed"
}

simgrid() {
  compare <<'RUNS' || return $?
--n 8192 --nb 128 --grid 8x8 --nodes 64 --network 100mbit --latency 10us --pivoting local --broadcast ibcast
--n 8192 --nb 128 --grid 8x8 --nodes 64 --network 1Gb/s --latency 10us --pivoting partial
--n 8192 --nb 128 --grid 4x16 --nodes 64 --network 1Gb/s --latency 10us --pivoting tournament --row-swap spread-roll
--n 8192 --nb 128 --grid 8x8 --nodes 16 --gpus-per-node 4 --network 1Gb/s --latency 10us --pivoting partial
--n 8192 --nb 128 --grid 8x8 --nodes 64 --network 1Gb/s --latency 10us --pivoting partial --topology fat-tree:4:2
--n 8192 --nb 128 --grid 4x16 --nodes 16 --gpus-per-node 4 --network 1Gb/s --latency 10us --pivoting tournament --topology dragonfly:4:2
--n 16384 --nb 128 --grid 16x16 --nodes 256 --network 10Gb/s --latency 5us --pivoting tournament --broadcast long
--n 16384 --nb 128 --grid 16x16 --nodes 64 --gpus-per-node 4 --network 10Gb/s --latency 5us --pivoting local
--n 16384 --nb 128 --grid 16x16 --nodes 64 --gpus-per-node 4 --network 10Gb/s --latency 5us --pivoting tournament --topology fat-tree:16:4
--n 16384 --nb 128 --grid 16x16 --nodes 64 --gpus-per-node 4 --network 10Gb/s --latency 5us --pivoting tournament --topology dragonfly:16:4
--n 32768 --nb 256 --grid 32x32 --nodes 256 --gpus-per-node 4 --network 10Gb/s --latency 5us --pivoting tournament
--n 32768 --nb 256 --grid 32x32 --nodes 1024 --network 10Gb/s --latency 5us --pivoting local --broadcast ring-modified
RUNS
  echo "Few nodes on heavily shared links, without a limit:"
  compare <<'RUNS' || [ $? -eq 1 ]
--n 8192 --nb 128 --grid 8x8 --nodes 64 --network 1Gb/s --latency 10us --pivoting local --topology fat-tree:8:4
--n 8192 --nb 128 --grid 8x8 --nodes 16 --gpus-per-node 4 --network 1Gb/s --latency 10us --pivoting tournament --topology dragonfly:4:2
--n 8192 --nb 128 --grid 8x8 --nodes 16 --gpus-per-node 4 --network 1Gb/s --latency 10us --pivoting partial --topology dragonfly:4:2
RUNS
}

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
elif [ "$1" = simgrid ]; then
  simgrid >"$output/simgrid.txt" || status=$?
  cat "$output/simgrid.txt"
else
  windows >"$output/windows.txt" || status=$?
  grep -E "^Replay|expected|processor" "$output/windows.txt"
fi
exit "$status"
