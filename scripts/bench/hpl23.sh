#!/usr/bin/env bash
# Compares glinpack with netlib's HPL 2.3, built with the same MPI and the same BLAS.
set -euo pipefail
export LC_ALL=C

usage() {
  cat <<'TEXT'
Usage: scripts/bench/hpl23.sh HPL-SOURCE [--n N] [--nb NB] [--repetitions COUNT] [--mkl DIR]

Builds HPL 2.3 from the folder HPL-SOURCE, outside of it, with MPICH and OpenBLAS. Then HPL and `glinpack plu` take
turns, on 1x2 processes of one thread, with the OpenBLAS kernels that glinpack chooses. Prints every figure, then the
medians and glinpack's GFLOPS as a multiple of HPL's.

  --n N                 order of the matrix, 8000 by default
  --nb NB               of both, 128 by default
  --repetitions COUNT   of each, 5 by default
  --mkl DIR             the folder of libmkl_rt.so: HPL and glinpack on MKL too. build/mkl is glinpack with
                        -DGLINPACK_BLAS=mkl

HPL has look-ahead 1, the ring broadcast 1rM, recursive right-looking panels with NBMIN 4, mix of swaps, and L1 and U
transposed.

Example: scripts/bench/hpl23.sh ~/hpl-2.3 --repetitions 7
TEXT
}

unusable() { echo "hpl23.sh: $*" >&2; exit 2; }

[ $# -gt 0 ] || { usage >&2; exit 2; }
case $1 in -h | --help) usage; exit 0 ;; esac
source=$1 n=8000 nb=128 repetitions=5 mkl=
shift
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || unusable "$1 needs a value; see --help"
  case $1 in
    --n) n=$2 ;;
    --nb) nb=$2 ;;
    --repetitions) repetitions=$2 ;;
    --mkl) mkl=$2 ;;
    *) unusable "unknown argument '$1'; see --help" ;;
  esac
  shift 2
done
[ -f "$source/testing/ptest/HPL_pddriver.c" ] || unusable "$source is no source of HPL 2.3: it lacks testing/ptest/HPL_pddriver.c"
[[ $repetitions =~ ^[1-9][0-9]?$ ]] || unusable "--repetitions '$repetitions' is not a number from 1 to 99"
source=$(realpath -- "$source")
[ -z "$mkl" ] || mkl=$(realpath -- "$mkl")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for program in build/release/bin/glinpack ${mkl:+build/mkl/bin/glinpack}; do
  [ -x "$program" ] || unusable "$program is missing: build it first"
done
command -v mpicc.mpich >/dev/null || unusable "mpicc.mpich is missing: scripts/install-deps.sh installs it"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build_hpl NAME LINK-OPTIONS...
build_hpl() {
  local name=$1
  shift
  local files
  mapfile -t files < <(find "$source"/{src,testing}/ -name '*.c')
  mpicc.mpich -O3 -DNDEBUG -w -DHPL_CALL_CBLAS -I"$source/include" -o "$work/xhpl-$name" "${files[@]}" "$@" -lm
}

cat >"$work/HPL.dat" <<TEXT
HPLinpack benchmark input file
glinpack's rival
HPL.out
6            device out
1            Ns
$n
1            NBs
$nb
0            PMAP
1            grids
1            Ps
2            Qs
16.0         threshold
1            PFACTs
2
1            NBMINs
4
1            NDIVs
2
1            RFACTs
2
1            BCASTs
1
1            DEPTHs
1
2            SWAP
64           threshold
0            L1
0            U
1            equilibration
8            alignment
TEXT

# gflops COMMAND...: of the T/V row of one run that passed
gflops() {
  (cd "$work" && mpirun.mpich -np 2 "$@") >"$work/out.txt" 2>&1
  grep -q 'PASSED$' "$work/out.txt" || { cat "$work/out.txt" >&2; exit 1; }
  awk '/^W[RC]/ { print $NF + 0 }' "$work/out.txt"
}

kernels=$(mpirun.mpich -np 1 build/release/bin/glinpack plu --n 100 --nb 32 --backend openblas | sed -n 's/^HOST.*, \(.*\) kernels.*/\1/p')
[ -n "$kernels" ] || unusable "glinpack on OpenBLAS did not run: try build/release/bin/glinpack plu --n 100 --backend openblas"
export OPENBLAS_CORETYPE=$kernels OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 MKL_THREADING_LAYER=sequential
# shellcheck disable=SC2046 # words
build_hpl openblas $(pkg-config --libs openblas)
names=(openblas)
if [ -n "$mkl" ]; then
  export LD_LIBRARY_PATH=$mkl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  build_hpl mkl -L"$mkl" -lmkl_rt
  names+=(mkl)
fi

lscpu | sed -n 's/^Model name: */processor: /p'
echo "HPL 2.3, $(build/release/bin/glinpack --version | head -1), OpenBLAS kernels $kernels, N $n, NB $nb, 1x2"
declare -A rates
for ((i = 1; i <= repetitions; ++i)); do
  for name in "${names[@]}"; do
    hpl=$(gflops "$work/xhpl-$name")
    case $name in openblas) program=build/release ;; *) program=build/$name ;; esac
    own=$(gflops "$PWD/$program/bin/glinpack" plu --backend openblas --n "$n" --nb "$nb" --grid 1x2 --threads 1 --log-level warn --peak none)
    echo "$name: HPL $hpl, glinpack $own GFLOPS"
    rates[$name]+="$hpl $own"$'\n'
  done
done
# median COLUMN-EXPRESSION: of the lines "HPL's rate, glinpack's rate" of standard input
median() { awk "NF == 2 { print $1 }" | sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
# shellcheck disable=SC2016 # expressions of awk
for name in "${names[@]}"; do
  printf '%s: medians: HPL %.1f, glinpack %.1f GFLOPS; ratio of the pairs %.3f\n' "$name" \
    "$(median '$1' <<<"${rates[$name]}")" "$(median '$2' <<<"${rates[$name]}")" "$(median '$2 / $1' <<<"${rates[$name]}")"
done
