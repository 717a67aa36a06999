#!/usr/bin/env bash
# glinpack on two cores beside other LU factorisations, in turns: netlib's HPL, ScaLAPACK, OpenBLAS.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: scripts/bench/cpu.sh [--n N] [--repetitions COUNT] [--without-hpl] [--quick]

Factorises and solves the same system with `glinpack plu --backend openblas` and with its rivals, all on the first two
cores that this process may use and with the kernels of OpenBLAS that glinpack chooses, one after the other and again
from the first. Prints every figure, then medians and glinpack's GFLOPS as a multiple of the rival's.

  double  HPL of the package hpcc (Open MPI), 1x2 processes, NB 128, look-ahead 1
  both    ScaLAPACK's p?getrf and p?getrs (MPICH), 1x2 processes, the best of some NB that are tried first
  both    OpenBLAS's ?getrf and ?getrs, one process with two threads
  both    OpenBLAS's ?gemm, N at most 4000, one process with two threads: a ceiling, not a rival

glinpack itself runs on 1x2 processes of one thread, NB 128.

  --n N                 order of the matrix, 8000 by default
  --repetitions COUNT   of each, 1 to 20, 5 by default
  --without-hpl         leaves out HPL, and with it hpcc and Open MPI
  --quick               once, N = 2000, one NB for ScaLAPACK: shows that all of it works, not who is faster

hpcc's other tests cannot be switched off. They run once, at the beginning, and take minutes at N = 8000; before HPL and
after each of its runs hpcc is stopped (SIGSTOP) until it is its turn again.

Packages (Debian): hpcc openmpi-bin libscalapack-mpich-dev, besides those of scripts/install-deps.sh. CMake builds the
program rivals, which calls ScaLAPACK and OpenBLAS, where it finds ScaLAPACK.

Exit status: 0 all was measured, 1 a run failed, 2 something is missing or an argument unusable, and nothing was run.

Example: scripts/bench/cpu.sh --repetitions 3
TEXT
}

unusable() { echo "cpu.sh: $*" >&2; exit 2; }
failed() { echo "cpu.sh: $*" >&2; exit 1; }

n=8000
repetitions=5
with_hpl=true
block_sizes=(32 64 96 128)
# number OPTION VALUE MOST
number() {
  if ! [[ $2 =~ ^[1-9][0-9]{0,5}$ ]] || [ "$2" -gt "$3" ]; then
    unusable "$1 '$2' is not a number from 1 to $3; see --help"
  fi
}
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --without-hpl) with_hpl=false ;;
    --quick) n=2000 repetitions=1 block_sizes=(64) ;;
    --n | --repetitions)
      [ $# -ge 2 ] || unusable "$1 needs a number; see --help"
      if [ "$1" = --n ]; then number "$1" "$2" 100000; n=$2; else number "$1" "$2" 20; repetitions=$2; fi
      shift
      ;;
    *) unusable "unknown argument '$1'; see --help" ;;
  esac
  shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
glinpack=$PWD/build/release/bin/glinpack
rivals=$PWD/build/release/bin/rivals

missing=()
# need COMMAND WHAT-TO-DO
need() { command -v "$1" >/dev/null || missing+=("${1##*/} is missing: $2"); }
need "$glinpack" "scripts/run.sh builds it"
need "$rivals" "install libscalapack-mpich-dev, then cmake --preset release && cmake --build --preset release"
need mpirun.mpich "install mpich"
if $with_hpl; then
  need mpirun.openmpi "install openmpi-bin"
  need hpcc "install hpcc"
fi
need taskset "install util-linux"
need pkg-config "install pkg-config"
# "0,1" from "Cpus_allowed_list: 0-1,4"
cores=$(awk '/^Cpus_allowed_list/ { count = split($2, parts, ",")
  for (i = 1; i <= count && found < 2; i++) { split(parts[i] "-" parts[i], ends, "-")
    for (core = ends[1]; core <= ends[2] && found < 2; core++) printf "%s%d", found++ ? "," : "", core } }' /proc/self/status)
[[ $cores == *,* ]] || missing+=("two cores are needed, this process may use: $cores")
if [ ${#missing[@]} -gt 0 ]; then
  printf 'cpu.sh: %s\n' "${missing[@]}" >&2
  exit 2
fi

results=$(mktemp -d)
launcher=
clean_up() {
  # MPI's launcher ends its processes, also stopped ones
  if [ -n "$launcher" ] && kill "$launcher" 2>/dev/null; then wait "$launcher" || true; fi
  rm -rf "$results"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# two_cores COMMAND...: its log shows when it fails
two_cores() { taskset -c "$cores" "$@" >"$results/log" 2>&1 || { cat "$results/log" >&2; failed "failed: $*"; }; }

# record ROUND PRECISION PROGRAM SECONDS GFLOPS: prints and keeps
record() {
  printf '%3s  %-6s  %-28s %9.3f s %9.2f GFLOPS\n' "$@"
  printf '%s|%s|%s|%s|%s\n' "$@" >>"$results/figures"
}

glinpack_name="glinpack 1x2, NB 128"
# run_glinpack ROUND PRECISION
run_glinpack() {
  rm -f "$results/run.csv"
  OPENBLAS_NUM_THREADS=1 two_cores mpirun.mpich -np 2 "$glinpack" plu --n "$n" --nb 128 --grid 1x2 --precision "$2" \
    --backend openblas --threads 1 --log-level warn --csv "$results/run.csv"
  local time gflops passed
  read -r time gflops passed < <(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    NR == 2 { print $column["time"], $column["gflops"], $column["passed"] }' "$results/run.csv")
  [ "$passed" = true ] || failed "glinpack's answer does not pass the check"
  record "$1" "$2" "$glinpack_name" "$time" "$gflops"
}

# same_kernels PROGRAM KERNELS
same_kernels() { [ "$2" = "$kernels" ] || failed "$1 computes with OpenBLAS's kernels '$2', glinpack with '$kernels'"; }

# of the line that rivals has printed
value_of() { sed -n "s/.*\<$1=\([^ ]*\).*/\1/p" "$results/log"; }
# run_scalapack ROUND PRECISION NB
run_scalapack() {
  OPENBLAS_NUM_THREADS=1 two_cores mpirun.mpich -np 2 "$rivals" scalapack --n "$n" --nb "$3" --p 1 --q 2 --precision "$2"
  same_kernels rivals "$(value_of kernels)"
  record "$1" "$2" "ScaLAPACK 1x2, NB $3" "$(value_of seconds)" "$(value_of gflops)"
}
# run_openblas ROUND PRECISION ROUTINE N
run_openblas() {
  OPENBLAS_NUM_THREADS=2 two_cores "$rivals" "$3" --n "$4" --threads 2 --precision "$2"
  same_kernels rivals "$(value_of kernels)"
  record "$1" "$2" "OpenBLAS $(value_of routine)" "$(value_of seconds)" "$(value_of gflops)"
}

write_hpcc_input() {
  local orders
  orders=$(for ((i = 0; i < repetitions; i++)); do printf '%s ' "$n"; done)
  cat >"$results/hpcc/hpccinf.txt" <<TEXT
HPLinpack input
for hpcc
HPL.out    output file
8          device
$repetitions          matrices
$orders    N
1          block sizes
128        NB
0          row-major
1          grids
1          P
2          Q
16.0       threshold
1          panel factorisations
1          PFACT: Crout
1          recursive stopping criteria
4          NBMIN
1          panels in recursion
2          NDIV
1          recursive panel factorisations
2          RFACT: right
1          broadcasts
1          BCAST: 1ringM
1          look-ahead depths
1          DEPTH
2          SWAP: mix
64         swapping threshold
0          L1 transposed
0          U transposed
1          equilibration
8          alignment
#
0          further matrices of PTRANS
0          N
0          further block sizes of PTRANS
0          NB
TEXT
}

# wait_for_hpcc PATTERN: reads hpcc's output up to a line that matches, which is in $line then
wait_for_hpcc() {
  while read -r line <&"$hpcc_output"; do
    [[ $line =~ $1 ]] && return
  done
  cat "$results/hpcc/log" >&2
  failed "hpcc ended early"
}
stop_hpcc() { kill -STOP "${hpcc_processes[@]}"; }

# Runs hpcc up to its last test, HPL, and stops it there.
start_hpcc() {
  local before=$SECONDS
  mkdir "$results/hpcc"
  write_hpcc_input
  touch "$results/hpcc/hpccoutf.txt"
  # shellcheck disable=SC2016  # the inner shell expands it
  (cd "$results/hpcc" && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR=$results \
    OPENBLAS_VERBOSE=2 OPENBLAS_NUM_THREADS=1 LD_LIBRARY_PATH=$(pkg-config --variable=libdir openblas) \
    exec taskset -c "$cores" mpirun.openmpi --bind-to none -np 2 sh -c 'echo $$ >>processes && exec hpcc') \
    >"$results/hpcc/log" 2>&1 &
  launcher=$!
  exec {hpcc_output}< <(exec tail -n +1 -f --pid="$launcher" "$results/hpcc/hpccoutf.txt" 2>/dev/null)
  wait_for_hpcc '^Begin of HPL section'
  mapfile -t hpcc_processes <"$results/hpcc/processes"
  stop_hpcc
  printf 'hpcc took %d s for its other tests\n' $((SECONDS - before))
  same_kernels hpcc "$(sed -n 's/^Core: *//p' "$results/hpcc/log" | head -n 1)"
}

# end_hpcc: after its last run
end_hpcc() {
  kill -CONT "${hpcc_processes[@]}"
  wait "$launcher" || failed "hpcc failed at its end: $(cat "$results/hpcc/log")"
  launcher=
}

hpl_name="HPL 1x2, NB 128"
# run_hpl ROUND: lets hpcc go on for one factorisation
run_hpl() {
  local before=${EPOCHREALTIME/./} after row seconds
  kill -CONT "${hpcc_processes[@]}"
  wait_for_hpcc '^W[RC][0-9]'
  after=${EPOCHREALTIME/./}
  read -ra row <<<"$line"
  wait_for_hpcc '(PASSED|FAILED)$'
  stop_hpcc
  [[ $line == *PASSED ]] || failed "HPL's answer does not pass the check: $line"
  # while it is stopped it must be before the clock starts: generating the matrix
  # HPL prints seconds with two decimals, GFLOPS with four digits
  seconds=$(awk -v n="$n" -v gflops="${row[6]}" 'BEGIN { printf "%.4f", (2 / 3 * n + 1.5) * n * n / gflops / 1e9 }')
  awk -v seconds="$seconds" -v waited="$((after - before))" 'BEGIN { exit !(seconds < waited / 1e6) }' ||
    failed "hpcc was not stopped in time: HPL says $seconds s, $((after - before)) us after it went on; use a larger N"
  record "$1" double "$hpl_name" "$seconds" "${row[6]}"
}

# best_block_size PRECISION: tries them all
best_block_size() {
  local nb
  for nb in "${block_sizes[@]}"; do run_scalapack try "$1" "$nb"; done
  best[$1]=$(awk -F'|' -v precision="$1" '$1 == "try" && $2 == precision && (!least || $4 < least) {
    least = $4; name = $3 } END { sub(/.* /, "", name); print name }' "$results/figures")
}

# What is compared with what: versions of packages where Debian's dpkg knows them
versions() {
  printf 'cores %s of %s, Linux %s, load %s\n' "$cores" "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)" \
    "$(uname -r)" "$(cut -d ' ' -f 1 /proc/loadavg)"
  "$glinpack" --version
  printf '%s kernels of OpenBLAS for all' "$kernels"
  for package in hpcc libopenmpi3 libscalapack-mpich2.2 libmpich12 libopenblas0-pthread; do
    # shellcheck disable=SC2016  # dpkg-query expands it
    dpkg-query -W -f '; ${Package} ${Version}' "$package" 2>/dev/null || true
  done
  printf '\nN %s, repetitions: %s\n' "$n" "$repetitions"
  awk '$1 > 0.5 { print "Others are using this machine: the figures are not of the programs alone" }' /proc/loadavg
  echo
}

# Medians; ratios of medians, and the least and the most of a single round's ratio.
summary() {
  awk -F'|' -v n="$n" -v glinpack="$glinpack_name" -v hpl="$hpl_name" '
    function middle(list, count,    i, j, held) {
      for (i = 2; i <= count; i++) for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
        held = list[j]; list[j] = list[j - 1]; list[j - 1] = held }
      return (list[int((count + 1) / 2)] + list[int(count / 2) + 1]) / 2 }
    function median(key, which,    round, list) {
      for (round = 1; round <= rounds; round++) list[round] = which == "s" ? seconds[key, round] : gflops[key, round]
      return middle(list, rounds) }
    $1 != "try" {
      key = $2 "|" $3
      if (!(key in known)) { known[key] = 1; order[++count] = key; precision[key] = $2; name[key] = $3 }
      seconds[key, $1] = $4; gflops[key, $1] = $5
      if ($1 > rounds) rounds = $1 }
    END {
      printf "\n%-36s %9s %9s   %s\n", "medians", "seconds", "GFLOPS", "glinpack is (single rounds)"
      for (k = 1; k <= count; k++) {
        key = order[k]; own = precision[key] "|" glinpack
        printf "%-6s  %-28s %9.3f %9.2f", precision[key], name[key], median(key, "s"), median(key, "g")
        if (key == own) { printf "\n"; continue }
        least = most = gflops[own, 1] / gflops[key, 1]
        for (round = 2; round <= rounds; round++) {
          ratio = gflops[own, round] / gflops[key, round]
          if (ratio < least) least = ratio
          if (ratio > most) most = ratio }
        ratio = median(own, "g") / median(key, "g")
        printf "   %.2f times (%.2f to %.2f)", ratio, least, most
        asked = name[key] == hpl ? 1.0 : name[key] ~ /^ScaLAPACK/ && precision[key] == "single" ? 1.4 : 0
        if (asked && n == 8000) printf ", asked for %.1f, aim %.1f: %s", asked, asked == 1.0 ? 1.1 : 1.7, \
          ratio < asked ? "missed" : "reached"
        printf "\n" } }' "$results/figures"
}

# the kernels that glinpack takes, for all
two_cores mpirun.mpich -np 2 "$glinpack" plu --n 256 --grid 1x2 --backend openblas --threads 1 --log-level warn
kernels=$(sed -n 's/^HOST .* \([^ ]*\) kernels,.*/\1/p' "$results/log" | head -n 1)
export OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-$kernels}
versions
declare -A best
best_block_size double
best_block_size single
if $with_hpl; then start_hpcc; fi
gemm_n=$((n < 4000 ? n : 4000))
for ((round = 1; round <= repetitions; round++)); do
  run_glinpack "$round" double
  if $with_hpl; then run_hpl "$round"; fi
  run_scalapack "$round" double "${best[double]}"
  run_openblas "$round" double getrf "$n"
  run_openblas "$round" double gemm "$gemm_n"
  run_glinpack "$round" single
  run_scalapack "$round" single "${best[single]}"
  run_openblas "$round" single getrf "$n"
  run_openblas "$round" single gemm "$gemm_n"
done
if $with_hpl; then end_hpcc; fi
summary
printf 'load at the end %s, %d s in all\n' "$(cut -d ' ' -f 1 /proc/loadavg)" "$SECONDS"
