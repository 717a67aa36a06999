#!/usr/bin/env bash
# Four ranks on two cores against two: ranks that wait must leave the cores to those that compute.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: scripts/bench/oversubscription.sh [REPETITIONS] [N]

Runs `glinpack plu` with openblas, one thread a rank, in turns with 2 ranks (1x2) and with 4 (2x2) on the first two cores
that this process may use, and prints the seconds of each run, the medians and their ratio. Less than 1.5 is asked for.

  REPETITIONS  of each, 5 by default
  N            order of the matrix, 4000 by default

Example: scripts/bench/oversubscription.sh 3 6000
TEXT
}

case ${1:-} in -h | --help) usage && exit 0 ;; esac
repetitions=${1:-5}
n=${2:-4000}
for number in "$repetitions" "$n"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "oversubscription.sh: '$number' is not a positive number; see --help" >&2; exit 2; }
done
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
program=build/release/bin/glinpack
[ -x "$program" ] || { echo "oversubscription.sh: $program is missing: scripts/run.sh builds it" >&2; exit 2; }

# "0,1" from "Cpus_allowed_list: 0-1,4"
cores=$(awk '/^Cpus_allowed_list/ { count = split($2, parts, ",")
  for (i = 1; i <= count && found < 2; i++) { split(parts[i] "-" parts[i], ends, "-")
    for (core = ends[1]; core <= ends[2] && found < 2; core++) printf "%s%d", found++ ? "," : "", core } }' /proc/self/status)
[[ $cores == *,* ]] || { echo "oversubscription.sh: two cores are needed, this process may use: $cores" >&2; exit 2; }

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
# seconds RANKS GRID: one run; prints its seconds as HPL's row has them, from the CSV that keeps all digits
seconds() {
  rm -f "$results/run.csv"
  OPENBLAS_NUM_THREADS=1 taskset -c "$cores" mpirun.mpich -np "$1" "$program" plu --n "$n" --nb 128 --grid "$2" \
    --backend openblas --threads 1 --log-level warn --csv "$results/run.csv" >"$results/log" || { cat "$results/log" >&2; return 1; }
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time") column = i } NR == 2 { print $column }' "$results/run.csv"
}

printf 'N %s, double, NB 128, cores %s, %s\n%s\n' "$n" "$cores" "$($program --version)" "$(grep -m1 'model name' /proc/cpuinfo)"
for ((i = 1; i <= repetitions; i++)); do
  two=$(seconds 2 1x2)
  four=$(seconds 4 2x2)
  printf 'run %d: 2 ranks %.3f s, 4 ranks %.3f s\n' "$i" "$two" "$four"
  echo "$two" >>"$results/two"
  echo "$four" >>"$results/four"
done
median() { sort -g "$1" | awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'; }
awk -v two="$(median "$results/two")" -v four="$(median "$results/four")" \
  'BEGIN { printf "median: 2 ranks %.3f s, 4 ranks %.3f s, ratio %.2f\n", two, four, four / two }'
