#!/usr/bin/env bash
# Installs libglinpack.so of a build in another folder than was configured, and compiles and runs examples/solve.c
# there, with pkg-config and with CMake.
#   tests/library/installed.sh BUILD-FOLDER
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cmake=${CMAKE:-cmake}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "installed.sh: $*" >&2
  exit 1
}

"$cmake" --install "$build" --component library --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
configuration=$(find "$work/prefix" -name glinpack.pc)
[ -n "$configuration" ] || fail "glinpack.pc is not installed"
export PKG_CONFIG_PATH=${configuration%/*}
library=$(pkg-config --variable=libdir glinpack)/libglinpack.so

for standard in c89 c99 c17; do
  cc -std=$standard -Wall -Wextra -pedantic -Werror examples/solve.c $(pkg-config --cflags --libs glinpack) \
    -o "$work/$standard"
done
# a program that ends in the middle of an operation
cat >"$work/exits.c" <<'PROGRAM'
#include <glinpack.h>

int main(int argc, char **argv) {
  glinpack_context *first, *second;
  glinpack_matrix *a, *product;
  int i;
  if (argc < 2 || glinpack_context_create("openblas", 1, &first) || glinpack_context_create(argv[1], 1, &second)) return 2;
  if (glinpack_matrix_constant(second, GLINPACK_DOUBLE, 200, 200, 1e-3, &a)) return 3;
  for (i = 0; i < 50; ++i) {
    if (glinpack_gemm(0, 0, 1.0, a, a, 0.0, 0, &product)) return 4;
  }
  return glinpack_wait(a, -1);
}
PROGRAM
cc -std=c89 -Wall -Wextra -pedantic -Werror "$work/exits.c" $(pkg-config --cflags --libs glinpack) -o "$work/exits"
for device in openblas software; do
  LD_LIBRARY_PATH=${library%/*} "$work/exits" $device || fail "exit() with a context of $device ends with $?"
done
# the same in a forked process whose parent computes, which goes on
cat >"$work/forks.c" <<'PROGRAM'
#define _POSIX_C_SOURCE 200809L
#include <glinpack.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  glinpack_context *parents, *own;
  glinpack_matrix *a, *product;
  pid_t child;
  int i, status;
  if (argc < 2 || glinpack_context_create("openblas", 2, &parents)) return 2;
  if (glinpack_matrix_constant(parents, GLINPACK_DOUBLE, 700, 700, 1e-3, &a)) return 8;
  for (i = 0; i < 30; ++i) {
    if (glinpack_gemm(0, 0, 1.0, a, a, 0.0, 0, &product)) return 9;
  }
  child = fork();
  if (child < 0) return 3;
  if (child > 0) {
    if (waitpid(child, &status, 0) != child || status != 0) return 4;
    return glinpack_wait(product, -1);
  }
  if (glinpack_context_create(argv[1], 1, &own)) return 5;
  if (glinpack_matrix_constant(own, GLINPACK_DOUBLE, 200, 200, 1e-3, &a)) return 6;
  for (i = 0; i < 50; ++i) {
    if (glinpack_gemm(0, 0, 1.0, a, a, 0.0, 0, &product)) return 7;
  }
  exit(glinpack_wait(a, -1));
}
PROGRAM
cc -std=c89 -Wall -Wextra -pedantic -Werror "$work/forks.c" $(pkg-config --cflags --libs glinpack) -o "$work/forks"
for device in openblas software; do
  LD_LIBRARY_PATH=${library%/*} timeout 60 "$work/forks" $device || fail "exit() of a forked process with $device ends with $?"
done

# OpenBLAS without memory for its buffers is a status, and its threads do not keep the process from ending
cat >"$work/limited.c" <<'PROGRAM'
#include <glinpack.h>
int main(void) {
  glinpack_context *context;
  glinpack_matrix *a, *number;
  if (glinpack_context_create("openblas", 1, &context)) return 20;
  if (glinpack_matrix_identity(context, GLINPACK_DOUBLE, 3, 3, &a)) return 21;
  if (glinpack_determinant(a, &number)) return 22;
  return glinpack_wait(number, -1);
}
PROGRAM
cc -std=c89 -Wall -Wextra -pedantic -Werror "$work/limited.c" $(pkg-config --cflags --libs glinpack) -o "$work/limited"
status=0
(ulimit -v 200000; LD_LIBRARY_PATH=${library%/*} OPENBLAS_NUM_THREADS=2 timeout 60 "$work/limited") || status=$?
[ $status = 6 ] || fail "with 200000 KiB of address space the status is $status, not 6, GLINPACK_OUT_OF_MEMORY"

# the lines of docs/library.md
sed -n '/^```c$/,/^```$/p' docs/library.md | grep -v '^```' >"$work/lines.c"
cc -std=c89 -Wall -Wextra -pedantic -Werror "$work/lines.c" $(pkg-config --cflags --libs glinpack) -o "$work/lines"
[ "$(LD_LIBRARY_PATH=${library%/*} "$work/lines")" = "0.1 0.6" ] || fail "the lines of docs/library.md print something else"
c++ -std=c++11 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c++ $(pkg-config --cflags glinpack) include/glinpack.h
for device in openblas software; do
  LD_LIBRARY_PATH=${library%/*} "$work/c89" $device 100 | tee "$work/output"
  grep -q "^A is 100 x 100" "$work/output" || fail "solve.c printed something else on $device"
done
# an error of the library is an exit code and a message of the program
LD_LIBRARY_PATH=${library%/*} "$work/c89" no-such-device 2>"$work/error" && fail "a device that does not exist was accepted"
grep -q "no device 'no-such-device'" "$work/error" || fail "the error text is missing: $(cat "$work/error")"

mkdir "$work/project"
cp examples/solve.c "$work/project"
cat >"$work/project/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.16)
project(solve C)
find_package(glinpack 0.1 REQUIRED)
add_executable(solve solve.c)
target_link_libraries(solve PRIVATE glinpack::glinpack)
PROJECT
{ "$cmake" -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$work/prefix" &&
  "$cmake" --build "$work/project/build"; } >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/project/build/solve" openblas 100

others=$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^glinpack_[a-z_]*@@GLINPACK_0\.1$' | grep -vx 'GLINPACK_0\.1' || true)
[ -z "$others" ] || fail "symbols that glinpack.h does not declare: $others"
for name in $(grep -o 'glinpack_[a-z_]* *(' include/glinpack.h | tr -d ' (' | grep -vx glinpack_matrix | sort -u); do
  nm -D --defined-only "$library" | grep -q " $name@@" || fail "$name is declared, but not in the library"
done
if ldd "$library" | grep -i mpi; then fail "the library is linked with MPI"; fi
