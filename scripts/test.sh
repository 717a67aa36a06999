#!/usr/bin/env bash
# Everything that must hold: the quick start, all tests, both compilers without warnings, the sanitizers, another MPI,
# an installed copy, a run under valgrind. From nothing on a bare Debian 12, as root or through sudo.
#   scripts/test.sh            all of it
#   scripts/test.sh --quick    the release build and the tests labelled quick: the daily loop
set -euo pipefail
case "${1:-}" in
  "" | --quick) ;;
  *) echo "usage: scripts/test.sh [--quick]" >&2; exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
export GTEST_BRIEF=1  # test programs print only failures

jobs=$(($(nproc) + 1))  # some tests mostly wait

steps=()
failed=()
# step NAME COMMAND...: runs it, remembers how it ended, goes on
step() {
  local name=$1 start=$SECONDS status
  shift
  printf '\n=== %s\n' "$name"
  # a subshell of its own, not part of a condition: there `set -e` would be ignored
  set +e
  (set -e; "$@")
  status=$?
  set -e
  if [ "$status" -eq 0 ]; then
    steps+=("passed  $((SECONDS - start)) s  $name")
  else
    steps+=("FAILED  $((SECONDS - start)) s  $name (exit status $status)")
    failed+=("$name")
  fi
}

# a fresh build takes no warning from g++, at full optimisation but for the tests; one that is there stays as it was
# configured
quick_start() {
  [ -f build/release/build.ninja ] || cmake --preset release -DGLINPACK_WERROR=ON
  scripts/run.sh
  scripts/run.sh --gl --log-level warn
}

release_tests() {
  ctest --preset release -j "$jobs" | tee build/release/ctest.log
}

quick_tests() {
  ctest --preset release -j "$jobs" -L quick | tee build/release/ctest.log
}

# The preset hides hwloc's plugins, which leak as MPI loads and unloads them, and Vulkan's validation layer, which
# watches the release tests. It leaves out models, the tests that only compile or mostly run scripts, those of bad input,
# modes, plans, checks of a cluster, sensors and pairs of options, whose code the unit tests and fuzzers run, six ranks
# where four have run, delayed messages of more than two, and the measuring programs.
sanitizers() {
  [ -f build/asan/build.ninja ] || cmake --preset asan -DGLINPACK_WERROR=ON
  cmake --build --preset asan
  OPENBLAS_NUM_THREADS=1 LP_NUM_THREADS=0 ctest --preset asan -j "$jobs" | tee build/asan/ctest.log
}

# what threads share, and only that: the sanitizer knows nothing of MPI's and the GL driver's own threads
thread_sanitizer() {
  [ -f build/tsan/build.ninja ] || cmake --preset tsan -DGLINPACK_WERROR=ON
  cmake --build --preset tsan
  ctest --preset tsan
}

# Another BLAS, and the other MPI, installed beside MPICH. Warnings do not depend on the optimisation. The sanitizer
# build compiles the papers and the tests with clang.
clang_and_open_mpi() {
  [ -f build/clang-openmpi/build.ninja ] ||
    cmake -S . -B build/clang-openmpi -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DGLINPACK_MPI=openmpi -DGLINPACK_BLAS=blis \
      -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -DNDEBUG" -DGLINPACK_TESTS=OFF -DGLINPACK_UNITY=ON -DGLINPACK_WERROR=ON
  cmake --build build/clang-openmpi --target glinpack
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    mpirun.openmpi --oversubscribe -np 2 build/clang-openmpi/bin/glinpack plu --n 300 --nb 32 --grid 1x2 --backend openblas |
    tee build/clang-openmpi/plu.txt
  grep -q 'BLIS ' build/clang-openmpi/plu.txt
}

installed_copy() {
  local prefix
  prefix=$(mktemp -d)
  cmake --preset release >/dev/null  # finds what the tests need
  cmake --build --preset release
  cmake --install build/release --prefix "$prefix" >/dev/null
  (cd / && LP_NUM_THREADS=0 mpirun.mpich -np 2 "$prefix/bin/glinpack" plu \
    --config "$prefix/share/glinpack/configs/quickstart.toml" --grid 1x2 --n 256 --log-level warn)
  local page warnings
  for page in "$prefix"/share/man/man1/glinpack*.1; do
    warnings=$(man --warnings -l "$page" 2>&1 >/dev/null)
    [ -z "$warnings" ] || { echo "$page: $warnings"; return 1; }
  done
  bash -n "$prefix/share/bash-completion/completions/glinpack"
  rm -rf "$prefix"
}

# as a new user has it: installed from the package on a Debian with nothing on it, which root alone can make
debian_package() {
  if [ "$(id -u)" -ne 0 ]; then
    echo "debian package: skipped: a clean root is made by root alone"
    return
  fi
  packaging/debian/try.sh build/release build/release/debian-transcript.txt
}

# valgrind knows no AVX-512; with the kernels named, the program does not execute itself again, away from valgrind
valgrind_smoke() {
  OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1 \
    valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
    --suppressions=tests/valgrind.supp \
    build/release/bin/glinpack plu --n 64 --nb 16 --backend reference
}

scripts_are_clean() {
  shellcheck scripts/*.sh scripts/bench/*.sh scripts/slurm/*.sbatch scripts/slurm/lab/* scripts/netlab/* packaging/*.sh \
    packaging/*/try.sh tests/local/*.sh tests/models/*.sh .ci/run
}

# a second build of the same tree compiles and links nothing
nothing_to_rebuild() {
  local built
  built=$(cmake --build --preset release)
  ! grep -E 'Building|Linking' <<<"$built"
}

step "quick start" quick_start  # before what only tests need is installed
scripts/install-deps.sh --test
step "installed copy" installed_copy
if [ "${1:-}" = --quick ]; then
  step "quick tests" quick_tests
  step "shell scripts" scripts_are_clean
else
  step "Debian package on a clean root" debian_package
  step "tests" release_tests
  step "nothing is built twice" nothing_to_rebuild
  step "address and undefined-behaviour sanitizers, clang -Werror" sanitizers
  step "thread sanitizer" thread_sanitizer
  step "clang -Werror, Open MPI, BLIS" clang_and_open_mpi
  step "valgrind" valgrind_smoke
  step "shell scripts" scripts_are_clean
fi

printf '\n=== Summary (%s)\n' "$root"
grep -sH 'tests passed' build/release/ctest.log build/asan/ctest.log || true
grep -hE '^(netlab|slurm_lab): skipped: ' build/release/Testing/Temporary/LastTest.log || true
printf '%s\n' "${steps[@]}"
printf '%d passed, %d failed\n' $((${#steps[@]} - ${#failed[@]})) ${#failed[@]}
[ ${#failed[@]} -eq 0 ]
