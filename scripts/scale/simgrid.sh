#!/usr/bin/env bash
# Runs the traces of `glinpack plan --replay --traces DIR` with SimGrid, and prints its time of the factorisation, that
# of our replay, and their ratio. SimGrid shares links by max-min fairness; corrections for TCP and MPI are off.
#   scripts/scale/simgrid.sh DIR
# Exit status: 0, 2 unusable input, 3 SimGrid ended with an error, 77 SimGrid is missing.
set -euo pipefail

if [ $# -ne 1 ] || [ ! -f "${1:-}/traces.txt" ]; then
  echo "usage: scripts/scale/simgrid.sh DIR, a folder of \`glinpack plan --replay --traces DIR\`" >&2
  exit 2
fi
if ! command -v smpirun >/dev/null; then
  echo "simgrid.sh: smpirun is missing: apt-get install libsimgrid-dev" >&2
  exit 77
fi
cd "$1"
ranks=$(wc -l <hosts.txt)
options=(
  # one stack of 128 KiB for each rank, without a page to guard it: 10,000 ranks fit
  -no-privatize --cfg=contexts/guard-size:0 --cfg=contexts/stack-size:128
  --cfg=network/model:CM02 --cfg=network/crosstraffic:0 --cfg=network/TCP-gamma:1e30
  --cfg=network/latency-factor:1 --cfg=network/bandwidth-factor:1
  # a message begins when both ends have reached it
  --cfg=smpi/async-small-thresh:0 --cfg=smpi/send-is-detached-thresh:0
  --cfg=smpi/display-timing:yes
)
if ! smpirun -np "$ranks" -replay traces.txt -hostfile hosts.txt \
  -platform platform.xml "${options[@]}" >simgrid.log 2>&1; then
  tail -n 5 simgrid.log >&2
  exit 3
fi
LC_ALL=C awk -v ranks="$ranks" '
  FNR == NR { ours = $1; next }
  /Simulation time/ { simulated = $0; sub(/.*Simulation time[^0-9]*/, "", simulated) }
  /Simulated time:/ { simulated = $0; sub(/.*Simulated time: */, "", simulated) }
  END {
    if (simulated + 0 <= 0) { print "simgrid.sh: SimGrid printed no time" > "/dev/stderr"; exit 3 }
    printf "%d ranks: SimGrid %.6g s, our replay %.6g s, ratio %.4f\n", ranks, simulated, ours, ours / simulated
  }' expected.txt simgrid.log
